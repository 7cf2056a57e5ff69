package import HaloBluetoothCore
package import HaloRaw

/// The peripheral role of a manager, as a value: the services of the program, and their clients. Calls of the program and
/// events of the loop go in; commands for the loop, and reports for the delegate, come out.
///
/// - Each `add` and each `startAdvertising` that is not ignored has one report, whatever happens. The reports of each of the
///   two have the order of the calls.
/// - Each request of a central is answered at most once.
/// - An update that is refused is followed by one ``Report/ready``, unless the adapter is switched off.
package struct PeripheralRole: Sendable {
  private enum Stage {
    /// Offered before, by an earlier run of the program. It is added when the adapter can be used.
    case restored
    case adding
    case added
  }

  private enum Advertising: Equatable {
    case off
    case restored
    /// With the number of the call.
    case starting(Int)
    case on
    /// The radio refuses it for now.
    case refused
  }

  private var state = CBManagerState.unknown
  /// Whether the adapter was powered on since everything was taken away last.
  private var wasOn = false
  private var services: [Int: Stage] = [:]
  /// The calls of `add` whose report is to come, by their services.
  private var adds = CallsInOrder()
  private var advertising = Advertising.off
  private var startCount = 0
  /// The calls of `startAdvertising` whose report is to come.
  private var starts = CallsInOrder()
  private var subscribers: [Place: [PeerIdentity]] = [:]
  private var credits = UpdateCredits()
  /// The request of each central that was not answered.
  private var open: [PeerIdentity: Int] = [:]

  package init() {}

  /// True also of restored advertising, from the beginning on: a program ends that before it advertises something else.
  package var isAdvertising: Bool {
    switch advertising {
    case .on, .restored: true
    // The program gets reports of its own start alone.
    case .starting(let number): !starts.contains(number)
    case .off, .refused: false
    }
  }

  /// Whether the program wants to advertise, also while the adapter is off.
  package var wantsAdvertising: Bool { advertising != .off }

  package func offers(_ service: Int) -> Bool { services[service] != nil }

  /// Whether the manager has a service, or has still to report about it.
  package func knows(_ service: Int) -> Bool { services[service] != nil || adds.contains(service) }

  /// The services that are offered, or about to be.
  package var offered: [Int] { services.keys.sorted() }

  package func subscribers(of place: Place) -> [PeerIdentity] { subscribers[place, default: []] }

  private func ignored(_ call: String) -> Effects? {
    guard state != .poweredOn else { return nil }
    return Effects(misuse: "\(call) has no effect in the state \(state); wait for poweredOn")
  }

  /// - Parameter refusal: why the service can't be offered; nil if it can
  package mutating func add(_ service: Int, refusal: CBError?) -> Effects {
    if let ignored = ignored("add") { return ignored }
    adds.append(service)
    if let refusal { return added(service, refusal) }
    services[service] = .adding
    return Effects([.add(service)])
  }

  /// The loop has added a service, or has failed to.
  package mutating func added(_ service: Int, _ error: CBError?) -> Effects {
    if case .adding = services[service] { services[service] = error == nil ? .added : nil }
    return Effects([], adds.answered(service, with: .added(service, error)))
  }

  /// - Parameter service: nil for one that was not added
  package mutating func remove(_ service: Int?) -> Effects {
    if let ignored = ignored("remove") { return ignored }
    guard let service, offers(service) else { return Effects(misuse: "remove: the service was not added") }
    return takeAway(service)
  }

  package mutating func removeAll() -> Effects {
    ignored("removeAllServices") ?? takeAwayAll()
  }

  private mutating func takeAwayAll() -> Effects {
    offered.reduce(into: Effects()) { all, service in
      let effects = takeAway(service)
      all.commands += effects.commands
      all.reports += effects.reports
    }
  }

  private mutating func takeAway(_ service: Int) -> Effects {
    if case .restored = services.removeValue(forKey: service) { return Effects() }
    var effects = Effects([.remove(service)])
    for place in subscribers.keys.filter({ $0.service == service }).sorted(by: { $0.index < $1.index }) {
      for client in subscribers.removeValue(forKey: place) ?? [] {
        effects.reports.append(.unsubscribed(client, place))
      }
    }
    return effects
  }

  /// - Parameter refusal: why the data can't be advertised; nil if they can
  package mutating func startAdvertising(refusal: CBError? = nil) -> Effects {
    if let ignored = ignored("startAdvertising") { return ignored }
    let refusal = advertising == .off ? refusal : CBError(.alreadyAdvertising)
    startCount += 1
    starts.append(startCount)
    if let refusal { return started(startCount, refusal) }
    advertising = .starting(startCount)
    return Effects([.advertise(startCount, isReported: true)])
  }

  /// The radio advertises now, or does not.
  package mutating func started(_ number: Int, _ error: CBError?) -> Effects {
    if advertising == .starting(number) { advertising = error == nil ? .on : .off }
    return Effects([], starts.answered(number, with: .started(error)))
  }

  /// The radio advertises again, or refuses to go on and is asked again. Nothing is reported: there is no such call.
  package mutating func advertises(_ isOn: Bool) -> Effects {
    switch (advertising, isOn) {
    case (.on, false): advertising = .refused
    case (.refused, true): advertising = .on
    case (.off, _), (.restored, _), (.starting, _), (.on, true), (.refused, false): break
    }
    return Effects()
  }

  package mutating func stopAdvertising() -> Effects {
    if let ignored = ignored("stopAdvertising") { return ignored }
    return endAdvertising()
  }

  private mutating func endAdvertising() -> Effects {
    defer { advertising = .off }
    switch advertising {
    case .off, .restored: return Effects()
    case .starting, .on, .refused: return Effects([.stopAdvertising])
    }
  }

  /// Takes up the services and the advertising of an earlier run of the program. Nothing of it is reported.
  package mutating func restore(_ services: [Int], advertises: Bool) {
    for service in services { self.services[service] = .restored }
    if advertises { advertising = .restored }
  }

  /// The state has changed. Below poweredOn, all centrals are gone; below poweredOff, nothing is offered any more.
  package mutating func changed(to new: CBManagerState) -> Effects {
    state = new
    if new == .poweredOn { return resume() }
    var effects = Effects()
    for client in clients { effects.reports += leave(client) }
    credits = UpdateCredits()
    // Restored state waits for its adapter.
    guard wasOn, new.rawValue < CBManagerState.poweredOff.rawValue else { return effects }
    wasOn = false
    let (removed, ended) = (takeAwayAll(), endAdvertising())
    effects.commands += removed.commands + ended.commands
    effects.reports += removed.reports
    return effects
  }

  private mutating func resume() -> Effects {
    wasOn = true
    var effects = Effects()
    for service in offered {
      guard case .restored = services[service] else { continue }
      services[service] = .adding
      effects.commands.append(.add(service))
    }
    guard advertising == .restored else { return effects }
    startCount += 1
    advertising = .starting(startCount)
    effects.commands.append(.advertise(startCount, isReported: false))
    return effects
  }

  private var clients: [PeerIdentity] {
    Set(subscribers.values.joined()).union(open.keys).sorted { $0.address.value < $1.address.value }
  }

  /// A central has configured a characteristic.
  package mutating func configured(_ place: Place, _ client: PeerIdentity, wants: Bool) -> Effects {
    guard state == .poweredOn, services[place.service] != nil else { return Effects() }
    let has = subscribers(of: place).contains(client)
    guard wants != has else { return Effects() }
    if wants {
      subscribers[place, default: []].append(client)
      return Effects([], [.subscribed(client, place)])
    }
    unsubscribe(client, place)
    return Effects([], [.unsubscribed(client, place)])
  }

  private mutating func unsubscribe(_ client: PeerIdentity, _ place: Place) {
    subscribers[place]?.removeAll { $0 == client }
    if subscribers[place]?.isEmpty ?? false { subscribers[place] = nil }
  }

  /// The link to a central has ended.
  package mutating func left(_ client: PeerIdentity) -> Effects {
    var reports = leave(client)
    if credits.left(client) { reports.append(.ready) }
    return Effects([], reports)
  }

  private mutating func leave(_ client: PeerIdentity) -> [Report] {
    open[client] = nil
    let places = subscribers.filter { $0.value.contains(client) }.keys
    return places.sorted { ($0.service, $0.index) < ($1.service, $1.index) }.map { place in
      unsubscribe(client, place)
      return .unsubscribed(client, place)
    }
  }

  /// A central has read or written. Its request before has expired, if it was not answered.
  package mutating func asked(_ request: Request) -> Effects {
    guard state == .poweredOn, request.parts.allSatisfy({ services[$0.place.service] != nil }) else {
      return Effects(request.number.map { [.answer(request.client, $0, .unlikelyError, [])] } ?? [])
    }
    if let number = request.number { open[request.client] = number }
    return Effects([], [.requested(request)])
  }

  /// - Parameters:
  ///   - client: the client of the request
  ///   - number: that of the request; nil for a command
  ///   - code: the reason for a refusal; nil if it is not refused
  ///   - value: the value to read
  package mutating func respond(
    _ client: PeerIdentity, _ number: Int?, _ code: ATTErrorCode?, _ value: [UInt8]
  ) -> Effects {
    guard let number else { return Effects() }
    guard open[client] == number else {
      return Effects(
        misuse: "respond has no effect: the request was answered, has expired, or its central has left")
    }
    open[client] = nil
    return Effects([.answer(client, number, code, value)])
  }

  /// - Parameter chosen: the centrals to send to; nil for all
  /// - Returns: whether it is sent, or will be, but to centrals that have taken nothing for a while; if not, no central gets it
  package mutating func update(
    _ value: [UInt8], _ place: Place?, to chosen: [PeerIdentity]?
  ) -> (Bool, Effects) {
    if let ignored = ignored("updateValue") { return (false, ignored) }
    guard let place else { return (true, Effects()) }
    let clients = subscribers(of: place).filter { chosen?.contains($0) ?? true }
    guard !clients.isEmpty else { return (true, Effects()) }
    guard let takers = credits.take(for: clients) else { return (false, Effects()) }
    return (true, Effects([.send(value, place, to: takers)]))
  }

  /// A central has taken no update for a while: the others do not wait for it.
  package mutating func stalled(_ client: PeerIdentity) -> Effects {
    Effects([], credits.stall(client) ? [.ready] : [])
  }

  /// The loop has handed an update to the link of a central, or has dropped it.
  package mutating func sent(to client: PeerIdentity) -> Effects {
    Effects([], credits.give(client) ? [.ready] : [])
  }
}

// MARK: Services

// MARK: Advertising

// MARK: The adapter

// MARK: Centrals

/// The calls of one kind whose report is to come, and the reports that wait for those of earlier calls.
private struct CallsInOrder: Sendable {
  private var calls: [(number: Int, report: PeripheralRole.Report?)] = []

  func contains(_ number: Int) -> Bool { calls.contains { $0.number == number } }

  mutating func append(_ number: Int) { calls.append((number, nil)) }

  /// - Returns: the reports of this call; none for a call that is not one of these
  mutating func answered(_ number: Int, with report: PeripheralRole.Report) -> [PeripheralRole.Report] {
    guard let index = calls.firstIndex(where: { $0.number == number }) else { return [] }
    calls[index].report = report
    let ready = calls.prefix { $0.report != nil }.compactMap(\.report)
    calls.removeFirst(ready.count)
    return ready
  }
}
