import BluetoothCore

/// What a format's reader finds at the start of the given bytes.
enum CaptureStep {
  /// A record is incomplete. At most ``maximumBlockLength`` bytes have to be in the buffer.
  case needsMore
  /// The given number of bytes is not a record. It may exceed the available bytes.
  case skip(Int)
  /// The given number of bytes is a record without a packet, which only counts.
  case countOnly(Int)
  case record(FoundRecord)
}

/// A record as found by a format's reader; all positions are relative to its first byte.
struct FoundRecord {
  var microseconds: Int64?
  var adapter: UInt16?
  var content: CaptureContent
  /// The start of the packet bytes, all of which are available.
  var start: Int
  var length: Int
  /// The number of bytes before truncation.
  var originalLength: Int
  /// The H4 type byte, if the file has none. It is stored in the byte before `start`, which belongs to the record
  /// header, so that the packet is contiguous.
  var typeByte: UInt8?
  /// The length of the complete record in the file; it may exceed the available bytes.
  var recordLength: Int

  init(
    _ content: CaptureContent, microseconds: Int64?, start: Int, length: Int, originalLength: Int,
    recordLength: Int
  ) {
    self.content = content
    self.microseconds = microseconds
    self.start = start
    self.length = length
    self.originalLength = originalLength
    self.recordLength = recordLength
  }

  /// Makes it an HCI packet whose type byte is not in the file.
  mutating func setPacket(_ type: HCIPacketType, _ direction: CaptureDirection) {
    content = .hci(direction)
    typeByte = type.rawValue
  }

  /// Makes it a record of the Linux monitor.
  mutating func setMonitor(_ opcode: MonitorOpcode, adapter index: UInt16) {
    if let packet = opcode.packet {
      setPacket(packet.type, packet.direction)
    } else {
      content = .monitor(opcode)
    }
    adapter = index == MonitorOpcode.noAdapter ? nil : index
  }
}

/// The length limit of all formats. HCI packets have at most 64 KiB of data; a much greater length means that the file
/// is damaged (Wireshark uses the same limit).
let maximumCapturedLength = 262_144

/// The maximum number of bytes that have to be in the buffer: a record of the largest size with its surroundings.
let maximumBlockLength = 2 * maximumCapturedLength

/// Throws if the lengths are invalid.
func checkLengths(included: Int, original: Int) throws(CaptureError) {
  guard included <= maximumCapturedLength else { throw CaptureError(.recordTooLarge(included)) }
  guard included <= original else {
    throw CaptureError(.recordLongerThanPacket(included: included, original: original))
  }
}
