import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloDevices
import HaloSystem

/// The services of a radio for other devices, while `Radio.serve` runs.
@BluetoothActor
public final class Server {
  /// The address that other devices see; with private addresses, the one that stays.
  public nonisolated let address: BluetoothAddress

  /// The data that the server advertises besides its services.
  struct Presence {
    var name = ""
    var appearance: AppearanceValue?
    var data = AdvertisingData(localName: nil)
  }

  var database: AttributeDatabase { offered.database }
  private let offered = OfferedServices()
  private let peripheral: Peripheral
  @exclusivity(unchecked) private var clients: [ServedClient] = []
  private var listeners = Feeds<Connection>()
  private var configured: [AttributeHandle: (Int) -> Void] = [:]
  private var isOver = false
  private var presence = Presence()
  /// Who waits for a client to take values again.
  private var waiting = Waiters<BluetoothError>()
  private let timers: Timers
  private let links: SharedLinks
  /// How long a client that takes nothing is waited for.
  private static let patience = Duration.seconds(1)

  init(_ radio: Radio, maximumConnections: Int, admission: LinkAdmission) {
    address = radio.central.information?.address ?? .zero
    timers = radio.central.timers
    links = radio.managed.links
    peripheral = Peripheral(
      radio.adapter, serving: offered.database, maximumConnections: max(1, maximumConnections))
    peripheral.admission = admission
    peripheral.onConnection = { [unowned self] link in
      links.accepted(link)
      connected(link, isListed: true)
    }
  }

  /// The devices that connect. The first elements are those that are connected already.
  ///
  /// Each is a ``Connection``: the services of that device can be used, too. It ends when the device goes.
  ///
  /// - **Cancelled**: the iteration ends.
  /// - **The server ends**: the iteration ends.
  public nonisolated var connections: Values<Connection> {
    Values(keepingNewest: 256) { feed throws(BluetoothError) in
      guard !self.isOver else {
        feed.finish()
        return {}
      }
      for client in self.clients where client.isListed { feed.send(client.connection) }
      let id = self.listeners.add(feed)
      return { self.listeners.remove(id) }
    }
  }

  /// Why other devices do not find it: the radio refuses to advertise, and is asked again. Nil while it advertises, and while as
  /// many devices are connected as may be.
  public var advertisingFailure: BluetoothError? { peripheral.status.refusal.map { BluetoothError($0) } }

  // MARK: Clients

  /// A device to which this side has connected may use the services on the same link: there is one link to a device.
  private func serve(_ link: GATTLink) {
    link.serve(database)
    connected(link, isListed: false)
  }

  private func connected(_ link: GATTLink, isListed: Bool) {
    guard let server = link.server else { return }
    let client = ServedClient(Connection(ConnectionCore(link)), server)
    clients.append(client)
    server.onReady = { [self, unowned client] in
      client.isStalled = false
      waiting.end(with: .success(()))
    }
    // A server exists for as long as its links.
    server.onEvent = { [self] event in
      if case .configured(let handle, _) = event { configured[handle]?(subscriberCount(of: handle)) }
    }
    link.whenDisconnected { [weak self, weak client] _ in
      if let client { self?.left(client) }
    }
    client.isListed = isListed
    if isListed { listeners.send(client.connection) }
  }

  private func left(_ client: ServedClient) {
    clients.removeAll { $0 === client }
    client.end()
    waiting.end(with: .success(()))
  }

  /// Sends a value to the clients that have room for it.
  ///
  /// - Parameter connection: the only client to send to; nil for all
  func push(
    _ value: [UInt8], of handle: AttributeHandle, to connection: Connection?, keepsOnlyNewest: Bool
  ) -> Outcome {
    var outcome = Outcome()
    for client in clients where connection == nil || client.connection === connection {
      let delivery = client.server.push(value, of: handle, replacesWaiting: keepsOnlyNewest)
      outcome.add(client, delivery, isCut: client.cuts(value.count))
    }
    return outcome
  }

  /// Sends a value to those that had no room for it, when they have some. One that takes nothing for a second is not waited for,
  /// then and later, unless no other one has taken the value.
  ///
  /// - Parameter length: that of the value in bytes
  func push(
    _ length: Int, after first: Outcome, _ push: (ServedClient) -> ServerBearer.Delivery
  ) async throws(BluetoothError) -> Deliveries {
    var outcome = first
    let timers = self.timers
    let end = timers.current + Self.patience
    while !outcome.full.isEmpty {
      if outcome.isTaken, timers.current >= end { for client in outcome.full { client.isStalled = true } }
      if outcome.isTaken, outcome.full.allSatisfy(\.isStalled) { break }
      try await untilReady(outcome.full, within: outcome.isTaken ? end - timers.current : nil)
      let waiting = outcome.full
      outcome.full = []
      for client in waiting { outcome.add(client, push(client), isCut: client.cuts(length)) }
    }
    outcome.deliveries.full = outcome.full.map(\.connection)
    return outcome.deliveries
  }

  /// Returns when one of the clients takes values again, or has gone, or after `limit`.
  private func untilReady(_ full: [ServedClient], within limit: Duration?) async throws(BluetoothError) {
    let timers = self.timers
    let isReady = { full.contains { !$0.server.needsReadyCallback || $0.server.isClosed } }
    try await awaitCallback(unless: isReady()) { (done: @escaping (Result<Void, BluetoothError>) -> Void) in
      let wait = waiting.add(done)
      if let limit { wait.end.expire(after: limit, in: timers, with: .success(())) }
      return { self.waiting.end(wait.id, with: .cancelled) }
    }
  }

  func subscriberCount(of handle: AttributeHandle) -> Int {
    clients.count { !$0.server.configuration(of: handle).isEmpty }
  }

  /// Calls `handler` with the number of clients that want a value, when it changes.
  func whenConfigured(_ handle: AttributeHandle, _ handler: ((Int) -> Void)?) {
    configured[handle] = handler
  }

  /// Lets the program answer a request.
  ///
  /// - Parameters:
  ///   - client: who has asked
  ///   - work: calls the program
  ///   - then: sends its answer
  func answer<Answer: Sendable>(
    _ client: ServerBearer, _ work: @escaping @Sendable (Connection) async -> Answer,
    then: @escaping @BluetoothActor (Answer) -> Void
  ) {
    clients.first { $0.server === client }?.answer(work, then)
  }

  /// The same for a write, when those before it are done.
  func takeWrite(
    of client: ServerBearer, _ work: @escaping @Sendable (Connection) async -> ATTErrorCode?,
    then: @escaping @BluetoothActor (ATTErrorCode?) -> Void
  ) {
    clients.first { $0.server === client }?.takeWrite(ClientWrite(work: work, then: then))
  }

  // MARK: Beginning and end

  func start(
    _ services: [LocalService], _ name: String, _ appearance: AppearanceValue?,
    _ preferred: PreferredConnectionParameters?
  ) throws(BluetoothError) {
    presence = Presence(name: name, appearance: appearance)
    database.addGenericAccess(
      name: name, appearance: appearance?.rawValue ?? 0, preferred: preferred ?? .any,
      resolvesAddresses: peripheral.resolvesAddresses)
    database.addGenericAttribute(hash: LibcryptoCryptography.databaseHash)
    for service in services { try offered.add(service, to: self) }
    try advertise()
    for link in links.made { serve(link) }
    links.onMade = { [weak self] link in self?.serve(link) }
  }

  /// Waits until the radio advertises.
  func untilAdvertising() async throws(BluetoothError) {
    do throws(StackError) {
      try await peripheral.untilAdvertising(within: AdvertisingStatus.usualLimit)
    } catch {
      throw BluetoothError(error)
    }
  }

  /// Ends the links of the devices that have connected; to others, nothing is offered any more.
  func stop() async {
    isOver = true
    links.onMade = nil
    for client in clients where !client.isListed {
      client.connection.core.live.link.endServing()
      left(client)
    }
    await peripheral.stop()
    offered.removeAll(from: self)
    listeners.finish()
  }

  // MARK: Services

  /// Offers another service from now on. Clients that have subscribed to Service Changed get an indication.
  ///
  /// - **Misuse**: a service, or a characteristic, that is served already, an included service that is not, or more than there
  ///   is room for: `.invalidValue`, and nothing is added; after the end of the server: `.closed`.
  public func add(_ service: LocalService) throws {
    guard !isOver else { throw BluetoothError.closed }
    try offered.add(service, to: self)
    do throws(BluetoothError) {
      try advertise()
    } catch {
      try offered.remove(service, from: self)
      throw error
    }
  }

  /// Removes a service. Clients that have subscribed to Service Changed get an indication.
  ///
  /// - **Misuse**: a service that is not served, or that another one includes: `.invalidValue`; after the end of the server:
  ///   `.closed`.
  public func remove(_ service: LocalService) throws {
    guard !isOver else { throw BluetoothError.closed }
    try offered.remove(service, from: self)
    try advertise()
  }

  /// Advertises another name, or other data, from now on. Clients that are connected read the name, too.
  ///
  /// - **Misuse**: data that do not fit are `.invalidValue`, and nothing changes; after the end of the server: `.closed`.
  ///
  /// - Parameters:
  ///   - name: the name; nil for the current one
  ///   - data: the data of the advertisement besides the services, such as data of a company; nil for the current ones
  public func change(name: String? = nil, data: AdvertisingData? = nil) throws {
    guard !isOver else { throw BluetoothError.closed }
    let last = presence
    presence.name = name ?? last.name
    presence.data = data ?? last.data
    do throws(BluetoothError) {
      try advertise()
    } catch {
      presence = last
      throw error
    }
    if let handle = database.handles(of: GATTUUID.deviceName).first {
      try? database.setValue(presence.name.encoded, of: handle)
    }
  }

  private func advertise() throws(BluetoothError) {
    let advertising = try Self.advertising(offered.services, presence)
    do throws(StackError) {
      try peripheral.startAdvertising(advertising)
    } catch {
      throw BluetoothError(error)
    }
  }
}

/// A write of a client, for a closure of the program.
private struct ClientWrite {
  let work: @Sendable (Connection) async -> ATTErrorCode?
  let then: @BluetoothActor (ATTErrorCode?) -> Void
}

/// A device that uses the services.
@BluetoothActor
final class ServedClient {
  let connection: Connection
  let server: ServerBearer
  /// Whether the device has connected; otherwise this side has.
  var isListed = false
  /// Whether it has taken nothing for so long that it is not waited for.
  var isStalled = false
  private var answers: [UInt64: Task<Void, Never>] = [:]
  private var nextAnswer: UInt64 = 0
  /// The number of the write that is being done, and those that wait for its end.
  private var writing: UInt64?
  private var waiting: [ClientWrite] = []
  private static let waitingLimit = 1024

  init(_ connection: Connection, _ server: ServerBearer) {
    self.connection = connection
    self.server = server
  }

  /// Whether a value is longer than fits into a PDU.
  func cuts(_ length: Int) -> Bool { length > server.mtu - 3 }

  func answer<Answer: Sendable>(
    _ work: @escaping @Sendable (Connection) async -> Answer,
    _ then: @escaping @BluetoothActor (Answer) -> Void
  ) {
    let id = nextAnswer
    nextAnswer += 1
    let connection = self.connection
    answers[id] = BluetoothActor.run { [self] in
      let answer = await work(connection)
      answers[id] = nil
      then(answer)
    }
  }

  fileprivate func takeWrite(_ write: ClientWrite) {
    guard writing != nil else { return begin(write) }
    guard waiting.count < Self.waitingLimit else { return write.then(.insufficientResources) }
    waiting.append(write)
  }

  private func begin(_ write: ClientWrite) {
    let number = nextAnswer
    writing = number
    let timers = connection.core.live.link.timers
    // The client has been refused then.
    let limit = timers.schedule(after: ServerBearer.answerLimit) { [weak self] in self?.ended(number) }
    answer(write.work) { [weak self] refusal in
      timers.cancel(limit)
      write.then(refusal)
      self?.ended(number)
    }
  }

  private func ended(_ number: UInt64) {
    guard writing == number else { return }
    writing = nil
    if !waiting.isEmpty { begin(waiting.removeFirst()) }
  }

  /// The link has ended.
  func end() {
    waiting = []
    server.onEvent = nil
    server.onReady = nil
    for task in answers.values { task.cancel() }
    answers = [:]
  }
}
