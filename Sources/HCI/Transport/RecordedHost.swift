import BluetoothCore
import Capture

/// What a recording tells of the host that was recorded, before it is replayed.
struct RecordedHost: Hashable {
  /// The address that it gave itself with LE Set Random Address, if it did.
  var randomAddress: BluetoothAddress?
  /// Commands that are not ours, if the recording was made beside the kernel; else nil. A host of its own begins with
  /// Reset, as it takes the controller over. One beside the kernel finds it in use.
  var kernelCommands: [HCIOpcode]?

  /// The remarks; see ``CaptureNote``.
  var notes: [String] = []

  /// How much is read: the set-up is within the first commands, a link of the kernel's soon behind.
  private static let mostRecords = 10_000

  init(path: String) throws(CaptureError) {
    var reader = try CaptureReader(path: path)
    var isFirst = true
    var count = 0
    while count < Self.mostRecords, let record = try reader.next() {
      count += 1
      if let text = CaptureNote.text(of: record.bytes) { notes.append(text) }
      guard let opcode = note(record.bytes) else { continue }
      if isFirst, opcode != Reset.opcode { kernelCommands = [] }
      isFirst = false
      if let known = kernelCommands, !known.contains(opcode), !RawController.opcodes.contains(opcode) {
        kernelCommands?.append(opcode)
      }
    }
  }

  /// - Returns: the opcode, if it is a command
  private mutating func note(_ packet: [UInt8]) -> HCIOpcode? {
    let bytes = packet.span.bytes
    guard bytes.byte(at: 0) == HCIPacketType.command.rawValue,
      let command = try? CommandPacket(bytes.extracting(1..<bytes.byteCount))
    else { return nil }
    if randomAddress == nil, command.opcode == LESetRandomAddress.opcode {
      randomAddress = (try? command.decode(LESetRandomAddress.self))?.address
    }
    return command.opcode
  }
}
