import Capture

/// What is known of a packet besides its bytes.
public struct PacketContext: Hashable, Sendable {
  /// Counted from 1, as Wireshark counts.
  public var number: Int
  /// Microseconds since 1970-01-01 UTC; nil if nobody knows.
  public var microseconds: Int64?
  /// Nil if nobody knows. Commands and events need none, as they only go one way.
  public var direction: CaptureDirection?
  /// The adapter's index: each has links of its own.
  public var adapter: UInt16

  public init(number: Int, microseconds: Int64?, direction: CaptureDirection?, adapter: UInt16 = 0) {
    self.number = number
    self.microseconds = microseconds
    self.direction = direction
    self.adapter = adapter
  }
}

/// An earlier packet that one belongs to: the command of an event, the request of a response.
public struct PacketReference: Hashable, Sendable {
  public var number: Int
  /// From it to this packet; nil if one of them has no time. Negative if time went back.
  public var microseconds: Int64?

  init(_ earlier: PacketContext, to later: PacketContext) {
    number = earlier.number
    if let start = earlier.microseconds, let end = later.microseconds { microseconds = end &- start }
  }
}

extension PacketReference {
  /// `after 12.345 ms (packet 7)`.
  var words: String {
    guard let microseconds else { return "packet \(number)" }
    let magnitude = microseconds.magnitude
    let decimals = String(1000 + magnitude % 1000).dropFirst()
    return "after \(microseconds < 0 ? "-" : "")\(magnitude / 1000).\(decimals) ms (packet \(number))"
  }
}
