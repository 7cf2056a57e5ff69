import ATT
import HaloBluetoothCore

/// A server whose bearer is not that of a link: what it sends is collected, and its owner has the time. For replays,
/// which send answers when it suits them, and for tests.
package final class InMemoryServer {
  /// The bearer, which has the MTU.
  package let bearer: ATTBearer
  /// What the client sees of the attributes.
  package let server: ServerBearer
  /// The time of the deadlines. Its owner advances it.
  package let timers: Timers

  private let out: Collected

  /// Whether notifications are sent at once, and do not wait. Say ``ServerBearer/roomAvailable()`` when there is room again.
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
  /// - Returns: what the server has sent at once, in order
  @discardableResult
  package func receive(_ pdu: RawSpan) -> [[UInt8]] {
    out.pdus = []
    bearer.receive(pdu, at: Arrival(timers.now))
    return takeSent()
  }

  /// What was sent since the last call of this function or ``receive(_:)``, in order.
  package func takeSent() -> [[UInt8]] {
    defer { out.pdus = [] }
    return out.pdus
  }
}
