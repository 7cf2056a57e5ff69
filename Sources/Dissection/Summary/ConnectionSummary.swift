import BluetoothCore
import HCI

/// The summary of one link.
public struct ConnectionSummary: Hashable, Sendable {
  static let changeCapacity = 64

  /// The parameters from a time on.
  public struct Change: Hashable, Sendable {
    /// Microseconds since 1970-01-01 UTC; nil if the packet has no timestamp.
    public var microseconds: Int64?
    /// As text: `interval 30 ms, latency 0, timeout 720 ms`.
    public var words: String
  }

  /// The index of the adapter: 0 is hci0.
  public var adapter: UInt16
  public var handle: ConnectionHandle
  /// Nil if the capture begins in the middle of the link.
  public var peer: BluetoothAddress?
  public var role: LERole?
  /// The time of the first packet of the link, in microseconds since 1970-01-01 UTC; nil if it has no timestamp.
  public var start: Int64?
  /// Microseconds since 1970-01-01 UTC; nil if the capture ends first.
  public var end: Int64?
  /// Why it ended; nil if the capture ends first.
  public var reason: HCIErrorCode?
  /// In order; the last ones are missing if there were too many.
  public internal(set) var changes: [Change] = []
  /// The ATT_MTU in force, in bytes; nil if it was not exchanged.
  public var mtu: UInt16?
  /// The number of ATT PDUs from the host.
  public var sentPDUs = 0
  /// The number of ATT PDUs to the host.
  public var receivedPDUs = 0

  mutating func add(_ words: String, at microseconds: Int64?) {
    if changes.count < Self.changeCapacity {
      changes.append(Change(microseconds: microseconds, words: words))
    }
  }
}
