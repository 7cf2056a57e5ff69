import GAP
import HCI
import HaloBluetoothCore
import HaloSystem
import HaloRaw
import L2CAP
import HaloSimulation

/// The radio of a machine, with peripherals and other radios in its air. It can be switched off and on.
///
/// Its time is twenty times as fast as that of the machine, so that connection events and pauses cost the tests little.
/// It stands still while the loop does not run.
@BluetoothActor
final class SimulatedRadio: Adapter {
  var onReport: ((AdvertisingReport, Instant) -> Void)?
  var onScanRefusal: ((StackError?) -> Void)?
  var onFailure: ((StackError) -> Void)?
  var onAccepted: ((any ATTLink) -> Void)?
  let timers: Timers
  let peripherals: [SimulatedPeripheral]
  /// Why the adapter can't be used; nil while it can.
  private(set) var failure: StackError?
  var isScanning: Bool { scan != nil && failure == nil }

  private let medium: RadioMedium
  private let options: ControllerOptions
  /// The host and the way to its controller, while the radio is in use.
  private var host: (adapter: HCIAdapter, transport: SimulatedTransport)?
  private var scan: ScanParameters?
  private var advertisements: [ObjectIdentifier: (AdvertisingSet, Advertising)] = [:]
  private var links: [LinkOfPeer] = []
  private var whenUsable: [() -> Void] = []

  /// A link; nil once nothing keeps it.
  private struct LinkOfPeer {
    weak var link: (any ATTLink)?
    let peer: BluetoothAddress
  }

  /// - Parameters:
  ///   - peripherals: what is in reach
  ///   - timers: a time that the test advances; by default, the fast one
  ///   - failure: why the adapter can't be used at first
  init(_ peripherals: [SimulatedPeripheral], timers: Timers? = nil, failure: StackError? = nil) {
    self.peripherals = peripherals
    self.timers = timers ?? Timers()
    self.failure = failure
    medium = RadioMedium(timers: self.timers)
    options = ControllerOptions()
    for peripheral in peripherals { peripheral.enter(medium) }
    if timers == nil { run() }
  }

  /// The radio of another machine in the same air, with the same time.
  init(beside other: SimulatedRadio, _ address: String) {
    guard let address = BluetoothAddress(address) else { fatalError("not an address: \(address)") }
    (medium, timers, peripherals) = (other.medium, other.timers, [])
    var options = ControllerOptions()
    options.address = BluetoothAddress(address.value, .public)
    self.options = options
  }

  /// A radio in the time of the machine.
  static func inRealTime(_ peripherals: [SimulatedPeripheral]) -> SimulatedRadio {
    SimulatedRadio(peripherals, timers: EpollLoop.shared.timers)
  }

  private func run() {
    EpollLoop.shared.timers.schedule(after: .milliseconds(1)) { [weak self] in
      self?.timers.advance(by: .milliseconds(20))
      self?.run()
    }
  }

  // MARK: On and off

  static let off = StackError("go on with hci0", .adapterDown(nil))

  func start() async throws(StackError) -> AdapterInformation {
    if let failure { throw failure }
    let transport = SimulatedTransport(medium, options)
    let adapter = HCIAdapter(transport)
    host = (adapter, transport)
    adapter.onReport = { [weak self] report, time in self?.onReport?(report, time) }
    adapter.onScanRefusal = { [weak self] refusal in self?.onScanRefusal?(refusal) }
    adapter.onAccepted = { [weak self] link in
      guard let self, let onAccepted else { return link.disconnect() }
      onAccepted(link)
    }
    let information = try await adapter.start()
    adapter.setScan(scan)
    for (set, advertising) in advertisements.values { try advertise(advertising, in: set) }
    return information
  }

  func recover(within time: Duration) async throws(StackError) -> AdapterInformation {
    if failure != nil {
      await awaitCallback { (done: @escaping (Result<Void, Never>) -> Void) in
        let end = OneShot { done(.success(())) }
        whenUsable.append { end() }
        return { end() }
      }
    }
    return try await start()
  }

  /// The radio is switched off: its links are lost.
  func fail(_ error: StackError = SimulatedRadio.off) {
    failure = error
    let transport = host?.transport
    host = nil
    transport?.onClose?("the adapter was switched off")
    transport?.close()
    onFailure?(error)
  }

  func repair() {
    failure = nil
    let actions = whenUsable
    whenUsable = []
    for action in actions { action() }
  }

  // MARK: Use

  func setScan(_ parameters: ScanParameters?) {
    scan = parameters
    host?.adapter.setScan(parameters)
  }

  /// Why it does not advertise, whatever it is asked for; nil if it does.
  var advertisingRefusal: StackError? {
    didSet { for (set, advertising) in advertisements.values { try? advertise(advertising, in: set) } }
  }

  func setAdvertising(_ advertising: Advertising?, in set: AdvertisingSet) throws(StackError) {
    advertisements[ObjectIdentifier(set)] = advertising.map { (set, $0) }
    try advertise(advertising, in: set)
  }

  private func advertise(_ advertising: Advertising?, in set: AdvertisingSet) throws(StackError) {
    guard let host else { return }
    try host.adapter.setAdvertising(advertisingRefusal == nil ? advertising : nil, in: set)
    if advertising != nil, let advertisingRefusal { set.onResult?(advertisingRefusal) }
  }

  /// What the next attempts to connect end with, before others succeed.
  var failedAttempts: [HCIErrorCode] = []
  /// What the links that were asked for do without, one after the other.
  private(set) var leftOut: [Set<LinkProcedure>] = []

  func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<any ATTLink, StackError>) -> Void
  ) -> () -> Void {
    guard let host else {
      completion(.failure(failure ?? .notReady))
      return {}
    }
    leftOut.append(request.leftOut)
    if !failedAttempts.isEmpty {
      completion(.failure(.connectionFailed(request.peer, failedAttempts.removeFirst())))
      return {}
    }
    return host.adapter.connect(request) { [weak self] result in
      if case .success(let link) = result { self?.note(link) }
      completion(result)
    }
  }

  private func note(_ link: any ATTLink) {
    links.removeAll { $0.link == nil }
    links.append(LinkOfPeer(link: link, peer: link.peer))
  }

  func hasRoom(to peripheral: SimulatedPeripheral) -> Bool {
    links.first { $0.peer == peripheral.address }?.link?.hasRoom ?? false
  }

  /// How many links to a peripheral exist, ended or not: a client that is not released keeps its link.
  func linkCount(to peripheral: SimulatedPeripheral) -> Int {
    links.count { $0.link != nil && $0.peer == peripheral.address }
  }

  func close() async {
    await host?.adapter.close()
    host = nil
  }
}
