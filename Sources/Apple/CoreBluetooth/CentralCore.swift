import Foundation
internal import GAP
internal import HCI
internal import HaloBluetoothCore
internal import HaloDevices
internal import HaloRaw
internal import HaloSystemCalls

/// The loop's half of a central manager: its scan and its links on a radio that others may share.
@BluetoothActor
final class CentralCore {
  private struct Attempt {
    let driver: LinkDriver
    let address: BluetoothAddress
    let isNamed: Bool
    var pending: PendingConnection?
    var startTimer: Timers.Token?
    var connection: GATTLink?
    /// Whether the program has asked for its end.
    var isCancelled = false
  }

  /// How long the peripheral may take to connect once it has been heard.
  private static let attemptTime = Duration.seconds(10)
  /// The end of a link that neither the program nor the peripheral has asked for.
  private static let gaveUp: any Error & Sendable = CBError(
    .connectionTimeout, "the connection was ended, as the peripheral did not answer in time")

  /// What the radio is connected to, for this manager or for others; nil before the radio is known.
  nonisolated var connected: ConnectedServices? { connectedServices.withLock { $0 } }
  private let connectedServices = Guarded<ConnectedServices?>(nil)

  private let events: ManagerEvents<CBCentralManager>
  private var radio: ManagedAdapter?
  private var release: (() -> Void)?
  private var observation: ManagedAdapter.Observation?
  private var scan: Central.Scan?
  /// By their drivers.
  private var attempts: [ObjectIdentifier: Attempt] = [:]

  nonisolated init(_ events: ManagerEvents<CBCentralManager>) {
    self.events = events
  }

  func start(_ radio: ManagedAdapter, release: @escaping () -> Void) {
    self.radio = radio
    connectedServices.withLock { $0 = radio.links.connected }
    self.release = release
    observation = radio.observe { [weak self] in self?.changed($0) }
    if radio.state != .unknown { changed(radio.state) }
  }

  /// The manager is gone: its scan and its links end, and nothing else.
  func shutDown() {
    observation?.cancel()
    scan.take()?.cancel()
    let ended = attempts.values
    attempts = [:]
    for attempt in ended { attempt.driver.detach(unsubscribes: leave(attempt)) }
    release.take()?()
    radio = nil
  }

  private func changed(_ state: ManagedAdapter.State) {
    let failure = radio?.obstacle
    events.send { $0.update(CBManagerState(state), failure) }
    guard state != .poweredOn else { return }
    scan = nil
    for attempt in attempts.values where attempt.connection == nil { giveUp(attempt, stays: leave(attempt)) }
  }

  // MARK: Scanning

  func startScan(_ request: ScanRequest, number: Int) {
    scan?.cancel()
    guard let central = radio?.central, radio?.state == .poweredOn else { return }
    var request = request
    scan = central.scan(.aggressive) { [events] in
      events.send { $0.scanEnded(number) }
    } handler: { [events] advertisement in
      if request.takes(advertisement) { events.send { $0.discovered(advertisement, in: number) } }
    }
  }

  func stopScan() {
    scan.take()?.cancel()
  }

  // MARK: Connections

  /// Begins an attempt; the manager gets `ended` for each, whatever happens.
  ///
  /// - Parameter isNamed: whether the name of the peripheral is known
  func begin(
    _ driver: LinkDriver, to address: BluetoothAddress, _ options: ManagedConnection.Options, isNamed: Bool
  ) {
    guard let central = radio?.central, radio?.state == .poweredOn else {
      let error = CBError(.unknown, "the adapter is not powered on")
      return events.send { $0.ended(address, driver, .failed(error, byAdapter: true)) }
    }
    var attempt = Attempt(driver: driver, address: address, isNamed: isNamed)
    let id = ObjectIdentifier(driver)
    if options.delay > .zero {
      attempt.startTimer = central.timers.schedule(after: options.delay) { [weak self] in self?.begin(id) }
      attempts[id] = attempt
    } else {
      attempts[id] = attempt
      begin(id)
    }
  }

  private func begin(_ id: ObjectIdentifier) {
    guard let radio, let central = radio.central, let attempt = attempts[id] else { return }
    attempts[id]?.startTimer = nil
    let address = attempt.address
    if let connection = radio.links.link(to: address) { return finished(id, .success(connection)) }
    radio.links.whenLinked(to: address, user: attempt.driver) { [weak self] connection in
      self?.finished(id, .success(connection))
    }
    let request = ConnectionRequest(peer: address, deadline: Self.attemptTime)
    let pending = central.connectWhenHeard(request) { [weak self] result in self?.finished(id, result) }
    if let attempt = attempts[id], attempt.connection == nil { attempts[id]?.pending = pending }
  }

  private func finished(_ id: ObjectIdentifier, _ result: Result<GATTLink, GAPError>) {
    guard let attempt = attempts[id], attempt.connection == nil else { return }
    let (driver, address, events) = (attempt.driver, attempt.address, events)
    switch result {
    case .failure(let error):
      attempts[id] = nil
      radio?.links.leave(address, user: driver)
      var byAdapter = radio?.state != .poweredOn
      if case .hci(.adapter) = error { byAdapter = true }
      let error = delegateError(error)
      events.send { [byAdapter] in $0.ended(address, driver, .failed(error, byAdapter: byAdapter)) }
    case .success(let connection):
      attempts[id]?.pending = nil
      attempts[id]?.connection = connection
      // Another manager may have established the link.
      attempt.pending?.cancel()
      driver.attach(
        connection, of: radio?.links, isNamed: attempt.isNamed,
        .init(
          established: { [radio] in
            if let radio, let central = radio.central {
              radio.links.connected.add(central.lastHeard(of: address)?.serviceUUIDs ?? [], of: address)
            }
            events.send { $0.established(address, driver) }
          },
          servicesChanged: { range in events.send { $0.servicesChanged(address, driver, range) } },
          mtu: { mtu in events.send { $0.changedMTU(address, driver, mtu) } },
          name: { name in events.send { $0.read(name: name, address, driver) } }))
      connection.whenDisconnected { [weak self] loss in self?.lost(id, loss) }
    }
  }

  private func lost(_ id: ObjectIdentifier, _ loss: LinkLoss) {
    guard let attempt = attempts.removeValue(forKey: id) else { return }
    let (driver, address) = (attempt.driver, attempt.address)
    driver.detach()
    let ending: ManagedConnection.Ending =
      switch (loss, delegateError(loss)) {
      case (.remote, let error?): .endedByPeripheral(error)
      case (.adapter, let error?): .endedByAdapter(error)
      default: .ended(attempt.isCancelled ? nil : Self.gaveUp)
      }
    events.send { $0.ended(address, driver, ending) }
  }

  /// Ends a link, or gives up an attempt that has none.
  func end(_ driver: LinkDriver) {
    let id = ObjectIdentifier(driver)
    guard let attempt = attempts[id] else { return }
    attempts[id]?.isCancelled = true
    let stays = leave(attempt)
    // The end of a link is reported when it has ended.
    if attempt.connection == nil || stays { giveUp(attempt, stays: stays) }
  }

  /// Ends an attempt that has no link, or one that stays for other managers.
  private func giveUp(_ attempt: Attempt, stays: Bool) {
    let (driver, address) = (attempt.driver, attempt.address)
    attempts[ObjectIdentifier(driver)] = nil
    driver.detach(unsubscribes: stays)
    events.send { $0.ended(address, driver, .givenUp) }
  }

  /// Stops waiting for a link, or leaves the one that there is.
  ///
  /// - Returns: whether the link stays, for other managers
  private func leave(_ attempt: Attempt) -> Bool {
    attempt.pending?.cancel()
    radio?.central?.timers.cancel(attempt.startTimer)
    return radio?.links.leave(attempt.address, user: attempt.driver) ?? false
  }
}
