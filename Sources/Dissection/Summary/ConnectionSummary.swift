import BluetoothCore
import HCI

/// The summary of one link.
public struct ConnectionSummary: Hashable, Sendable {
  static let changeCapacity = 64

  /// The parameters from a time on.
  public struct Change: Hashable, Sendable {
    public var microseconds: Int64?
    /// As text: `interval 30 ms, latency 0, timeout 720 ms`.
    public var words: String
  }

  public var adapter: UInt16
  public var handle: ConnectionHandle
  /// Nil if the capture begins in the middle of the link.
  public var peer: BluetoothAddress?
  public var role: LERole?
  public var start: Int64?
  public var end: Int64?
  /// Why it ended; nil if the capture ends first.
  public var reason: HCIErrorCode?
  /// In order; the last ones are missing if there were too many.
  public internal(set) var changes: [Change] = []
  public var mtu: UInt16?
  public var sentPDUs = 0
  public var receivedPDUs = 0

  mutating func add(_ words: String, at microseconds: Int64?) {
    if changes.count < Self.changeCapacity {
      changes.append(Change(microseconds: microseconds, words: words))
    }
  }
}
