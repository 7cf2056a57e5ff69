import BluetoothCore

/// What a format's reader finds at the front of the bytes that it is given.
enum CaptureStep {
  /// A record is not all there. What must be there together is at most ``maximumBlockLength`` long.
  case needsMore
  /// So many bytes are no record. They may reach beyond what was given.
  case skip(Int)
  /// So many bytes are a record that is about no packet: it only counts.
  case countOnly(Int)
  case record(FoundRecord)
}

/// A record, as a format's reader finds it; all positions count from its first byte.
struct FoundRecord {
  var microseconds: Int64?
  var adapter: UInt16?
  var content: CaptureContent
  /// Where the bytes begin. All of them are there.
  var start: Int
  var length: Int
  /// How many bytes there were before the capture cut them.
  var originalLength: Int
  /// The H4 type byte, where the file has none. It is put into the byte before `start`, which belongs to the
  /// record's header: so the packet is whole where it lies.
  var typeByte: UInt8?
  /// The length of the whole record in the file; it may reach beyond what was given.
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

/// The limit of all formats. HCI packets have at most 64 KiB of data; what claims to be several times larger is
/// damage (Wireshark draws the line at the same place).
let maximumCapturedLength = 262_144

/// What must be in the buffer together, at most: a record of the largest size, with what surrounds it.
let maximumBlockLength = 2 * maximumCapturedLength

/// Refuses lengths that no record has.
func checkLengths(included: Int, original: Int) throws(CaptureError) {
  guard included <= maximumCapturedLength else { throw CaptureError(.recordTooLarge(included)) }
  guard included <= original else {
    throw CaptureError(.recordLongerThanPacket(included: included, original: original))
  }
}
