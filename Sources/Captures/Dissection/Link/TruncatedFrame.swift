import HCI
import HaloBluetoothCore
import L2CAP

/// An L2CAP frame of which the capture has only the beginning, as its packets were truncated (snap length). Headers
/// and opcodes are there, so that a response is found although its values are not.
struct TruncatedFrame {
  /// With the L2CAP header; the bytes that the capture has before the first missing one.
  private(set) var bytes: [UInt8] = []
  /// The number of bytes of the frame that were not sent yet, whether captured or not.
  private var remaining = 0
  private var fragments = 0
  /// Whether bytes are missing already: later ones have no place.
  private var isCut = false

  var isCollecting: Bool { remaining > 0 }

  /// Takes the packet that is truncated, or one that follows it.
  ///
  /// - Parameters:
  ///   - data: the bytes of the fragment that the capture has
  ///   - length: of the fragment, as in its header
  ///   - isStart: whether a frame begins
  /// - Returns: the layer of the frame that it completes, in ``bytes``
  mutating func receive(_ data: RawSpan, length: Int, isStart: Bool) -> L2CAPLayer? {
    if isStart {
      guard let low = data.byte(at: 0), let high = data.byte(at: 1), data.byteCount >= BasicHeader.length
      else {
        remaining = 0
        return nil
      }
      bytes = []
      remaining = Int(high) << 8 | Int(low)
      remaining += BasicHeader.length
      fragments = 0
      isCut = false
    }
    guard remaining > 0 else { return nil }
    fragments += 1
    if !isCut { bytes += Array(data) }
    if data.byteCount < length { isCut = true }
    remaining -= length
    guard remaining <= 0 else { return nil }
    remaining = 0
    let channel = ChannelID(rawValue: UInt16(bytes[3]) << 8 | UInt16(bytes[2]))
    return L2CAPLayer(channel: channel, range: 0..<bytes.count, fragments: fragments)
  }
}
