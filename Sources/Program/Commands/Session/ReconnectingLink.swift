import GAP
import HCI
import HaloBluetoothCore
import HaloCommandLine
import HaloDevices
import RingLink

/// The device at the other end of a link.
@BluetoothActor
protocol LinkedDevice: AnyObject, Sendable {
  var connection: GATTLink { get }
  /// Nil if it is not known.
  var firmwareRevision: String? { get }
}

extension RingClient: LinkedDevice {
  var firmwareRevision: String? { firmware.firmwareRevision }
}

extension GATTLink: LinkedDevice {
  var connection: GATTLink { self }
  var firmwareRevision: String? { nil }
}

extension Failure: LinkFailure {
  package var fault: StackError.Fault { link.fault }

  package static func notReady(within time: Duration) -> Failure {
    Failure(.timedOut, "the device was not ready within \(Int(time.inSeconds)) s", .silence)
  }
}

/// A device that a command uses, with a link that is made again when it is lost.
///
/// A ``ManagedLink`` with the additions of commands: the choice of a device, the messages, and the end by an interruption.
@BluetoothActor
final class ReconnectingLink<Device: LinkedDevice> {
  /// Makes a new link usable.
  typealias Open = @BluetoothActor (_ connection: GATTLink, _ last: Device?) async throws -> Device

  /// The name of the device, if it is known.
  private(set) var name: String?
  /// The name of the device in messages, if there are several.
  var title: String?
  /// Whether a device that is lost and not heard again counts as a lost connection, and not as one that was not found.
  var countsAsLost = false
  /// How often a link was made again.
  private(set) var reconnections = 0
  /// The device on its link of now, or on its last one; nil before ``open()``.
  private(set) var device: Device?
  /// Ends attempts, and the work of the device.
  let interruption: Interruption

  private let session: Session
  private let selector: RingSelector
  /// Refuses a device that was found.
  private let check: (BluetoothAddress) throws(Failure) -> Void
  private let openDevice: Open
  private let managed: ManagedLink<ReconnectingLink>
  /// The procedures that were said to have cost links.
  private var leftOut: Set<LinkProcedure> = []
  /// Whether it was reported that the device wants to pair.
  private var hasNamedPairing = false
  /// Whether data have stopped because the link was lost, and have not come again.
  private var isLost = false

  /// - Parameters:
  ///   - session: finds and connects
  ///   - selector: the device
  ///   - known: its address, if that is known
  ///   - name: its name, if that is known
  ///   - budget: how long it may take until data come
  ///   - watch: whether it matters when the services of the device change
  ///   - interruption: ends attempts; nil for that of the session
  ///   - check: refuses a device that was found
  ///   - open: makes a new link usable
  init(
    _ session: Session, _ selector: RingSelector, known: BluetoothAddress?, name: String?,
    _ budget: ReconnectPolicy.Budget, _ watch: ServiceWatch, until interruption: Interruption?,
    check: @escaping (BluetoothAddress) throws(Failure) -> Void = { _ in }, open: @escaping Open
  ) {
    self.session = session
    self.interruption = interruption ?? session.interruption
    self.selector = selector
    self.name = name
    self.check = check
    openDevice = open
    managed = ManagedLink(
      to: known, canSearch: !selector.isAddress && !session.replaysOnePeripheral, budget, watch,
      timers: session.timers)
    session.waitsForAdapter = true
  }

  /// Finds the device, connects to it and opens it.
  ///
  /// - Returns: the device, which may be lost before ``ask(_:)``
  func open() async throws(Failure) -> Device {
    try await managed.open(for: self)
    return try opened()
  }

  private func opened() throws(Failure) -> Device {
    guard let device else { throw Failure(StackError.notConnected) }
    return device
  }

  /// Makes the device send the data, or do the work, that the command is for. If the link is lost during `start`, it is made
  /// again, and `start` runs again: call ``dataFlow()`` in it when that must not happen any more.
  func ask<Value>(_ start: (Device) async throws -> Value) async throws(Failure) -> Value {
    var value: Value?
    try await managed.ask(for: self) { () throws(Failure) in
      value = try await outcome { try await start(try opened()) }.get()
    }
    guard let value else { throw Failure(StackError.notConnected) }
    return value
  }

  /// Has the device send until the interruption, which ends `work` and is no failure.
  ///
  /// - Parameter onLoss: called when `work` has failed, before it is tried again
  func listen(
    _ work: @escaping @BluetoothActor (Device) async throws -> Void,
    onLoss: (Failure) -> Void = { _ in }
  ) async throws(Failure) {
    do throws(Failure) {
      try await ask { device in
        let result = await outcome { try await interruption.cancels { try await work(device) } }
        if case .failure(let failure) = result, !interruption.isRequested { onLoss(failure) }
        try result.get()
      }
    } catch {
      guard error.code == .interrupted, interruption.isRequested else { throw error }
    }
  }

  /// Data have come: from now on, a loss has a time of its own.
  func dataFlow() {
    isLost = false
    managed.dataFlow()
    managed.link?.requestLimit = nil
  }

  /// Ends the link.
  func close() async { await managed.release(for: self) }

  /// A line of a message; it begins with the name of the device, if there are several.
  func prefixed(_ line: String) -> String { title.map { "\($0): \(line)" } ?? line }
}

extension ReconnectingLink: LinkUser {
  func perform(_ step: @escaping @BluetoothActor () async throws(Failure) -> Void) async throws(Failure) {
    try await interruption.cancels(step)
  }

  func find(within time: Duration) async throws(Failure) -> BluetoothAddress {
    let found = try await session.find(selector, deadline: time)
    name = found.localName ?? name
    return found.address
  }

  func connect(to peer: BluetoothAddress, within time: Duration) async throws(Failure) -> GATTLink {
    // A radio that is lost makes no link; its own cause says more than the refusal.
    try session.checkAdapter()
    try check(peer)
    sayWhatHasCostLinks(to: peer)
    let link = try await session.connect(to: peer, name: name, within: time)
    link.requestLimit = managed.policy.deadline
    session.names[link.identity] = name
    if selector == session.selector { session.ringName = name }
    if device != nil {
      reconnections += 1
      session.status.report("connected again", of: peer, name: name)
    }
    return link
  }

  func open(_ link: GATTLink) async throws(Failure) {
    device = try await outcome { try await openDevice(link, device) }.get()
  }

  func recoverAdapter(within time: Duration) async throws(Failure) {
    try await session.recoverAdapter(within: time)
  }

  func release(_ link: GATTLink) async { await link.disconnect() }

  var goesOn: Bool { session.canGoOn && !interruption.isRequested }

  func failed(
    _ failure: Failure, in phase: ReconnectPolicy.Phase, hasFlowed: Bool, next: ReconnectPolicy.Action
  ) -> Failure {
    if interruption.isRequested { return Failure(StackError.cancelled) }
    sayThatItWantsToPair()
    guard next != .giveUp else {
      var cause = session.cause(of: failure)
      // It was there before: it is not that there is none.
      if isLost, failure.link.fault == .absence, cause.code == failure.code { cause.code = .connectionLost }
      return cause
    }
    if hasFlowed { isLost = countsAsLost && failure.code == .connectionLost }
    let rest = managed.policy.deadline.map { ($0 - session.timers.current).asLimit } ?? ""
    if let attempt = failure.link.attempt {
      Console.error("halo-raw: \(prefixed(attempt)) \(rest)")
    } else {
      session.note(prefixed("\(failure.message); trying again \(rest)"))
    }
    if phase == .start, let peer = managed.peer {
      let what = failure.link.fault == .unready ? "no data" : "connection lost"
      session.status.report("\(what); trying again", of: peer, name: name)
    }
    return failure
  }

  private func sayThatItWantsToPair() {
    guard managed.link?.loss == .pairingRefused, !hasNamedPairing else { return }
    hasNamedPairing = true
    Console.error(
      "halo-raw: \(name ?? "the device") asked for pairing, which was refused, and ended the link; "
        + "to pair with it, add --bond")
  }

  private func sayWhatHasCostLinks(to peer: BluetoothAddress) {
    let costly = session.central.leftOut(of: PeerIdentity(peer))
    for procedure in LinkProcedure.allCases where costly.contains(procedure) && !leftOut.contains(procedure) {
      Console.error(
        "halo-raw: \(name ?? "the device") ended the link at \(procedure); later links omit it")
    }
    leftOut = costly
  }
}

extension ReconnectPolicy.Budget {
  /// The budget of `--wait` and `--retry-for`. A command that retries without limit has none for the first attempt either,
  /// unless `--wait` sets one.
  ///
  /// - Parameters:
  ///   - retryTime: takes the place of `--retry-for`
  ///   - isSteady: whether data may be rare, so that a link that lasts is as good
  init(_ invocation: Invocation, retryTime: Duration? = nil, isSteady: Bool = false) {
    let retryTime = retryTime ?? invocation[CommonOptions.retryTime]
    let isForever = retryTime > .forever / 2
    self.init(
      first: isForever && !invocation.isGiven(CommonOptions.wait) ? .forever : invocation[CommonOptions.wait],
      later: retryTime, waitsUntilReady: isForever, steadyTime: isSteady ? .seconds(10) : nil)
  }
}
