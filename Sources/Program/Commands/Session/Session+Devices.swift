import GAP
import HCI
import HaloBluetoothCore
import HaloCommandLine
import RingLink
import HaloSimulation

/// Finding devices, and connecting to them once. ``ReconnectingLink`` decides when.
extension Session {
  /// Waits for an advertisement of a device.
  func find(_ selector: RingSelector, deadline: Duration) async throws(Failure) -> Advertisement {
    let device = try await outcome { try await choose(selector, deadline: deadline) }.get()
    note(
      "found \(device.localName ?? "(no name)") \(device.address) (\(device.address.kind))"
        + (device.lastRSSI.map { ", \($0) dBm" } ?? ""))
    return device
  }

  /// Finds the device. If several rings are near, it is the known one, or the one that is much nearer than the others, or the
  /// user chooses on a terminal.
  private func choose(_ selector: RingSelector, deadline: Duration) async throws(RingError) -> Advertisement {
    let wait = wait(for: "looking for \(selector.title)")
    defer { wait?.end() }
    var options = RingFinder.Options()
    options.scan = scanParameters
    if selector == .anyRing {
      options.known = knownInSearches
      options.expectsOthers = expectsOtherRings
    }
    options.onWait = { ring in
      wait?.text = "\(ring.localName ?? ring.address.description) is near; listening for other rings"
    }
    options.onPossible = { ring in
      Console.error(
        "halo-raw: \(ring.title) may be a ring: it has no name, and advertises what rings do; no other is near, so it is used"
      )
    }
    let rings = try await RingFinder.findAll(selector, on: central, deadline: deadline, options: options)
    wait?.end()
    if let ring = RingFinder.choice(among: rings, known: options.known) {
      if rings.count > 1 {
        let reason = options.known.contains(ring.identity) ? "was used before" : "is much nearer"
        Console.error("halo-raw: \(rings.count) rings are near; using \(ring.title), which \(reason)")
      }
      return ring
    }
    guard NumberedList.isPossible, !isReplay else { throw .severalFound(rings.map(\.title).sorted()) }
    let lines = rings.map { $0.title + ($0.lastRSSI.map { "  \($0) dBm" } ?? "") }
    guard let choice = try await NumberedList.choice("several rings are near", lines, in: timers) else {
      throw .severalFound(rings.map(\.title).sorted())
    }
    return rings[choice]
  }

  /// Whether other rings than the first one may be near: not in a simulation of one. A replay repeats the choice of the
  /// recording.
  private var expectsOtherRings: Bool {
    if isReplay { return !notes.hasOneRing }
    guard case .virtual(let ring, _) = spec, ring.others.isEmpty else { return true }
    record(.oneRing)
    return false
  }

  /// The rings that are known in a search without a name, which a recording has to hold: none if there are too many.
  private var knownInSearches: Set<PeerIdentity> {
    guard known.rings.count <= 16, known.rings.allSatisfy({ record(known: $0) }) else { return [] }
    return Set(known.rings.compactMap(\.peer))
  }

  /// Shows the reason for a wait; not with `-v`, which says more, and not in a replay, which does not wait.
  private func wait(for text: String) -> WaitLine? {
    isVerbose || isReplay ? nil : WaitLine(text, in: timers)
  }

  /// Connects to a device without a scan.
  func connect(
    to peer: BluetoothAddress, name: String?, within deadline: Duration
  ) async throws(Failure) -> GATTLink {
    var request = self.request
    request.peer = peer
    request.deadline = deadline
    return try await outcome { try await makeLink(request, name: name) }.get()
  }

  private func makeLink(_ request: ConnectionRequest, name: String?) async throws(StackError) -> GATTLink {
    let peer = request.peer
    let wait = wait(for: "connecting to \(name ?? peer.description)")
    defer { wait?.end() }
    let connection =
      waitsForAdvertisements ? try await connectWhenAdvertising(request) : try await connectNow(request)
    let unfinished = Termination.note(
      "the link to \(peer) ends by its supervision timeout; until then the device does not advertise")
    connection.whenDisconnected { _ in withExtendedLifetime(unfinished) {} }
    note("connected: \(connection.parameters.map(\.description) ?? "")")
    return connection
  }

  /// How long an attempt to connect to a peer that was heard may hold up others.
  private static let attemptDeadline = Duration.seconds(5)

  private func connectNow(_ request: ConnectionRequest) async throws(StackError) -> GATTLink {
    try await awaitCallback { [self] (done: @escaping (Result<GATTLink, StackError>) -> Void) in
      central.connect(request) { [weak self] result in
        // Here, as the features of the link layers are reported right after it.
        if case .success(let connection) = result {
          connection.whenChanged { [weak self] event in self?.report(event) }
          // The link to a bonded device is encrypted before anything else.
          if connection.security.isEncrypted { self?.report(.change(.encryption(true))) }
        }
        done(result)
      }
    }
  }

  /// Connects when the peer advertises.
  private func connectWhenAdvertising(_ request: ConnectionRequest) async throws(StackError) -> GATTLink {
    let end = timers.current + request.deadline
    let eagerEnd = timers.current + Central.eagerTime
    let peer = request.identity
    var attempt = request
    while true {
      var failure: StackError?
      let isInTime = await timers.within(end - timers.current) {
        do throws(StackError) {
          try await self.central.untilHeard(peer, eagerUntil: eagerEnd)
        } catch {
          failure = error
        }
      }
      if Task.isCancelled { throw .cancelled }
      guard isInTime else {
        let silence = StackError.peerNotFound(request.peer, seconds: request.deadline.inSeconds)
        throw central.useByOthers(of: request.peer) ?? silence
      }
      if let failure { throw failure }
      attempt.deadline = min(Self.attemptDeadline, end - timers.current)
      do throws(StackError) {
        return try await connectNow(attempt)
      } catch {
        guard error.fault == .absence, timers.current < end else { throw error }
      }
    }
  }

  /// Logs a link event. A link that lacks an option of the command line is reported in any case.
  private func report(_ event: LinkEvent) {
    switch event {
    case .change(.notSupported), .change(.rejected):
      guard request.preferences != nil else { fallthrough }
      Console.error("halo-raw: \(event)")
    default: note(event.description)
    }
  }

  // MARK: Links that are kept

  /// The budget of one answer.
  private var oneAnswer: ReconnectPolicy.Budget {
    ReconnectPolicy.Budget(first: request.deadline, later: .zero)
  }

  /// The selected device, whatever it is.
  ///
  /// - Parameters:
  ///   - budget: how long it may take to get its data
  ///   - lasts: whether it is used for more than one answer
  ///   - prepare: makes a new link usable
  func keepDevice(
    _ budget: ReconnectPolicy.Budget, lasts: Bool = true,
    prepare: @escaping @BluetoothActor (GATTLink) async throws -> Void = { _ in }
  ) -> ReconnectingLink<GATTLink> {
    ReconnectingLink(self, selector, known: nil, name: nil, budget, lasts ? .first : .never, until: nil) {
      connection, _ in
      try await prepare(connection)
      return connection
    }
  }

  /// A ring: one that is known is first looked for at its address.
  ///
  /// - Parameters:
  ///   - budget: how long it may take to get its data; nil for one answer within `--wait`
  ///   - selector: the ring; nil for the one that the command line selects
  ///   - interruption: ends attempts; nil for that of the session
  ///   - identifies: whether the firmware of a new ring is read now; if not, ``identify(_:)`` does it later
  ///   - prepare: further reads or settings on a new link
  ///   - check: called with its address before it is connected
  func keepRing(
    _ budget: ReconnectPolicy.Budget? = nil, of selector: RingSelector? = nil,
    until interruption: Interruption? = nil,
    identifies: Bool = true,
    prepare: @escaping @BluetoothActor (RingClient) async throws -> Void = { _ in },
    check: @escaping (BluetoothAddress) throws(Failure) -> Void = { _ in }
  ) -> ReconnectingLink<RingClient> {
    let selector = selector ?? self.selector
    // Data that a recording does not have could not be replayed.
    let ring = known.only(selector).flatMap { record(known: $0) ? $0 : nil }
    if let ring { note("known ring \(ring.name ?? "") \(ring.address): connecting without a scan") }
    return ReconnectingLink(
      self, selector, known: ring?.peer?.address, name: ring?.name, budget ?? oneAnswer,
      budget == nil ? .never : .afterOthers, until: interruption, check: check
    ) { [self] connection, last in
      let ring = try await open(connection, last, identifies)
      ring.dispatcher.onUnknown = { [weak self] in self?.note("the ring sent what nobody asked for: \($0)") }
      try await prepare(ring)
      return ring
    }
  }

  /// Runs a command of one answer on the selected device. It runs again if the link is lost, within `--wait`, unless it has
  /// called ``ReconnectingLink/dataFlow()``.
  func withDevice<Value: Sendable>(
    _ work: (GATTLink, ReconnectingLink<GATTLink>) async throws -> Value
  ) async throws(Failure) -> Value {
    let link = keepDevice(oneAnswer, lasts: false)
    return try await link.ask { connection in try await work(connection, link) }
  }

  /// The same for a ring.
  func withRing<Value: Sendable>(
    _ work: (RingClient, ReconnectingLink<RingClient>) async throws -> Value
  ) async throws(Failure) -> Value {
    let link = keepRing()
    return try await link.ask { ring in try await work(ring, link) }
  }

  // MARK: Rings

  /// - Parameter last: the ring on its last link; nil if this is the first one
  private func open(_ connection: GATTLink, _ last: RingClient?, _ identifies: Bool) async throws(Failure)
    -> RingClient
  {
    let selector = RingSelector.address(connection.peer.value, connection.peer.kind)
    do throws(RingError) {
      let stored = known.only(selector)
      let layout = last?.layout ?? stored.flatMap { record(known: $0) ? $0.layout : nil }
      let ring = try await RingClient.open(connection, layout: layout, identifies: identifies || last != nil)
      if layout != nil, !ring.isAssumed { note("its handles have moved since; they were discovered again") }
      if last == nil, ring.isAssumed || identifies { remember(ring) }
      ring.onLayoutChange = { [weak self, weak ring] in
        guard let self, let ring else { return }
        if ring.layout != nil { remember(ring) } else { known.forgetLayout(of: connection.identity) }
      }
      follow(clockOf: connection.identity)
      if last == nil { try await restoreMeasurements(of: ring) }
      return ring
    } catch {
      let failure = Failure(error)
      if failure.link.fault == .final { known.forgetLayout(of: connection.identity) }
      throw failure
    }
  }

  /// Reads the firmware of a ring that was opened without, and stores the ring.
  func identify(_ ring: RingClient) async throws(Failure) {
    let isSame = try await outcome { try await ring.identify() }.get()
    if !isSame { remember(ring) }
  }
}

extension Advertisement {
  /// `R02_BEEF 30:35:38:41:BE:EF`
  fileprivate var title: String { "\(localName ?? "(no name)") \(address)" }
}
