import HaloBluetoothCore

/// A set of data channels: 37 bits, one for each channel index (Core Specification Vol 6, Part B, 1.4.1).
package struct ChannelMap: FieldValue, Hashable {
  /// Channel index 0 is the lowest bit.
  package var bits: UInt64 = 0

  package init() {}

  package init(parsing reader: inout ByteReader) throws(DecodeError) {
    self.init(try reader.readBytes(5))
  }

  package func write(into writer: inout ByteWriter) {
    writer.write(bytes)
  }

  package var fieldNumber: UInt64? { bits }

  /// `24 channels: 0 to 8, 21 to 35`.
  package var description: String {
    let channels = (0..<37).filter { bits >> UInt64($0) & 1 == 1 }
    var ranges: [(first: Int, last: Int)] = []
    for channel in channels {
      if let last = ranges.last, last.last == channel - 1 {
        ranges[ranges.count - 1].last = channel
      } else {
        ranges.append((channel, channel))
      }
    }
    let words = ranges.map { $0.first == $0.last ? "\($0.first)" : "\($0.first) to \($0.last)" }
    return "\(channels.count) channels: " + (words.isEmpty ? "none" : words.joined(separator: ", "))
  }

  /// Takes up to five bytes, the first of which has the channels from 0 to 7.
  init(_ bytes: [UInt8]) {
    for byte in bytes.prefix(5).reversed() { bits = bits << 8 | UInt64(byte) }
  }

  /// The five bytes.
  var bytes: [UInt8] { (0..<5).map { UInt8(truncatingIfNeeded: bits >> UInt64(8 * $0)) } }
}
