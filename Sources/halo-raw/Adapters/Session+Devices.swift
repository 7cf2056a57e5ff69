import BluetoothCore
import Central
import EventLoop
import GATTClient
import HCI
import KnownDevices
import RingLink

/// Finding devices, connecting to them, and connecting again.
extension Session {
  /// Waits for an advertisement of a device.
  private func find(_ selector: RingSelector, deadline: Duration) async throws(Failure) -> Advertisement {
    do throws(RingError) {
      let device = try await choose(selector, deadline: deadline)
      note(
        "found \(device.localName ?? "(no name)") \(device.address) (\(device.address.kind))"
          + (device.rssi.map { ", \($0) dBm" } ?? ""))
      return device
    } catch {
      throw Failure(error)
    }
  }

  /// Finds the device. If several rings are near, it is the known one, or the one that is much nearer than the others, or the
  /// user chooses on a terminal.
  private func choose(_ selector: RingSelector, deadline: Duration) async throws(RingError) -> Advertisement {
    let wait = wait(for: "looking for \(selector.title)")
    defer { wait?.end() }
    var options = RingFinder.Options()
    options.scan = scanParameters
    if selector == .anyRing { options.known = knownInSearches }
    options.onWait = { ring in
      wait?.text = "\(ring.localName ?? ring.address.description) is near; listening for other rings"
    }
    let rings = try await RingFinder.findAll(selector, on: central, deadline: deadline, options: options)
    wait?.end()
    if let ring = RingFinder.choice(among: rings, known: options.known) {
      if rings.count > 1 {
        let reason = options.known.contains(ring.address) ? "was used before" : "is much nearer"
        Console.error("halo-raw: \(rings.count) rings are near; using \(ring.title), which \(reason)")
      }
      return ring
    }
    guard Picker.isPossible, !isReplay else { throw .severalFound(rings.map(\.title).sorted()) }
    let lines = rings.map { $0.title + ($0.rssi.map { "  \($0) dBm" } ?? "") }
    guard let choice = try await Picker("several rings are near", lines).choose(in: timers) else {
      throw .severalFound(rings.map(\.title).sorted())
    }
    return rings[choice]
  }

  /// The rings that are known in a search without a name, which a recording has to hold: none if there are too many.
  private var knownInSearches: Set<BluetoothAddress> {
    guard known.rings.count <= 16, known.rings.allSatisfy({ record(known: $0) }) else { return [] }
    return Set(known.rings.compactMap(\.bluetoothAddress))
  }

  /// Shows what is waited for; not with `-v`, which says more, and not in a replay, which does not wait.
  private func wait(for text: String) -> WaitLine? {
    isVerbose || isReplay ? nil : WaitLine(text, in: timers)
  }

  /// Connects to a device without a scan.
  private func connect(
    to peer: BluetoothAddress, deadline: Duration
  ) async throws(BluetoothError) -> GATTClient {
    let wait = wait(for: "connecting to \(names[peer] ?? peer.description)")
    defer { wait?.end() }
    var request = self.request
    request.peer = peer
    request.deadline = deadline
    // Set in the completion: what the link layers support is reported right after it.
    let client = try await awaitCallback {
      [self] (done: @escaping (Result<GATTClient, BluetoothError>) -> Void) in
      let connected = { [weak self] (result: Result<GATTClient, BluetoothError>) in
        if case .success(let client) = result {
          client.onLinkEvent = { [weak self] event in self?.report(event) }
        }
        done(result)
      }
      return waitsForAdvertisements
        ? connectWhenHeard(request, connected) : central.connect(request, completion: connected)
    }
    let unfinished = Termination.note(
      "the link to \(peer) ends by its supervision timeout; until then the device does not advertise")
    client.whenDisconnected { _ in withExtendedLifetime(unfinished) {} }
    note("connected: \(client.parameters.map(\.description) ?? "")")
    return client
  }

  /// How long an attempt to connect to a peer that was heard may hold up others.
  private static let attemptDeadline = Duration.seconds(5)

  /// Connects when the peer advertises.
  ///
  /// - Returns: a closure that cancels the attempt
  private func connectWhenHeard(
    _ request: ConnectionRequest, _ done: @escaping (Result<GATTClient, BluetoothError>) -> Void
  ) -> () -> Void {
    let timers = self.timers
    var attempt = request
    attempt.deadline = min(Self.attemptDeadline, request.deadline)
    var pending: PendingConnection?
    var timer: Timers.Token?
    let end = OneShot { (result: Result<GATTClient, BluetoothError>) in
      timers.cancel(timer)
      pending?.cancel()
      pending = nil
      done(result)
    }
    pending = central.connectWhenHeard(attempt) { end($0) }
    guard end.isPending else { return {} }
    timer = timers.schedule(after: request.deadline) {
      end(.failure(.hci(.peerNotFound(request.peer, seconds: request.deadline.inSeconds))))
    }
    return { end(.failure(.hci(.cancelled))) }
  }

  /// Logs a link event. What was asked for on the command line and can't be had is reported in any case.
  private func report(_ event: LinkEvent) {
    switch event {
    case .change(.notSupported), .change(.rejected):
      guard request.preferences != nil else { fallthrough }
      Console.error("halo-raw: \(event)")
    default: note(event.description)
    }
  }

  /// Finds the selected device and connects to it.
  func connect() async throws(Failure) -> GATTClient {
    let (client, name) = try await findAndConnect(selector)
    ringName = name
    return client
  }

  private func findAndConnect(
    _ selector: RingSelector, _ check: (BluetoothAddress) throws(Failure) -> Void = { _ in }
  ) async throws(Failure) -> (client: GATTClient, name: String?) {
    let started = timers.current
    let device = try await find(selector, deadline: request.deadline)
    try check(device.address)
    let rest = max(.seconds(1), request.deadline - (timers.current - started))
    return (try await bluetoothFailure(await connect(to: device.address, deadline: rest)), device.localName)
  }

  // MARK: Rings

  /// Opens the selected ring: a known one without a scan, another one after a scan.
  ///
  /// - Parameter identifies: whether the firmware of a new ring is read now; if not, ``identify(_:)`` does it later
  func openRing(identifies: Bool = true) async throws(Failure) -> Ring {
    let (ring, name) = try await openRing(selector, identifies: identifies)
    ringName = name
    return ring
  }

  /// The same for any ring.
  ///
  /// - Parameters:
  ///   - selector: the ring
  ///   - identifies: as of ``openRing(identifies:)``
  ///   - check: called with its address before it is connected
  /// - Returns: the ring, and its name if it is known
  func openRing(
    _ selector: RingSelector, identifies: Bool, check: (BluetoothAddress) throws(Failure) -> Void = { _ in }
  ) async throws(Failure) -> (ring: Ring, name: String?) {
    // What a recording does not have could not be replayed.
    if let ring = known.only(selector), let address = ring.bluetoothAddress, record(known: ring) {
      try check(address)
      if let client = try await connect(to: address, knownAs: ring.name) {
        return (try await open(client, name: ring.name, identifies), ring.name)
      }
    }
    let (client, name) = try await findAndConnect(selector, check)
    return (try await open(client, name: name, identifies), name)
  }

  /// - Returns: nil if the ring is not found; another ring may be near, or its address may have changed
  private func connect(
    to address: BluetoothAddress, knownAs name: String?
  ) async throws(Failure) -> GATTClient? {
    note("known ring \(name ?? "") \(address): connecting without a scan")
    do throws(BluetoothError) {
      return try await connect(to: address, deadline: min(.seconds(8), request.deadline))
    } catch .hci(.peerNotFound) {
      note("it was not found; scanning")
      return nil
    } catch {
      throw Failure(error)
    }
  }

  private func open(
    _ client: GATTClient, name: String?, _ identifies: Bool
  ) async throws(Failure) -> Ring {
    let selector = RingSelector.address(client.peer.value, client.peer.kind)
    do throws(RingError) {
      let stored = known.only(selector)
      let layout = stored.flatMap { record(known: $0) ? $0.layout : nil }
      let ring = try await Ring.open(client, layout: layout, identifies: identifies)
      names[client.peer] = name
      if layout != nil, !ring.isAssumed { note("its handles have moved since; they were discovered again") }
      if ring.isAssumed || identifies { remember(ring) }
      ring.onLayoutChange = { [weak self, weak ring] in
        guard let self, let ring else { return }
        if ring.layout != nil { remember(ring) } else { known.forgetLayout(of: client.peer) }
      }
      follow(clockOf: client.peer)
      try await restoreMeasurements(of: ring)
      return ring
    } catch {
      known.forgetLayout(of: client.peer)
      await client.disconnect()
      throw Failure(error)
    }
  }

  /// Reads the firmware of a ring that was opened without, and stores the ring.
  func identify(_ ring: Ring) async throws(Failure) {
    let isSame = try await ringFailure(await ring.identify())
    if !isSame { remember(ring) }
  }

  // MARK: Connecting again

  /// Reconnects to a device, with growing pauses between attempts.
  ///
  /// - Throws: the last failure, when `time` is over
  func reconnect(to peer: BluetoothAddress, within time: Duration) async throws(Failure) -> GATTClient {
    let timers = self.timers
    let deadline = timers.current + time
    var pause = Duration.milliseconds(250)
    status.report("connection lost; trying again", of: peer, name: names[peer])
    while true {
      try await recoverAdapter(within: max(.milliseconds(500), deadline - timers.current))
      let rest = deadline - timers.current
      do throws(BluetoothError) {
        let client = try await connect(to: peer, deadline: max(.milliseconds(500), min(.seconds(10), rest)))
        status.report("connected again", of: peer, name: names[peer])
        return client
      } catch {
        switch error {
        case _ where adapterFailure != nil && timers.current < deadline: continue
        case .hci(.peerNotFound), .hci(.peerDidNotAnswer), .hci(.notTried), .hci(.connectionFailed),
          .hci(.connectionNotEstablished), .hci(.notReady):
          guard timers.current + pause < deadline else { throw Failure(.connectionLost, error.description) }
        default: throw Failure(error)
        }
      }
      await timers.sleep(for: pause)
      pause = min(pause * 2, .seconds(30))
    }
  }

  /// Reconnects to a ring whose link was lost, and opens it again, unless the command ends first.
  ///
  /// - Returns: nil if the command ended
  /// - Throws: `failure`, if it is another one, or nothing is to be tried; and as ``reconnect(to:within:)``
  func recover(
    _ ring: Ring, from failure: Failure, within time: Duration, until end: Interruption
  ) async throws(Failure) -> Ring? {
    guard failure.code == .connectionLost, time > .zero, canGoOn else { throw failure }
    note("\(failure.message); trying again \(time.asLimit)")
    do throws(Failure) {
      return try await end.cancels { () async throws(Failure) in try await self.reopen(ring, within: time) }
    } catch {
      guard end.isRequested else { throw error }
      return nil
    }
  }

  /// Reconnects to a ring and opens it with its known handles.
  func reopen(_ ring: Ring, within time: Duration) async throws(Failure) -> Ring {
    let client = try await reconnect(to: ring.client.peer, within: time)
    return try await ringFailure(await Ring.open(client, layout: ring.layout))
  }
}

extension Advertisement {
  /// `R02_BEEF 30:35:38:41:BE:EF`
  fileprivate var title: String { "\(localName ?? "(no name)") \(address)" }
}
