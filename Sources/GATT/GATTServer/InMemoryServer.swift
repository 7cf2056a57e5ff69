import ATT
import HaloBluetoothCore

/// A server whose bearer has no link: its PDUs are collected, and its owner runs the clock. For replays, which send answers at
/// times of their own, and for tests.
package final class InMemoryServer {
  /// The bearer, which has the MTU.
  package let bearer: ATTBearer
  /// The attributes as the client sees them.
  package let server: ServerBearer
  /// The time of the deadlines. Its owner advances it.
  package let timers: Timers

  private let out: Collected

  /// Whether notifications are sent at once, and do not wait. Call ``ServerBearer/roomAvailable()`` when there is room again.
  package var hasRoom: Bool {
    get { out.hasRoom }
    set { out.hasRoom = newValue }
  }

  private final class Collected {
    var pdus: [[UInt8]] = []
    var hasRoom = true
  }

  /// - Parameters:
  ///   - database: the attributes
  ///   - mtu: the largest PDU that the server takes, in bytes
  ///   - timers: the time of the deadlines
  package init(_ database: AttributeDatabase, mtu: Int = ATTBearer.largestMTU, timers: Timers = Timers()) {
    let out = Collected()
    self.out = out
    self.timers = timers
    bearer = ATTBearer(timers: timers, receiveMTU: mtu) { out.pdus.append(Array($0)) }
    server = ServerBearer(database, on: bearer, timers: timers) { out.hasRoom }
  }

  /// The bearer and its server hold each other until it ends.
  deinit {
    server.onEvent = nil
    bearer.close("not used any more")
  }

  /// The MTU in force, in bytes.
  package var mtu: Int { bearer.mtu }

  /// Hands in a PDU of the client.
  ///
  /// - Returns: the PDUs that the server has sent at once, in order
  @discardableResult
  package func receive(_ pdu: RawSpan) -> [[UInt8]] {
    out.pdus = []
    bearer.receive(pdu, at: Arrival(timers.now))
    return takeSent()
  }

  /// The PDUs that were sent since the last call of this function or ``receive(_:)``, in order.
  package func takeSent() -> [[UInt8]] {
    defer { out.pdus = [] }
    return out.pdus
  }
}
