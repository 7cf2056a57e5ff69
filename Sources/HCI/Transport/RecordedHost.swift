import BluetoothCore
import Capture

/// What a recording tells of the host that was recorded, before it is replayed.
public struct RecordedHost: Hashable, Sendable {
  /// The adapter whose packets are played, where the capture has adapters.
  public private(set) var adapter: UInt16?
  /// The address that it gave itself with LE Set Random Address, if it did.
  public private(set) var randomAddress: BluetoothAddress?
  /// When the capture begins, in microseconds since 1970-01-01 UTC; nil if its first record has no time.
  public private(set) var beginning: Int64?
  /// Whether its first command is Reset: a host of its own takes the controller over so. One beside the kernel finds
  /// it in use, and a capture may begin in the middle. Nil if it gives no command.
  public private(set) var beginsWithReset: Bool?
  /// Its commands that we don't give beside the kernel, each once.
  public private(set) var foreignCommands: [HCIOpcode] = []
  /// The number of the first packet with data of a link that was not made in the capture.
  public private(set) var strayData: Int?
  /// The numbers of its Resets.
  public private(set) var resets: [Int] = []
  /// The remarks; see ``CaptureNote``.
  public private(set) var notes: [String] = []

  /// Whether it was we who recorded it.
  public var isOurs: Bool { !notes.isEmpty }

  /// How much is read: the set-up is within the first commands, a link of the kernel's soon after.
  private static let mostRecords = 10_000

  /// - Throws: ``CaptureError`` if there is nothing to play
  init(path: String, _ options: ReplayTransport.Options) throws(CaptureError) {
    var reader = try CaptureReader(path: path, isReadAgain: true)
    adapter = options.adapter
    var others: Set<UInt16> = []
    var links: Set<UInt16> = []
    var count = 0
    var packets = 0
    while count < Self.mostRecords {
      let record: CaptureRecord
      do throws(CaptureError) {
        guard let next = try reader.next() else { break }
        record = next
      } catch {
        // Where the file is damaged further on, the replay will tell.
        if packets == 0 { throw error }
        break
      }
      if count == 0 { beginning = record.info.microseconds }
      count += 1
      guard case .hci(let direction) = record.info.content, let type = record.bytes.first else { continue }
      if adapter == nil { adapter = record.info.adapter }
      guard record.info.number >= options.first else { continue }
      guard record.info.adapter == adapter else {
        if let other = record.info.adapter { others.insert(other) }
        continue
      }
      guard direction != nil else { throw CaptureError(.noDirection(record.info.number), path: path) }
      if let text = CaptureNote.text(of: record.bytes) {
        notes.append(text)
        continue
      }
      packets += 1
      note(record, HCIPacketType(rawValue: type), &links)
    }
    if packets == 0 { throw CaptureError(.noPackets(of: adapter, others: others.sorted()), path: path) }
  }

  private mutating func note(_ record: CaptureRecord, _ type: HCIPacketType, _ links: inout Set<UInt16>) {
    let bytes = record.bytes.span.bytes
    let body = bytes.extracting(1..<bytes.byteCount)
    switch type {
    case .command: if let command = try? CommandPacket(body) { note(command, record.info.number) }
    case .event: if let link = Self.newLink(body) { links.insert(link) }
    case .acl:
      guard strayData == nil, let low = body.byte(at: 0), let high = body.byte(at: 1) else { return }
      if !links.contains(UInt16(low) | UInt16(high & 0x0F) << 8) { strayData = record.info.number }
    default: break
    }
  }

  private mutating func note(_ command: CommandPacket, _ number: Int) {
    let opcode = command.opcode
    if opcode == Reset.opcode { resets.append(number) }
    if beginsWithReset == nil { beginsWithReset = opcode == Reset.opcode }
    if randomAddress == nil, opcode == LESetRandomAddress.opcode {
      randomAddress = (try? command.decode(LESetRandomAddress.self))?.address
    }
    if !foreignCommands.contains(opcode), !RawController.opcodes.contains(opcode), opcode != Reset.opcode {
      foreignCommands.append(opcode)
    }
  }

  /// The connection handle, if the event tells of a connection: Connection Complete (Vol 4, Part E, 7.7.3), LE
  /// Connection Complete and LE Enhanced Connection Complete (7.7.65.1, 7.7.65.10).
  private static func newLink(_ event: RawSpan) -> UInt16? {
    let code = event.byte(at: 0)
    let subevent = event.byte(at: 2)
    let start: Int
    if code == 0x03 {
      start = 3
    } else if code == 0x3E, subevent == 0x01 || subevent == 0x0A || subevent == 0x29 {
      start = 4
    } else {
      return nil
    }
    guard let low = event.byte(at: start), let high = event.byte(at: start + 1) else { return nil }
    return UInt16(low) | UInt16(high & 0x0F) << 8
  }
}
