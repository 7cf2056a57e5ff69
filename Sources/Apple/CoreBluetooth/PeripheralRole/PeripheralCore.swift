internal import ATT
import Foundation
internal import GAP
internal import HaloGATT
internal import HCI
internal import HaloBluetoothCore
internal import HaloDevices

/// The loop's half of a peripheral manager: its services and its advertisement on a radio that others may share.
@BluetoothActor
final class PeripheralCore: ServedRadio.Member {
  typealias Place = PeripheralRole.Place
  typealias Update = (place: Place, value: [UInt8])

  let events: ManagerEvents<CBPeripheralManager>
  private var radio: ManagedAdapter?
  private var served: ServedRadio?
  private var release: (() -> Void)?
  private var observation: ManagedAdapter.Observation?
  private var services = PublishedServices()
  /// Updates for each central that its link has not taken.
  private var waiting: [PeerIdentity: [Update]] = [:]
  /// When centrals whose updates wait are not waited for any longer.
  private var patience: [PeerIdentity: Timers.Token] = [:]
  /// How long that takes, as in HaloRaw.
  private static let longestWait = Duration.seconds(1)
  /// How the request of each central is answered that was not.
  private var requests: [PeerIdentity: (number: Int, reply: (ATTErrorCode?, [UInt8]) -> Void)] = [:]
  private var requestCount = 0

  nonisolated init(_ events: ManagerEvents<CBPeripheralManager>) {
    self.events = events
  }

  func start(_ radio: ManagedAdapter, release: @escaping () -> Void) {
    self.radio = radio
    self.release = release
    let served = ServedRadio.of(radio)
    self.served = served
    served.join(self)
    observation = radio.observe { [weak self] in self?.changed($0) }
    if radio.state != .unknown { changed(radio.state) }
  }

  /// The manager is gone: its services and its advertisement end, and the links if no other manager uses them.
  func shutDown() async {
    observation?.cancel()
    let (served, release) = (self.served.take(), self.release.take())
    if let served { services.removeAll(from: served.database) }
    await served?.leave(self)
    release?()
    radio = nil
  }

  private func changed(_ state: ManagedAdapter.State) {
    if state == .poweredOn { served?.powerOn() }
    let failure = radio?.obstacle
    events.send { $0.update(CBManagerState(state), failure) }
  }

  // MARK: Services

  func add(_ definition: ServiceDefinition) {
    var failure: CBError?
    if let served {
      do throws(CBError) {
        try services.add(definition, to: served.database, LongValueHandler(read: read, write: write))
      } catch {
        failure = error
      }
    }
    events.send { [number = definition.number, failure] in $0.happened { $0.added(number, failure) } }
  }

  func remove(_ service: Int) {
    if let served { services.remove(service, from: served.database) }
  }

  // MARK: Advertising

  /// - Parameters:
  ///   - number: that of the call
  ///   - isReported: whether it is reported to the program: then a radio that refuses is asked again for a few seconds, and
  ///     else until it does
  func advertise(_ request: AdvertisementRequest, number: Int, isReported: Bool) async {
    var failure: CBError?
    do throws(CBError) {
      let (advertising, left) = try request.advertising()
      for uuid in left { reportMisuse("startAdvertising: there is no room for the service \(uuid)") }
      let limit = isReported ? AdvertisingStatus.usualLimit : nil
      try await served?.startAdvertising(self, advertising, name: request.name, within: limit)
    } catch {
      failure = error
    }
    events.send { [failure] in $0.happened { $0.started(number, failure) } }
  }

  func stopAdvertising() { served?.stopAdvertising(self) }

  // MARK: Requests

  private func read(
    _ handle: AttributeHandle, _ offset: Int, _ server: ServerBearer,
    _ reply: @escaping (Result<[UInt8], ATTErrorCode>) -> Void
  ) {
    guard let client = served?.client(of: server), let place = services.place(of: handle) else {
      return reply(.failure(.unlikelyError))
    }
    let part = PeripheralRole.Request.Part(place: place, offset: offset)
    ask(client, isRead: true, [part]) { code, value in reply(code.map { .failure($0) } ?? .success(value)) }
  }

  private func write(
    _ parts: [ATTPreparedWrite], _ server: ServerBearer, _ reply: ((ATTErrorCode?) -> Void)?
  ) {
    let all = parts.compactMap { part in
      services.place(of: part.handle).map {
        PeripheralRole.Request.Part(place: $0, offset: Int(part.offset), value: part.value)
      }
    }
    guard let client = served?.client(of: server), all.count == parts.count else {
      reply?(.unlikelyError)
      return
    }
    ask(client, isRead: false, all, reply.map { reply in { code, _ in reply(code) } })
  }

  private func ask(
    _ client: PeerIdentity, isRead: Bool, _ parts: [PeripheralRole.Request.Part],
    _ reply: ((ATTErrorCode?, [UInt8]) -> Void)?
  ) {
    var number: Int?
    if let reply {
      requestCount += 1
      number = requestCount
      requests[client] = (requestCount, reply)
    }
    let request = PeripheralRole.Request(client: client, number: number, isRead: isRead, parts: parts)
    events.send { $0.happened { $0.asked(request) } }
  }

  func answer(_ client: PeerIdentity, _ number: Int, _ code: ATTErrorCode?, _ value: [UInt8]) {
    guard let request = requests[client], request.number == number else { return }
    requests[client] = nil
    request.reply(code, value)
  }

  // MARK: Updates

  func send(_ value: [UInt8], _ place: Place, to clients: [PeerIdentity]) {
    for client in clients {
      waiting[client, default: []].append((place, value))
      push(client)
    }
  }

  /// Hands as many updates to the link as it takes.
  private func push(_ client: PeerIdentity) {
    while let update = waiting[client]?.first {
      let delivery = deliver(update, to: client)
      guard delivery != .full else { return wait(for: client) }
      forgetPatience(client)
      waiting[client]?.removeFirst()
      events.send { $0.happened { $0.sent(to: client) } }
    }
    waiting[client] = nil
  }

  private func wait(for client: PeerIdentity) {
    guard patience[client] == nil else { return }
    patience[client] = radio?.central?.timers.schedule(after: Self.longestWait) { [weak self] in
      self?.events.send { $0.happened { $0.stalled(client) } }
    }
  }

  private func forgetPatience(_ client: PeerIdentity) {
    if let token = patience.removeValue(forKey: client) { radio?.central?.timers.cancel(token) }
  }

  private func deliver(_ update: Update, to client: PeerIdentity) -> ServerBearer.Delivery {
    guard let server = served?.link(to: client)?.server, let handle = services.handle(of: update.place) else {
      return .notSubscribed
    }
    return server.push(update.value, of: handle)
  }

  /// Asks a central for another connection interval.
  func setLatency(_ latency: CBPeripheralManagerConnectionLatency, for client: PeerIdentity) {
    guard let link = served?.link(to: client) else { return }
    BluetoothActor.run { _ = try? await link.updateParameters(ConnectionParameters(latency)) }
  }

  func advertises(_ isOn: Bool) { events.send { $0.happened { $0.advertises(isOn) } } }

  func connected(_ client: PeerIdentity, mtu: Int) { events.send { $0.connected(client, mtu: mtu) } }

  func configured(_ client: PeerIdentity, _ value: AttributeHandle, wants: Bool) {
    guard let place = services.place(of: value) else { return }
    events.send { $0.happened { $0.configured(place, client, wants: wants) } }
  }

  func ready(_ client: PeerIdentity) { push(client) }

  func left(_ client: PeerIdentity) {
    waiting[client] = nil
    forgetPatience(client)
    requests[client] = nil
    events.send { $0.left(client) }
  }
}

extension ConnectionParameters {
  /// The parameters within Apple's rules for accessories: intervals in steps of 15 ms.
  fileprivate init(_ latency: CBPeripheralManagerConnectionLatency) {
    let (shortest, longest): (Duration, Duration) =
      switch latency {
      case .low: (.milliseconds(15), .milliseconds(15))
      case .medium: (.milliseconds(30), .milliseconds(60))
      case .high: (.milliseconds(105), .milliseconds(195))
      }
    self.init(
      intervalMin: ConnectionInterval(shortest), intervalMax: ConnectionInterval(longest),
      supervisionTimeout: SupervisionTimeout(.seconds(6)))
  }
}
