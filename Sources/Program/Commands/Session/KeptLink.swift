import GAP
import HCI
import HaloBluetoothCore
import HaloCommandLine
import HaloEventLoop
import RingLink

/// What a link leads to.
@BluetoothActor
protocol LinkedDevice: AnyObject, Sendable {
  var connection: GATTLink { get }
}

extension RingClient: LinkedDevice {}

extension GATTLink: LinkedDevice {
  var connection: GATTLink { self }
}

/// When a command subscribes to Service Changed.
enum ServiceWatch {
  /// Not at all: it wants one answer.
  case never
  /// Before anything is discovered.
  case first
  /// After what begins the stream: handles that are kept are proved on each link.
  case afterOthers
}

/// A device that a command uses, with a link that is made again when it is lost.
///
/// It carries out what a ``LinkKeeper`` decides. No other code of the commands tries again.
@BluetoothActor
final class KeptLink<Device: LinkedDevice> {
  /// Makes a new link usable.
  typealias Open = @BluetoothActor (_ connection: GATTLink, _ last: Device?) async throws(Failure) -> Device

  /// The name of the device, if it is known.
  private(set) var name: String?
  /// The name of the device in messages, if there are several.
  var title: String?
  /// Whether a device that is lost and not heard again counts as a lost connection, and not as one that was not found.
  var countsAsLost = false
  /// How often a link was made again.
  private(set) var reconnections = 0

  private let session: Session
  /// Ends what is tried, and what the device does.
  let interruption: Interruption
  private let selector: RingSelector
  /// Refuses a device that was found.
  private let check: (BluetoothAddress) throws(Failure) -> Void
  private let openDevice: Open
  private let watch: ServiceWatch
  private var keeper: LinkKeeper
  private var next: LinkKeeper.Action?
  /// Whether it was said that the device wants to pair.
  private var hasNamedPairing = false
  /// Whether data have stopped because the link was lost, and have not come again.
  private var isLost = false
  private var peer: BluetoothAddress?
  private var connection: GATTLink?
  /// The device on its link of now, or on its last one; nil before ``open()``.
  private(set) var device: Device?

  private var timers: Timers { session.timers }

  /// - Parameters:
  ///   - session: finds and connects
  ///   - selector: the device
  ///   - known: its address, if that is known
  ///   - name: its name, if that is known
  ///   - budget: how long a way to data may take
  ///   - watch: whether it matters when the services of the device change
  ///   - interruption: ends what is tried; nil for that of the session
  ///   - check: refuses a device that was found
  ///   - open: makes a new link usable
  init(
    _ session: Session, _ selector: RingSelector, known: BluetoothAddress?, name: String?,
    _ budget: LinkKeeper.Budget, _ watch: ServiceWatch, until interruption: Interruption?,
    check: @escaping (BluetoothAddress) throws(Failure) -> Void = { _ in }, open: @escaping Open
  ) {
    self.session = session
    self.interruption = interruption ?? session.interruption
    self.selector = selector
    self.name = name
    self.watch = watch
    self.check = check
    openDevice = open
    peer = known
    keeper = LinkKeeper(
      budget, isKnown: known != nil, canSearch: selector.canSearch && !session.replaysOnePeripheral)
    session.waitsForAdapter = true
  }

  /// Finds the device, connects to it and opens it.
  ///
  /// - Returns: the device, which may be lost before ``ask(_:)``
  func open() async throws(Failure) -> Device {
    try await go { action in
      if case .start = action { true } else { false }
    } start: { _ in
    }
    guard let device else { throw Failure(HCIError.notConnected) }
    return device
  }

  /// Has the device send or do what the command is for. If the link is lost during `start`, it is made again, and `start` runs
  /// again: call ``dataFlow()`` in it when that must not be any more.
  func ask<Value>(_ start: (Device) async throws(Failure) -> Value) async throws(Failure) -> Value {
    var value: Value?
    if next == .flow { next = keeper.ask() }
    try await go { action in
      action == .flow
    } start: { device throws(Failure) in
      value = try await start(device)
    }
    guard let value else { throw Failure(HCIError.notConnected) }
    return value
  }

  /// Has the device send until the interruption, which ends `work` and is no failure.
  ///
  /// - Parameter onLoss: called when `work` has failed, before it is tried again
  func listen(
    _ work: @escaping @BluetoothActor (Device) async throws(Failure) -> Void,
    onLoss: (Failure) -> Void = { _ in }
  ) async throws(Failure) {
    do throws(Failure) {
      try await ask { device throws(Failure) in
        do throws(Failure) {
          try await interruption.cancels { () async throws(Failure) in try await work(device) }
        } catch {
          if !interruption.isRequested { onLoss(error) }
          throw error
        }
      }
    } catch {
      guard error.code == .interrupted, interruption.isRequested else { throw error }
    }
  }

  /// Data have come: from now on, a loss has a time of its own.
  func dataFlow() {
    isLost = false
    keeper.dataFlow()
    connection?.requestLimit = nil
  }

  private func report(_ failure: Failure) {
    guard let peer else { return }
    let what = failure.link.fault == .unready ? "no data" : "connection lost"
    session.status.report("\(what); trying again", of: peer, name: name)
  }

  /// Ends the link.
  func close() async {
    await connection?.disconnect()
    connection = nil
  }

  // MARK: The loop

  private func go(
    until isThere: (LinkKeeper.Action) -> Bool, start: (Device) async throws(Failure) -> Void
  ) async throws(Failure) {
    var action = next ?? keeper.begin(at: timers.current)
    while !isThere(action) {
      do throws(Failure) {
        if case .start = action {
          guard let device else { throw Failure(HCIError.notConnected) }
          // It ends in order itself.
          try await start(device)
        } else {
          let step = action
          try await interruption.cancels { () async throws(Failure) in try await self.carryOut(step) }
        }
        action = keeper.succeeded(action, at: timers.current)
      } catch {
        action = try await self.action(after: error)
      }
    }
    next = action
  }

  private func carryOut(_ action: LinkKeeper.Action) async throws(Failure) {
    switch action {
    case .find(let time):
      let found = try await session.find(selector, deadline: time)
      peer = found.address
      name = found.localName ?? name
    case .connect(let time): try await connect(within: time)
    case .open(let time): try await open(within: time)
    case .pause(let time): await timers.sleep(for: time)
    case .recover(let time): try await session.recoverAdapter(within: time)
    case .start, .flow, .giveUp: break
    }
    if Task.isCancelled { throw Failure(HCIError.cancelled) }
  }

  private func connect(within time: Duration) async throws(Failure) {
    await close()
    guard let peer else { throw Failure(HCIError.notReady) }
    // A radio that is lost makes no link; its own cause says more than the refusal.
    try session.checkAdapter()
    try check(peer)
    let connection = try await session.connect(to: peer, name: name, without: keeper.leftOut, within: time)
    connection.requestLimit = keeper.deadline
    self.connection = connection
    session.names[peer] = name
    if selector == session.selector { session.ringName = name }
    guard device != nil else { return }
    reconnections += 1
    session.status.report("connected again", of: peer, name: name)
  }

  private func open(within time: Duration) async throws(Failure) {
    guard let connection else { throw Failure(HCIError.notConnected) }
    let (last, openDevice, watch) = (device, openDevice, watch)
    var result: Result<Device, Failure>?
    let isInTime = await timers.within(time) {
      do throws(Failure) {
        if watch == .first {
          connection.gatt.exchangeMTU { _ in }
          connection.gatt.watchServiceChanges()
        }
        result = .success(try await openDevice(connection, last))
        if watch == .afterOthers { connection.gatt.watchServiceChanges(afterOthers: true) }
      } catch {
        result = .failure(error)
      }
    }
    if Task.isCancelled { throw Failure(HCIError.cancelled) }
    guard isInTime, let result else {
      throw Failure(.timedOut, "the device was not ready within \(Int(time.inSeconds)) s", .silence)
    }
    device = try result.get()
  }

  private func decide(_ failure: Failure) -> LinkKeeper.Action {
    let before = keeper.leftOut
    let isPeers = connection?.loss?.isByPeer == true
    let action = keeper.failed(
      failure.link.fault, during: procedure(endedBy: failure), endedByPeer: isPeers, at: timers.current)
    if connection?.loss == .pairingRefused, !hasNamedPairing {
      hasNamedPairing = true
      Console.error(
        "halo-raw: \(name ?? "the device") asks for pairing, which is not supported, and ends the link; "
          + "if it is paired with a phone, remove it there, or reset it")
    }
    for procedure in keeper.leftOut.subtracting(before) {
      Console.error(
        "halo-raw: \(procedure) has cost the link to \(name ?? "the device"); it is left out from now on")
    }
    return action
  }

  /// What the link was lost in, if it was new.
  private func procedure(endedBy failure: Failure) -> LinkProcedure? {
    switch keeper.phase {
    case _ where connection?.unfinished == .keepParameters: .keepParameters
    case .find, .flow: nil
    case .connect: failure.link.lostIn
    // While data flow, it has cost nothing.
    case .open, .start: keeper.deadline == nil ? nil : connection?.unfinished
    }
  }

  private func action(after failure: Failure) async throws(Failure) -> LinkKeeper.Action {
    if interruption.isRequested { throw Failure(HCIError.cancelled) }
    let (didFlow, wasAsked) = (keeper.deadline == nil, keeper.phase == .start)
    let action = session.canGoOn && !Task.isCancelled ? decide(failure) : .giveUp
    guard action != .giveUp else {
      // Something else may be asked for on the same link.
      if connection?.isConnected == true, device != nil { next = keeper.ask() }
      var cause = session.cause(of: failure)
      // It was there before: it is not that there is none.
      if isLost, failure.link.fault == .absence, cause.code == failure.code { cause.code = .connectionLost }
      throw cause
    }
    if didFlow { isLost = countsAsLost && failure.code == .connectionLost }
    let rest = keeper.deadline.map { ($0 - timers.current).asLimit } ?? ""
    if let attempt = failure.link.attempt {
      Console.error("halo-raw: \(prefixed(attempt)) \(rest)")
    } else {
      session.note(prefixed("\(failure.message); trying again \(rest)"))
    }
    if wasAsked { report(failure) }
    if failure.link.fault != .unready { await close() }
    return action
  }

  /// A line of a message; it begins with the name of the device, if there are several.
  func prefixed(_ line: String) -> String { title.map { "\($0): \(line)" } ?? line }
}

extension RingSelector {
  /// Whether the device can be recognized by more than its address.
  fileprivate var canSearch: Bool {
    if case .address = self { false } else { true }
  }
}

extension LinkKeeper.Budget {
  /// What `--wait` and `--retry-for` allow. A command that tries for ever waits for ever the first time, too, unless `--wait`
  /// says how long.
  ///
  /// - Parameter isSteady: whether data may be rare, so that a link that lasts is as good
  init(_ invocation: Invocation, retryTime: Duration, isSteady: Bool = false) {
    let isForever = retryTime > .forever / 2
    self.init(
      first: isForever && !invocation.isGiven(CommonOptions.wait) ? .forever : invocation[CommonOptions.wait],
      later: retryTime, waitsUntilReady: isForever, steadyTime: isSteady ? .seconds(10) : nil)
  }
}
