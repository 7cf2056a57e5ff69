import BluetoothCore
import EventLoop

/// A way to a controller that carries whole HCI packets, each with its H4 type byte: a byte stream, the built-in
/// virtual controller, a recording, a kernel socket.
@BluetoothActor
public protocol HCITransport: AnyObject {
  /// Called for each packet from the controller, with the time at which it was received; set before ``start()``. The
  /// span is valid only during the call. It is never called from within ``send(_:)``.
  var onPacket: ((RawSpan, Instant) -> Void)? { get set }
  /// Called once when the controller can't be reached any more, with the reason; not after ``close()``.
  var onClose: ((String) -> Void)? { get set }

  /// How many packets this machine has lost on their way, because they were not read in time; nil where that can't
  /// happen, or can't be told.
  var droppedPackets: Int? { get }
  /// What a person calls it: `hci0`, `tcp:localhost:9105`.
  var name: String { get }

  /// Begins to deliver packets.
  func start()
  /// Takes a packet for the controller. A packet that can't be sent is reported through ``onClose``.
  func send(_ packet: RawSpan)
  /// Closes the way to the controller, if it is open, and opens it again. ``start()`` is called after that.
  ///
  /// - Throws: why it can't be opened yet; ``HCIError/notReady`` for a way that can't be opened twice
  func reopen(within time: Duration) async throws(HCIError)
  /// Gives the controller up.
  func close()
  /// Waits until all that ``close()`` has begun is done.
  func finishClosing() async
}

extension HCITransport {
  public var droppedPackets: Int? { nil }
  public var name: String { "the controller" }
  public func reopen(within time: Duration) async throws(HCIError) { throw .notReady }
  public func finishClosing() async {}
}

/// Why a transport can't be opened.
public struct TransportError: Error, Hashable, Sendable, CustomStringConvertible {
  /// What was to be opened, as the user wrote it: `tcp:localhost:9105`.
  public var target: String
  /// What failed, in words.
  public var reason: String

  public init(_ target: String, _ reason: String) {
    self.target = target
    self.reason = reason
  }

  public var description: String { "cannot open \(target): \(reason)" }
}
