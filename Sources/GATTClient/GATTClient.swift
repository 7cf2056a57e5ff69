import ATT
import BluetoothCore
import HCI
import HaloGATT

/// The GATT client of a connected peripheral: discovery, values, subscriptions (Core Specification Vol 3, Part G).
///
/// An `async` function returns at once when its task is cancelled, unless it says otherwise. Each of its requests is
/// answered within 30 s, or the link is ended (Vol 3, Part F, 3.3.3).
@BluetoothActor
public final class GATTClient {
  /// The address of the peripheral.
  public let peer: BluetoothAddress
  /// Called with a description of a change of the link, for the user.
  public var onLinkEvent: ((LinkEvent) -> Void)? {
    get { link.onEvent }
    set { link.onEvent = newValue }
  }
  /// Called when the server indicates that its attributes have changed. Attributes discovered in that range are no
  /// longer used: operations on them fail with ``GATTError/servicesChanged`` until they are discovered again.
  /// Subscriptions in it move with their characteristics, or end with a reason.
  public var onServicesChanged: ((HandleRange) -> Void)?
  /// Called when a subscription has moved, with its new handles.
  public var onSubscriptionMoved: ((Subscription) -> Void)?
  /// Whether to subscribe to Service Changed. For a program that polls, this happens only if it subscribes to a value
  /// or sets ``onServicesChanged``. Set this to false, before discovering anything, for peers that must not get these
  /// requests.
  public var watchesServiceChanges = true
  /// Called when there is room again for writes without response, after there was none.
  public var onReadyToSendWriteWithoutResponse: (() -> Void)?

  /// Checks each value before it is written, from any caller and with any procedure; returns the reason if it must not
  /// be written. The write then fails with `ATTError.forbidden(_:)`. The offset is nil unless the value is a part
  /// of a longer one.
  public var writeGuard: ((_ handle: AttributeHandle, _ value: [UInt8], _ offset: Int?) -> String?)? {
    get { bearer.writeGuard }
    set { bearer.writeGuard = newValue }
  }

  /// The time of the link.
  public let timers: Timers
  let link: any ATTLink
  let bearer: ATTBearer
  let procedures: ProcedureQueue
  let subscriptions = Subscriptions()
  /// Names this client among all of the process.
  let id: UInt64
  var active: [UInt64: ActiveSubscription] = [:]
  var descriptors: [AttributeHandle: [Descriptor]] = [:]
  var trust = HandleTrust()
  var places = AttributePlaces()
  /// Whether the program keeps handles, so that it matters when they change.
  private(set) var keepsHandles = false
  /// Whether the program has made other requests since it last discovered attributes or subscribed, as a program that
  /// polls does.
  private(set) var polls = false
  var serviceChangedTimer: Timers.Token?
  var isWatchingServiceChanges = false
  /// Called when the server has not answered a request that no program has made.
  public var onSilence: (() -> Void)?
  var displaced = DisplacedSubscriptions()
  var isMoving = false
  var moveCount = 0
  var waitingWrites = WaitingWrites()
  private static var count: UInt64 = 0
  private var isEnding = false
  private static let provingDeadline = Duration.seconds(2)
  /// Why the link has ended; nil while it exists.
  public private(set) var loss: LinkLoss?
  /// What was requested and not done when the link was lost; nil if nothing was, or the link exists.
  public private(set) var unfinished: LinkProcedure?
  private var idleHandlers: [() -> Void] = []
  private var disconnectionHandlers: [(LinkLoss) -> Void] = []

  /// A client on a link that is established.
  ///
  /// - Parameters:
  ///   - link: the link
  ///   - timers: the clock of its deadlines
  ///   - mtu: the largest PDU to receive, in bytes; nil if the MTU is not to be exchanged
  public init(_ link: any ATTLink, timers: Timers, mtu: Int? = ATTBearer.largestMTU) {
    self.link = link
    self.timers = timers
    peer = link.peer
    id = Self.count
    Self.count += 1
    // The link holds the bearer, and the client holds both.
    let bearer = ATTBearer(
      timers: timers, receiveMTU: mtu ?? ATTBearer.largestMTU, exchangesMTU: mtu != nil
    ) { [weak link] in link?.send($0) }
    self.bearer = bearer
    procedures = ProcedureQueue(bearer)
    let subscriptions = self.subscriptions
    bearer.onNotification = { subscriptions.deliver($0, $1, at: $2) }
    bearer.onIndication = { subscriptions.deliver($0, $1, at: $2) }
    bearer.reads = { [weak link] in link?.reads }
    bearer.onTimeout = { [weak link] _ in link?.disconnect() }
    link.onPDU = { bearer.receive($0, at: $1) }
    link.onClosed = { [weak self] loss in self?.closed(loss) }
    link.onRoom = { [weak self] in self?.sendWaitingWrites() }
    procedures.onIdle = { [weak self] in
      guard let self else { return }
      let handlers = idleHandlers
      idleHandlers = []
      for handler in handlers { handler() }
      watchServiceChangesSoon()
    }
  }

  /// A link that is no longer used is ended: a peer that stays connected does not advertise.
  isolated deinit {
    if loss == nil { link.disconnect() }
  }

  private func closed(_ loss: LinkLoss) {
    self.loss = loss
    unfinished = bearer.isExchangingMTU ? .exchangeMTU : link.unfinished
    timers.cancel(serviceChangedTimer)
    bearer.close(loss.description)
    subscriptions.removeAll()
    displaced = DisplacedSubscriptions()
    let error = BluetoothError.gatt(.att(.closed(loss.description)))
    failWaitingWrites(error)
    for id in active.keys.sorted() { end(id, error) }
    let handlers = disconnectionHandlers
    disconnectionHandlers = []
    for handler in handlers { handler(loss) }
  }

  // MARK: The link

  /// Whether the link exists.
  public var isConnected: Bool { loss == nil }

  /// The largest PDU that both ends take, in bytes.
  public var mtu: Int { bearer.mtu }

  /// The connection parameters; nil if unknown.
  public var parameters: LinkParameters? { link.parameters }

  /// The most bytes that ``writeWithoutResponse(_:to:)-(_,AttributeHandle)`` takes.
  public var maximumWriteWithoutResponse: Int { bearer.mtu - 3 }

  /// The number of the peer's connection parameter requests that were rejected because there were too many.
  public var excessParameterRequests: Int { link.excessParameterRequests }

  /// The signal strength in dBm; nil if it is not available.
  public func readRSSI() async throws(BluetoothError) -> Int8? {
    try await wrappingHCIError(await link.readRSSI())
  }

  /// Ends the link and returns when it has ended: after a few seconds at the latest, if the controller does not report
  /// it. Cancelling the task does not cancel this, as a peer that stays connected does not advertise.
  public func disconnect() async {
    guard loss == nil else { return }
    end()
    await withCheckedContinuation { continuation in
      whenDisconnected { _ in continuation.resume() }
    }
  }

  /// Ends the link, without waiting for its end. What was written without response is sent before, for two seconds at most:
  /// see ``hasUnsentWrites``.
  public func end() {
    guard loss == nil, !isEnding else { return }
    isEnding = true
    guard link.dropsPacketsAtEnd, bearer.hasUnprovedCommands else { return link.disconnect() }
    let link = self.link
    let disconnect = OneShot { link.disconnect() }
    disconnect.expire(after: Self.provingDeadline, in: timers, with: ())
    // The answer, whatever it is, comes after what was sent before.
    bearer.request(.readRequest(AttributeHandle(1)), isExpendable: true) { _ in disconnect(()) }
  }

  /// Whether values that were written without response may not have been sent when the link was ended.
  public var hasUnsentWrites: Bool {
    link.hasUnsentPackets || link.dropsPacketsAtEnd && bearer.hasUnprovedCommands
  }

  /// Calls `handler` once, when the link has ended; at once if it already has. All open operations have failed by then.
  public func whenDisconnected(_ handler: @escaping (LinkLoss) -> Void) {
    if let loss { handler(loss) } else { disconnectionHandlers.append(handler) }
  }

  /// Waits until the link has ended, and returns why. It has no deadline, as a link may last for ever.
  ///
  /// - Throws: when the task is cancelled before that
  public func disconnection() async throws(CancellationError) -> LinkLoss {
    try await awaitCallback(cancelled: CancellationError()) { done in
      whenDisconnected { done(.success($0)) }
    }
  }

  /// Whether no procedure runs or waits.
  public var isIdle: Bool { procedures.isIdle }

  /// Calls `handler` once, when no procedure runs or waits any more; also when the link is gone.
  public func whenIdle(_ handler: @escaping () -> Void) {
    if isIdle { handler() } else { idleHandlers.append(handler) }
  }

  /// Exchanges the MTU, the maximum size of PDUs. Worth a round trip before any other request. It is exchanged once per
  /// link: further calls return the same result.
  ///
  /// - Returns: the MTU in force
  @discardableResult
  public func exchangeMTU() async throws(BluetoothError) -> Int {
    try await awaitCallback(cancelled: BluetoothError.gatt(.cancelled)) { done in
      exchangeMTU(completion: done)
    }
  }

  /// The same for callers that do not wait.
  public func exchangeMTU(completion: @escaping (Result<Int, BluetoothError>) -> Void) {
    bearer.exchangeMTU { completion($0.mapError { .gatt(.att($0)) }) }
  }

  // MARK: Procedures

  /// Runs a procedure. A cancelled task returns at once; a procedure that has begun ends with the response to its open
  /// request, as a request cannot be withdrawn.
  public func run<Procedure: GATTProcedure>(
    _ make: @escaping () -> Procedure
  ) async throws(BluetoothError) -> Procedure.Output {
    try await awaitCallback { (done: @escaping (Result<Procedure.Output, BluetoothError>) -> Void) in
      run(make, completion: done)
    }
  }

  /// The same for callers that do not wait. Completions and values are called in the order of the wire: a response that
  /// precedes a notification completes its procedure before the sink gets the value.
  ///
  /// - Returns: a closure that cancels the procedure, which calls `completion` with ``GATTError/cancelled`` then
  @discardableResult
  public func run<Procedure: GATTProcedure>(
    _ make: @escaping () -> Procedure,
    completion: @escaping (Result<Procedure.Output, BluetoothError>) -> Void
  ) -> () -> Void {
    polls = true
    let done = OneShot(completion)
    let token = procedures.run(make) { done($0.mapError { .gatt($0) }) }
    return { [procedures] in
      procedures.cancel(token)
      done(.failure(.gatt(.cancelled)))
    }
  }

  /// The program has handles now, and may keep them. The requests until now were for its setup, and do not count as
  /// polling.
  package func keepHandles() {
    keepsHandles = true
    polls = false
    if isIdle { watchServiceChangesSoon() }
  }
}
