import Foundation
internal import HaloRaw

/// The loop's half of a central manager: its scan and its links on a radio that others may share.
@BluetoothActor
final class CentralCore {
  private struct Entry {
    let link: LinkDriver
    let isNamed: Bool
    let reconnects: Bool
    var pending: PendingConnection?
    var startTimer: Timers.Token?
    var client: GATTClient?
    /// Whether the program has asked for the end of the link.
    var isCancelled = false
  }

  /// How long the peripheral may take to connect once it has been heard.
  private static let attemptTime = Duration.seconds(10)
  /// The end of a link that neither the program nor the peripheral has asked for.
  private static let gaveUp: any Error & Sendable = CBError(
    .connectionTimeout, "the connection was ended, as the peripheral did not answer in time")

  private let events: ManagerEvents
  private var radio: Radio?
  private var release: (() -> Void)?
  private var observation: Radio.Observation?
  private var scan: Central.Scan?
  private var entries: [BluetoothAddress: Entry] = [:]

  nonisolated init(_ events: ManagerEvents) {
    self.events = events
  }

  func start(_ radio: Radio, release: @escaping () -> Void) {
    self.radio = radio
    self.release = release
    observation = radio.observe { [weak self] in self?.changed($0) }
    if radio.state != .unknown { changed(radio.state) }
  }

  /// The manager is gone: its scan and its links end, and nothing else.
  func shutDown() {
    observation?.cancel()
    scan?.cancel()
    scan = nil
    let ended = entries
    entries = [:]
    for (address, entry) in ended {
      entry.pending?.cancel()
      radio?.central?.timers.cancel(entry.startTimer)
      leave(address, entry)
    }
    release.take()?()
    radio = nil
  }

  private func changed(_ state: Radio.State) {
    if state != .poweredOn {
      scan = nil
      for (address, entry) in entries where entry.client == nil {
        radio?.links.leave(address, user: entry.link)
        entry.pending?.cancel()
        entries[address] = nil
      }
    }
    let failure = radio?.failure
    events.send { $0.update(CBManagerState(state), failure) }
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
    scan?.cancel()
    scan = nil
  }

  // MARK: Connections

  func connect(
    _ address: BluetoothAddress, isNamed: Bool, after delay: Duration, reconnects: Bool
  ) {
    guard entries[address] == nil else { return }
    guard let central = radio?.central, radio?.state == .poweredOn else {
      return events.send {
        $0.failed(address, isForgotten: false, CBError(.unknown, "the adapter is not powered on"))
      }
    }
    var entry = Entry(link: LinkDriver(), isNamed: isNamed, reconnects: reconnects)
    if delay > .zero {
      entry.startTimer = central.timers.schedule(after: delay) { [weak self] in self?.begin(address) }
      entries[address] = entry
    } else {
      entries[address] = entry
      begin(address)
    }
  }

  private func begin(_ address: BluetoothAddress) {
    guard let central = radio?.central, let link = entries[address]?.link else { return }
    entries[address]?.startTimer = nil
    if let client = radio?.links.client(of: address) { return finished(address, link, .success(client)) }
    radio?.links.whenLinked(to: address, user: link) { [weak self] client in
      self?.finished(address, link, .success(client))
    }
    let request = ConnectionRequest(peer: address, deadline: Self.attemptTime)
    let pending = central.connectWhenHeard(request) { [weak self] result in
      self?.finished(address, link, result)
    }
    if entries[address]?.link === link, entries[address]?.client == nil {
      entries[address]?.pending = pending
    }
  }

  private func finished(
    _ address: BluetoothAddress, _ link: LinkDriver, _ result: Result<GATTClient, BluetoothError>
  ) {
    guard let entry = entries[address], entry.link === link, entry.client == nil else { return }
    switch result {
    case .failure(let error):
      entries[address] = nil
      radio?.links.leave(address, user: link)
      var isForgotten = radio?.state == .poweredOn
      if case .hci(.adapter) = error { isForgotten = false }
      let error = delegateError(error)
      events.send { [isForgotten] in $0.failed(address, isForgotten: isForgotten, error) }
    case .success(let client):
      entries[address]?.pending = nil
      entries[address]?.client = client
      // Another manager may have established the link.
      entry.pending?.cancel()
      let events = events
      events.send { $0.connected(address, link) }
      link.attach(
        client, of: radio?.links, isNamed: entry.isNamed,
        .init(
          servicesChanged: { range in events.send { $0.servicesChanged(address, link, range) } },
          mtu: { mtu in events.send { $0.changedMTU(address, link, mtu) } },
          name: { name in events.send { $0.read(name: name, address, link) } }))
      client.whenDisconnected { [weak self] loss in self?.ended(address, link, loss) }
    }
  }

  private func ended(_ address: BluetoothAddress, _ link: LinkDriver, _ loss: LinkLoss) {
    link.detach()
    guard let entry = entries[address], entry.link === link else { return }
    entries[address] = nil
    let isReconnecting = if case .remote = loss { entry.reconnects } else { false }
    let isForgotten = if case .adapter = loss { false } else { true }
    let error = delegateError(loss) ?? (entry.isCancelled ? nil : Self.gaveUp)
    events.send {
      $0.disconnected(address, isReconnecting: isReconnecting, isForgotten: isForgotten, error)
    }
    if isReconnecting { connect(address, isNamed: true, after: .zero, reconnects: true) }
  }

  /// Ends a link, or gives up a connection that is not established.
  func cancel(_ address: BluetoothAddress) {
    guard let entry = entries[address] else { return }
    entries[address]?.isCancelled = true
    let stays = leave(address, entry)
    // The end of a link is reported when it has ended.
    guard entry.client == nil || stays else { return }
    entries[address] = nil
    entry.pending?.cancel()
    radio?.central?.timers.cancel(entry.startTimer)
    events.send { $0.disconnected(address, isReconnecting: false, isForgotten: true, nil) }
  }

  /// Leaves a link, which ends if no other manager uses it.
  ///
  /// - Returns: whether it stays
  @discardableResult
  private func leave(_ address: BluetoothAddress, _ entry: Entry) -> Bool {
    let stays = radio?.links.leave(address, user: entry.link) ?? false
    if stays || entries[address] == nil { entry.link.detach(unsubscribes: stays) }
    return stays
  }
}

extension CBManagerState {
  fileprivate init(_ state: Radio.State) {
    self =
      switch state {
      case .unknown: .unknown
      case .resetting: .resetting
      case .unsupported: .unsupported
      case .unauthorized: .unauthorized
      case .poweredOff: .poweredOff
      case .poweredOn: .poweredOn
      }
  }
}

/// The way from the loop to a manager: its methods are called on its queue, in the order of the calls.
final class ManagerEvents: @unchecked Sendable {
  let callbacks: CallbackQueue
  /// Set once, before anything is sent.
  weak var manager: CBCentralManager?

  init(_ callbacks: CallbackQueue) {
    self.callbacks = callbacks
  }

  func send(_ body: @escaping @Sendable (CBCentralManager) -> Void) {
    callbacks.async { [weak self] in
      if let manager = self?.manager { body(manager) }
    }
  }
}
