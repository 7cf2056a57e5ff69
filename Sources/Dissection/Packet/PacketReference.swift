import Capture

/// An earlier packet that one belongs to: the command of an event, the request of a response.
public struct PacketReference: Hashable, Sendable {
  /// As in the capture, counted from 1.
  public var number: Int
  /// From it to this packet; nil if one of them has no time. Negative if the capture's time went back.
  public var microseconds: Int64?

  init(_ earlier: Moment, to later: Moment) {
    number = earlier.number
    if let start = earlier.microseconds, let end = later.microseconds { microseconds = end &- start }
  }

  /// `after 12.345 ms (packet 7)`.
  var words: String {
    guard let microseconds else { return "packet \(number)" }
    let magnitude = microseconds.magnitude
    let decimals = String(1000 + magnitude % 1000).dropFirst()
    return "after \(microseconds < 0 ? "-" : "")\(magnitude / 1000).\(decimals) ms (packet \(number))"
  }
}

/// The packet's number and time.
struct Moment: Hashable {
  var number: Int
  var microseconds: Int64?

  init(_ info: CaptureRecordInfo) {
    number = info.number
    microseconds = info.microseconds
  }
}
