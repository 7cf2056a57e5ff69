import HaloRaw

/// An adapter in memory with peripherals in reach: advertisements every few milliseconds, links that carry each PDU a
/// little later.
@BluetoothActor
final class SimulatedRadio: Adapter {
  var onReport: ((AdvertisingReport, Instant) -> Void)?
  var onScanRefusal: ((HCIError?) -> Void)?
  var onFailure: ((HCIError) -> Void)?
  let timers: Timers
  /// How often peripherals advertise.
  private let period: Duration
  let peripherals: [SimulatedPeripheral]
  /// How often the desired scan has changed.
  private(set) var isScanning = false
  private var isActive = false
  private var ticker: Timers.Token?
  /// Why the adapter can't be used; nil while it can.
  private(set) var failure: HCIError?
  private var whenUsable: [() -> Void] = []
  private var waiting: [UInt64: () -> Void] = [:]
  private var nextID: UInt64 = 0

  /// - Parameters:
  ///   - peripherals: what is in reach
  ///   - timers: the time; by default that of the machine
  ///   - period: how often peripherals advertise
  ///   - failure: why the adapter can't be used at first
  init(
    _ peripherals: [SimulatedPeripheral], timers: Timers = EpollLoop.shared.timers,
    period: Duration = .milliseconds(2), failure: HCIError? = nil
  ) {
    self.peripherals = peripherals
    self.timers = timers
    self.period = period
    self.failure = failure
  }

  /// A radio in a time that the test advances.
  static func stepped(_ peripherals: [SimulatedPeripheral]) -> SimulatedRadio {
    SimulatedRadio(peripherals, timers: Timers())
  }

  func advance(by time: Duration) { timers.advance(by: time) }

  static let off = HCIError.adapter(AdapterError("go on with hci0", .adapterDown(nil)))

  func start() async throws(HCIError) -> AdapterInformation {
    if let failure { throw failure }
    return AdapterInformation(address: .zero, version: "5.0", usesExtendedScan: false)
  }

  func recover(within time: Duration) async throws(HCIError) -> AdapterInformation {
    if failure != nil {
      await awaitCallback { (done: @escaping (Result<Void, Never>) -> Void) in
        let end = OneShot { done(.success(())) }
        whenUsable.append { end() }
        return { end() }
      }
    }
    return try await start()
  }

  func fail(_ error: HCIError = SimulatedRadio.off) {
    failure = error
    timers.cancel(ticker)
    isScanning = false
    for peripheral in peripherals { peripheral.link?.close(.adapter(error)) }
    onFailure?(error)
  }

  func repair() {
    failure = nil
    let actions = whenUsable
    whenUsable = []
    for action in actions { action() }
  }

  func setScan(_ parameters: ScanParameters?) {
    isScanning = parameters != nil
    isActive = parameters?.isActive ?? false
    timers.cancel(ticker)
    if isScanning { tick() }
  }

  private func tick() {
    ticker = timers.schedule(after: period) { [weak self] in
      guard let self, isScanning else { return }
      for peripheral in peripherals where peripheral.isAdvertising {
        onReport?(peripheral.report(isResponse: false), timers.now)
        guard isActive, isScanning, peripheral.scanResponse != nil else { continue }
        if peripheral.lostResponses > 0 {
          peripheral.lostResponses -= 1
        } else {
          onReport?(peripheral.report(isResponse: true), timers.now)
        }
      }
      if isScanning { tick() }
    }
  }

  func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<any ATTLink, HCIError>) -> Void
  ) -> () -> Void {
    let end = OneShot(completion)
    if let failure {
      end(.failure(failure))
      return {}
    }
    end.expire(
      after: request.deadline, in: timers,
      with: .failure(.peerNotFound(request.peer, seconds: request.deadline.inSeconds)))
    timers.schedule(after: .milliseconds(1)) { [weak self] in
      guard let self, end.isPending,
        let peripheral = peripherals.first(where: { $0.address == request.peer && $0.isAdvertising })
      else { return }
      end(.success(peripheral.connect(timers)))
    }
    return { end(.failure(.cancelled)) }
  }

  func close() async {
    setScan(nil)
  }
}

/// A peripheral with a table of attributes.
@BluetoothActor
final class SimulatedPeripheral {
  let address: BluetoothAddress
  let advertisingData: AdvertisingData
  let scanResponse: AdvertisingData?
  /// The MTU that it agrees to, from the next link on.
  var mtu: UInt16 = 185
  /// How many scan responses are not heard.
  var lostResponses = 0
  /// In reach and switched on.
  var isPresent = true
  var rssi: Int8 = -50
  /// Takes nothing more from its link.
  var isStalled = false {
    didSet { if !isStalled { link?.onRoom?() } }
  }
  /// Takes written values; a value that is returned is notified behind the response.
  var onWrite: (_ handle: AttributeHandle, _ value: [UInt8]) -> [(AttributeHandle, [UInt8])] = { _, _ in [] }
  /// Answers a request in place of the server, if it returns something.
  var answer: (_ request: [UInt8]) -> [UInt8]? = { _ in nil }
  private(set) var writes: [(handle: AttributeHandle, value: [UInt8])] = []
  private(set) var link: SimulatedLink?
  /// Its links that exist, ended or not: a client that is not released keeps its link.
  fileprivate(set) var linkCount = 0
  /// All of its links until now.
  private(set) var connectionCount = 0
  private var server: UnlinkedServer
  private let attributes: [ServerAttribute]

  init(
    _ address: String, _ advertisingData: [ADStructure], scanResponse: [ADStructure]? = nil,
    _ attributes: [ServerAttribute]
  ) {
    guard let address = BluetoothAddress(address) else { fatalError("not an address: \(address)") }
    self.address = address
    self.advertisingData = AdvertisingData(advertisingData)
    self.scanResponse = scanResponse.map { AdvertisingData($0) }
    self.attributes = attributes
    server = UnlinkedServer(AttributeDatabase(attributes), mtu: 185)
  }

  var isAdvertising: Bool { isPresent && link == nil }

  fileprivate func report(isResponse: Bool) -> AdvertisingReport {
    AdvertisingReport(
      address: address,
      eventType: isResponse
        ? [.scanResponse, .scannable, .connectable, .legacy] : [.connectable, .scannable, .legacy],
      rssi: rssi, data: (isResponse ? scanResponse ?? AdvertisingData() : advertisingData).bytes)
  }

  fileprivate func connect(_ timers: Timers) -> SimulatedLink {
    server = UnlinkedServer(AttributeDatabase(attributes), mtu: Int(mtu))
    server.server.onEvent = { [weak self] event in
      if case .written(let handle, let value) = event { self?.written(value, to: handle) }
    }
    let link = SimulatedLink(self, timers)
    self.link = link
    connectionCount += 1
    return link
  }

  /// Goes out of reach.
  func vanish() {
    isPresent = false
    link?.close(.remote(.connectionTimeout))
  }

  func leave() { link?.close(.remote(.remoteUserTerminatedConnection)) }

  func notify(_ handle: AttributeHandle, _ value: [UInt8]) {
    switch server.server.configuration(of: handle) {
    case .notify: link?.deliver(ATTHandleValueNotification(handle, value: value).bytes)
    case .indicate: link?.deliver(ATTHandleValueIndication(handle, value: value).bytes)
    default: break
    }
  }

  fileprivate func receive(_ pdu: [UInt8]) {
    if let bytes = answer(pdu) {
      link?.deliver(bytes)
      return
    }
    server.bearer.receive(pdu.span.bytes, at: .zero)
    deliverAnswers()
  }

  private func deliverAnswers() { for pdu in server.takeSent() { link?.deliver(pdu) } }

  /// The response goes before what follows from the write.
  private func written(_ value: [UInt8], to handle: AttributeHandle) {
    deliverAnswers()
    writes.append((handle, value))
    for (handle, value) in onWrite(handle, value) { notify(handle, value) }
  }

  fileprivate func ended() { link = nil }
}

@BluetoothActor
final class SimulatedLink: ATTLink {
  var onPDU: ((RawSpan, Instant) -> Void)?
  var onClosed: ((LinkLoss) -> Void)?
  var onEvent: ((LinkEvent) -> Void)?
  var onRoom: (() -> Void)?
  let peer: BluetoothAddress
  let parameters: LinkParameters? = nil
  private let peripheral: SimulatedPeripheral
  private let timers: Timers
  /// PDUs on their way to the peripheral; more do not fit.
  private var underWay = 0
  private static let capacity = 4

  init(_ peripheral: SimulatedPeripheral, _ timers: Timers) {
    self.peripheral = peripheral
    self.timers = timers
    peer = peripheral.address
    peripheral.linkCount += 1
  }

  isolated deinit {
    peripheral.linkCount -= 1
  }

  var hasRoom: Bool { underWay < Self.capacity && !peripheral.isStalled }

  func send(_ pdu: RawSpan) {
    let bytes = Array(pdu)
    underWay += 1
    timers.schedule(after: .microseconds(100)) { [self] in
      underWay -= 1
      if peripheral.link === self { peripheral.receive(bytes) }
      onRoom?()
    }
  }

  /// Everything that is delivered in one step arrives in one read of the socket.
  func deliver(_ bytes: [UInt8]) {
    timers.schedule(after: .microseconds(100)) { [self] in
      if peripheral.link === self { onPDU?(bytes.span.bytes, timers.now) }
    }
  }

  func close(_ loss: LinkLoss) {
    guard peripheral.link === self else { return }
    peripheral.ended()
    onClosed.take()?(loss)
    onPDU = nil
    onRoom = nil
  }

  func disconnect() {
    timers.schedule(after: .microseconds(100)) { [self] in close(.local) }
  }

  func readRSSI() async throws(HCIError) -> Int8? { -42 }
}
