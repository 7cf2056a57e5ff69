import ATT
import HaloBluetoothCore

/// The client of a peer's attributes, on the ATT bearer of a link: discovery, values, subscriptions (Core Specification
/// Vol 3, Part G).
///
/// An `async` function returns at once when its task is cancelled, unless it says otherwise. Each of its requests is
/// answered within 30 s, or the bearer is closed (Vol 3, Part F, 3.3.3).
@BluetoothActor
package final class GATTClient {
  /// Called when the server indicates that its attributes have changed; see ``whenServicesChanged(_:)``.
  package private(set) var servicesChangedHandlers: [(HandleRange) -> Void] = []
  /// Called when a subscription has moved, with its new handles.
  package var onSubscriptionMoved: ((Subscription) -> Void)?
  /// Whether `watchServiceChanges()` has an effect: not for peers that must not get its requests.
  package var watchesServiceChanges = true

  /// Checks all writes, of any caller and with any procedure; nil to allow all.
  package var writePolicy: WritePolicy? {
    get { procedures.writePolicy }
    set { procedures.writePolicy = newValue }
  }

  /// Raises the security of the link after a refusal for the lack of it; see `ProcedureQueue.onInsufficientSecurity`.
  package var onInsufficientSecurity: ((ATTErrorCode, @escaping (Result<Void, StackError>) -> Void) -> Void)?
  {
    get { procedures.onInsufficientSecurity }
    set { procedures.onInsufficientSecurity = newValue }
  }

  /// Signs the writes that need it; nil where nothing can be signed.
  package var signer: CommandSigner?

  /// The time of the link.
  package let timers: Timers
  let bearer: ATTBearer
  let procedures: ProcedureQueue
  let subscriptions = Subscriptions()
  /// Names this client among all of the process.
  let id: UInt64
  var active: [UInt64: ActiveSubscription] = [:]
  var descriptors: [AttributeHandle: [Descriptor]] = [:]
  var validity = HandleValidity()
  var locator = CharacteristicLocator()
  /// How far the subscription to Service Changed is.
  var watch = ServiceChangedWatch.none
  /// Called when the server has not answered a request that no program has made.
  package var onSilence: (() -> Void)?
  var resubscriptions = PendingResubscriptions()
  var isMoving = false
  var moveCount = 0
  private static var count: UInt64 = 0
  private(set) var isOpen = true
  private var idleHandlers: [() -> Void] = []

  /// A client on the bearer of a link that is established.
  ///
  /// - Parameters:
  ///   - bearer: sends requests, and gets the PDUs of the peer
  ///   - timers: the clock of its deadlines
  ///   - hasRoom: whether the link has room for a write without response. Call ``roomAvailable()`` when there is room again.
  package init(_ bearer: ATTBearer, timers: Timers, hasRoom: @escaping () -> Bool = { true }) {
    self.bearer = bearer
    self.timers = timers
    id = Self.count
    Self.count += 1
    procedures = ProcedureQueue(bearer) { bearer.isClosed || hasRoom() }
    let subscriptions = self.subscriptions
    bearer.onNotification = { subscriptions.deliver($0, $1, at: $2) }
    bearer.onIndication = { subscriptions.deliver($0, $1, at: $2) }
    procedures.onIdle = { [weak self] in
      guard let self else { return }
      let handlers = idleHandlers
      idleHandlers = []
      for handler in handlers { handler() }
    }
  }

  /// Fails all that is open, as the link has ended, and closes the bearer.
  ///
  /// - Parameter reason: why, for the errors
  package func close(_ reason: String) {
    guard isOpen else { return }
    isOpen = false
    bearer.close(reason)
    subscriptions.removeAll()
    resubscriptions = PendingResubscriptions()
    let error = StackError.closed(reason)
    procedures.advance()
    for id in active.keys.sorted() { end(id, error) }
  }

  /// The link has room again: writes without response that wait are sent.
  package func roomAvailable() { procedures.advance() }

  /// Calls `handler` each time the server indicates that its attributes have changed, which it does after
  /// `watchServiceChanges()`, for as long as the link lasts. Attributes
  /// discovered in that range are no longer used: operations on them fail with `StackError.servicesChanged` until they are
  /// discovered again. Subscriptions in it move with their characteristics, or end with a reason.
  package func whenServicesChanged(_ handler: @escaping (HandleRange) -> Void) {
    servicesChangedHandlers.append(handler)
  }

  /// Whether the server has sent a value that was subscribed to.
  package var hasReceivedValues: Bool { subscriptions.hasDelivered }

  // MARK: The bearer

  /// The largest PDU that both ends take, in bytes.
  package var mtu: Int { bearer.mtu }

  /// Whether no procedure runs or waits.
  package var isIdle: Bool { procedures.isIdle }

  /// Calls `handler` once, when no procedure runs or waits any more; also when the link is gone.
  package func whenIdle(_ handler: @escaping () -> Void) {
    if isIdle { handler() } else { idleHandlers.append(handler) }
  }

  /// Exchanges the MTU, the maximum size of PDUs. Worth a round trip before any other request. It is exchanged once per
  /// link: further calls return the same result.
  ///
  /// - Returns: the MTU in force
  @discardableResult
  package func exchangeMTU() async throws(StackError) -> Int {
    try await awaitCallback(cancelled: StackError.cancelled) { exchangeMTU(completion: $0) }
  }

  /// The same for callers that do not wait.
  package func exchangeMTU(completion: @escaping (Result<Int, StackError>) -> Void) {
    bearer.exchangeMTU { [procedures] result in
      completion(result)
      procedures.advance()
    }
  }

  // MARK: Procedures

  /// Runs a procedure. A cancelled task returns at once; a procedure that has begun ends with the response to its open
  /// request, as a request cannot be withdrawn.
  package func run<Procedure: GATTProcedure>(
    _ make: @escaping () -> Procedure
  ) async throws(StackError) -> Procedure.Output {
    try await awaitCallback { run(make, completion: $0) }
  }

  /// The same for callers that do not wait. Completions and values are called in the order of the wire: a response that
  /// precedes a notification completes its procedure before the sink gets the value.
  ///
  /// - Returns: a closure that cancels the procedure, which calls `completion` with `StackError.cancelled` then
  @discardableResult
  package func run<Procedure: GATTProcedure>(
    _ make: @escaping () -> Procedure,
    completion: @escaping (Result<Procedure.Output, StackError>) -> Void
  ) -> () -> Void {
    let done = OneShot(completion)
    let token = procedures.run(make) { done($0) }
    return { [procedures] in
      procedures.cancel(token)
      done(.failure(.cancelled))
    }
  }
}

/// Checks, each with one request, that attributes of an earlier link are still where they were.
extension GATTClient {
  /// Whether the attribute at a handle has this type. Nothing is read or written, and no permission is needed.
  ///
  /// - Returns: false also if the server refuses to answer, as one does that considers this client out of date (Vol 3,
  ///   Part G, 2.5.2.1)
  package func attributeTypeMatches(_ type: BluetoothUUID, at handle: AttributeHandle)
    async throws(StackError) -> Bool
  {
    do throws(StackError) {
      return try await run { FindAttributeType(handle: handle) } == type
    } catch let error where error.code == .refused || error.code == .misbehaved {
      return false
    }
  }

  /// The hash of all services, characteristics and descriptors of the server, 16 bytes (Vol 3, Part G, 7.3). It changes
  /// with each of them.
  ///
  /// - Returns: nil from servers that have none, which is usual
  package func databaseHash() async throws(StackError) -> [UInt8]? {
    do throws(StackError) {
      let value = try await readFirst(uuid: GATTUUID.databaseHash)
      return value?.count == 16 ? value : nil
    } catch let error where error.code == .refused {
      return nil
    }
  }
}
