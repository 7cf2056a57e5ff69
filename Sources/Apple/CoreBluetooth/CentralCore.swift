import Foundation
internal import GAP
internal import HCI
internal import HaloBluetoothCore
internal import HaloDevices
internal import HaloSystem

/// The loop's half of a central manager: its scan and its links on a radio that others may share.
@BluetoothActor
final class CentralCore {
  /// The connections of the radio, for this manager or for others; nil before the radio is known.
  nonisolated var connected: ConnectedServices? { connectedServices.withLock { $0 } }
  private let connectedServices = LockedValue<ConnectedServices?>(nil)

  private let events: ManagerEvents<CBCentralManager>
  private var radio: ManagedAdapter?
  private var release: (() -> Void)?
  private var observation: ManagedAdapter.Observation?
  private var scan: Central.Scan?
  /// The connections that have not ended.
  private var links: [ObjectIdentifier: PeripheralLink] = [:]

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
    let ended = links.values
    links = [:]
    for link in ended { link.shutDown() }
    release.take()?()
    radio = nil
  }

  private func changed(_ state: ManagedAdapter.State) {
    let failure = radio?.obstacle
    events.send { $0.update(CBManagerState(state), failure) }
    guard state != .poweredOn else { return }
    scan = nil
    for link in links.values { link.powerOff() }
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

  /// Begins a connection; the manager gets `ended` for each, whatever happens.
  ///
  /// - Parameter isNamed: whether the name of the peripheral is known
  func begin(
    _ link: PeripheralLink, to peer: PeerIdentity, _ options: ManagedConnection.Options, isNamed: Bool
  ) {
    guard let radio, let central = radio.central, radio.state == .poweredOn else {
      let error = CBError(.unknown, "the adapter is not powered on")
      return events.send { $0.ended(peer, link, .failed(error, byAdapter: true)) }
    }
    links[ObjectIdentifier(link)] = link
    let events = self.events
    link.begin(
      .init(peer: peer, radio: radio, central: central, delay: options.delay, isNamed: isNamed),
      .init(
        established: { events.send { $0.established(peer, link) } },
        servicesChanged: { range in events.send { $0.servicesChanged(peer, link, range) } },
        mtu: { mtu in events.send { $0.changedMTU(peer, link, mtu) } },
        name: { name in events.send { $0.read(name: name, peer, link) } },
        ended: { [weak self] ending in
          self?.links[ObjectIdentifier(link)] = nil
          events.send { $0.ended(peer, link, ending) }
        }))
  }

  /// Ends a link, or gives up to make one; nothing if it has ended.
  func end(_ link: PeripheralLink) { links[ObjectIdentifier(link)]?.end() }
}
