import HaloBluetoothCore

/// A connection to a controller that carries complete HCI packets, each preceded by its H4 type byte: a byte stream,
/// the built-in virtual controller, a recording, a kernel socket.
@BluetoothActor
package protocol HCITransport: AnyObject {
  /// Called for each packet from the controller, with the time at which it was received; set it before ``start()``. The
  /// span is valid only during the call. Not called from within ``send(_:)``.
  var onPacket: ((RawSpan, Arrival) -> Void)? { get set }
  /// Called once when the transport has failed, with the reason; not after ``close()``.
  var onClose: ((String) -> Void)? { get set }

  /// The time in which packets arrive.
  var timers: Timers { get }
  /// The number of packets lost because this machine did not read them in time; nil if that can't happen or is unknown.
  var droppedPackets: Int? { get }
  /// The number of bytes that belonged to no packet, as others were lost or changed; nil if the transport carries whole packets.
  var skippedBytes: Int? { get }
  /// Called after such bytes, with their number, and when they were read.
  var onSkippedBytes: ((Int, Instant) -> Void)? { get set }
  /// The procedures to request of links, where a program makes no choice; nil for ``LinkPreferences/standard``.
  var linkPreferences: LinkPreferences? { get }
  /// Whether an idle controller is asked for its links and its advertising: a recording has only the answers to its host's
  /// questions.
  var watchesState: Bool { get }
  /// The display name: `hci0`, `tcp:localhost:9105`.
  var name: String { get }

  /// Whether ``reopen(within:)`` can open it again.
  var canReopen: Bool { get }

  /// Starts to deliver packets.
  func start()
  /// Sends a packet to the controller. If it can't be sent, ``onClose`` reports it.
  func send(_ packet: RawSpan)
  /// Closes the transport, if it is open, and opens it again. Call ``start()`` afterwards. Cancelling the task ends the
  /// wait, but does not cut short the closing, which takes two seconds at most.
  ///
  /// - Parameter time: how long to wait for it
  /// - Throws: the reason why it can't be opened yet; `StackError.notReady` if not ``canReopen``
  func reopen(within time: Duration) async throws(StackError)
  /// Closes the transport.
  func close()
  /// Waits until ``close()`` has completed, within the driver's deadlines: 2 s to close, 20 s to give an adapter back.
  /// Cancelling the task does not end the wait, as an adapter that is not given back stays down.
  func finishClosing() async
}

extension HCITransport {
  package var droppedPackets: Int? { nil }
  package var skippedBytes: Int? { nil }
  package var onSkippedBytes: ((Int, Instant) -> Void)? {
    get { nil }
    set {}
  }
  package var linkPreferences: LinkPreferences? { nil }
  package var watchesState: Bool { true }
  package var name: String { "the controller" }
  package var canReopen: Bool { false }
  package func reopen(within time: Duration) async throws(StackError) { throw .notReady }
  package func finishClosing() async {}
}

/// A transport over another one. Calls that it does not define are passed on to that.
@BluetoothActor
package protocol HCITransportLayer: HCITransport {
  /// Carries the packets.
  var transport: any HCITransport { get }
}

extension HCITransportLayer {
  package var onPacket: ((RawSpan, Arrival) -> Void)? {
    get { transport.onPacket }
    set { transport.onPacket = newValue }
  }
  package var onClose: ((String) -> Void)? {
    get { transport.onClose }
    set { transport.onClose = newValue }
  }
  package var timers: Timers { transport.timers }
  package var droppedPackets: Int? { transport.droppedPackets }
  package var skippedBytes: Int? { transport.skippedBytes }
  package var onSkippedBytes: ((Int, Instant) -> Void)? {
    get { transport.onSkippedBytes }
    set { transport.onSkippedBytes = newValue }
  }
  package var linkPreferences: LinkPreferences? { transport.linkPreferences }
  package var watchesState: Bool { transport.watchesState }
  package var name: String { transport.name }
  package var canReopen: Bool { transport.canReopen }
  package func start() { transport.start() }
  package func send(_ packet: RawSpan) { transport.send(packet) }
  package func reopen(within time: Duration) async throws(StackError) {
    try await transport.reopen(within: time)
  }
  package func close() { transport.close() }
  package func finishClosing() async { await transport.finishClosing() }
}
