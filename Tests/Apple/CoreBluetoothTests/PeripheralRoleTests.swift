import HaloBluetoothCore
@testable import CoreBluetooth
import HaloRaw
import TestSupport
import Testing

/// The peripheral role as a value: random calls and events in any order, and what always holds.
@Suite struct PeripheralRoleTests {
  /// A program, a loop that answers commands late, and centrals that come and go.
  private struct Walk {
    var role = PeripheralRole()
    var state = CBManagerState.unknown
    /// What the loop has not answered.
    var adding: [Int] = []
    var starting: [Int] = []
    var sending: [PeerIdentity] = []
    var nextService = 0
    var nextRequest = 0
    /// Calls whose report is to come.
    var unreportedAdds: [Int] = []
    var unreportedStarts = 0
    var asked: [PeerIdentity: Int] = [:]
    var answered: Set<Int> = []
    var subscribed: Set<[Int]> = []
    var waitsForRoom = false
    var breaches: [String] = []

    mutating func take(_ effects: PeripheralRole.Effects) {
      for command in effects.commands {
        switch command {
        case .add(let number): adding.append(number)
        case .advertise(let number, _): starting.append(number)
        case .send(_, let place, let clients):
          sending += clients
          if !clients.allSatisfy({ subscribed.contains(key($0, place)) }) {
            breaches.append("not subscribed")
          }
        case .answer(let client, let number, _, _):
          if !answered.insert(number).inserted { breaches.append("answered twice") }
          if asked[client] == number { asked[client] = nil }
        case .remove, .stopAdvertising: break
        }
      }
      for report in effects.reports {
        switch report {
        case .added(let number, _):
          if unreportedAdds.first == number {
            unreportedAdds.removeFirst()
          } else {
            breaches.append("added twice, or out of order")
          }
        case .started:
          unreportedStarts -= 1
          if unreportedStarts < 0 { breaches.append("started twice") }
        case .subscribed(let client, let place):
          if !subscribed.insert(key(client, place)).inserted { breaches.append("subscribed twice") }
        case .unsubscribed(let client, let place):
          if subscribed.remove(key(client, place)) == nil { breaches.append("unsubscribed twice") }
        case .ready:
          if !waitsForRoom { breaches.append("ready without a wait") }
          waitsForRoom = false
        case .requested: break
        }
      }
    }

    private func key(_ client: PeerIdentity, _ place: PeripheralRole.Place) -> [Int] {
      [Int(client.address.value), place.service, place.index]
    }

    mutating func step(_ random: inout SeededGenerator) {
      let client = PeerIdentity(BluetoothAddress(UInt64.random(in: 1...3, using: &random), .public))
      let place = PeripheralRole.Place(
        service: Int.random(in: max(0, nextService - 4)...nextService, using: &random),
        index: Int.random(in: 0...1, using: &random))
      switch Int.random(in: 0..<20, using: &random) {
      case 0: change(to: [.resetting, .poweredOff, .poweredOn].randomElement(using: &random) ?? .poweredOn)
      case 1, 2:
        if state == .poweredOn { unreportedAdds.append(nextService) }
        let refusal = Bool.random(using: &random) ? CBError(.uuidNotAllowed) : nil
        take(role.add(nextService, refusal: refusal))
        nextService += 1
      case 3: take(role.remove(place.service))
      case 4: if Int.random(in: 0..<4, using: &random) == 0 { take(role.removeAll()) }
      case 5:
        if state == .poweredOn { unreportedStarts += 1 }
        take(role.startAdvertising())
      case 6:
        take(
          Bool.random(using: &random) ? role.stopAdvertising() : role.advertises(Bool.random(using: &random)))
      case 7, 8:
        guard !adding.isEmpty else { return }
        let error = Int.random(in: 0..<4, using: &random) == 0 ? CBError(.outOfSpace) : nil
        take(role.added(adding.removeFirst(), error))
      case 9:
        guard !starting.isEmpty else { return }
        take(role.started(starting.removeFirst(), Bool.random(using: &random) ? CBError(.unknown) : nil))
      case 10, 11, 12: take(role.configured(place, client, wants: Bool.random(using: &random)))
      case 13 where Bool.random(using: &random): take(role.stalled(client))
      case 13:
        sending.removeAll { $0 == client }
        asked[client] = nil
        take(role.left(client))
      case 14, 15:
        nextRequest += 1
        asked[client] = nextRequest
        take(
          role.asked(
            .init(client: client, number: nextRequest, isRead: true, parts: [.init(place: place, offset: 0)]))
        )
      case 16:
        let number = asked[client] ?? nextRequest
        let wasOpen = asked[client] != nil && role.offers(place.service)
        let effects = role.respond(client, number, nil, [])
        if wasOpen, effects.commands.isEmpty, effects.misuse == nil { breaches.append("no answer") }
        take(effects)
      case 17:
        for _ in 0..<20 {
          let (isTaken, effects) = role.update([1], place, to: Bool.random(using: &random) ? nil : [client])
          if !isTaken, effects.misuse == nil { waitsForRoom = true }
          take(effects)
        }
      default:
        for _ in 0..<20 where !sending.isEmpty { take(role.sent(to: sending.removeFirst())) }
      }
    }

    mutating func change(to new: CBManagerState) {
      state = new
      if new != .poweredOn { waitsForRoom = false }
      take(role.changed(to: new))
      guard new != .poweredOn else { return }
      if !subscribed.isEmpty { breaches.append("subscribers without a radio") }
      if new == .resetting, !role.offered.isEmpty || role.wantsAdvertising {
        breaches.append("offers while reset")
      }
    }

    /// The loop answers everything, and the radio works.
    mutating func settle() {
      while !adding.isEmpty { take(role.added(adding.removeFirst(), nil)) }
      while !starting.isEmpty { take(role.started(starting.removeFirst(), nil)) }
      while !sending.isEmpty { take(role.sent(to: sending.removeFirst())) }
    }
  }

  @Test func invariantsHoldForRandomEventOrders() {
    for seed in 0..<300 as Range<UInt64> {
      var (random, walk) = (SeededGenerator(seed: seed), Walk())
      walk.change(to: .poweredOn)
      for _ in 0..<400 {
        walk.step(&random)
        guard walk.breaches.isEmpty else { break }
      }
      walk.settle()
      #expect(walk.breaches == [], "seed \(seed)")
      #expect(walk.unreportedAdds == [] && walk.unreportedStarts == 0 && !walk.waitsForRoom, "seed \(seed)")
    }
  }

  private static let place = PeripheralRole.Place(service: 0, index: 0)
  private static let client = PeerIdentity(BluetoothAddress(1, .public))

  /// A role with a service and a subscriber.
  private func subscribed() -> PeripheralRole {
    var role = PeripheralRole()
    _ = role.changed(to: .poweredOn)
    _ = role.add(0, refusal: nil)
    _ = role.added(0, nil)
    _ = role.configured(Self.place, Self.client, wants: true)
    return role
  }

  @Test func callsBeforePoweredOnAreIgnoredWithALine() {
    var role = PeripheralRole()
    #expect(role.add(0, refusal: nil).misuse == "add has no effect in the state unknown; wait for poweredOn")
    #expect(role.startAdvertising().misuse != nil && role.stopAdvertising().misuse != nil)
    #expect(role.removeAll().misuse != nil && role.remove(0).misuse != nil)
    let (isTaken, effects) = role.update([1], Self.place, to: nil)
    #expect(!isTaken && effects.misuse != nil && effects.commands == [])
  }

  @Test func anUpdateGoesToTheChosenSubscribersOrToNone() {
    var role = subscribed()
    let stranger = PeerIdentity(BluetoothAddress(2, .public))
    #expect(
      role.update([1], Self.place, to: [stranger, Self.client]).1.commands == [
        .send([1], Self.place, to: [Self.client])
      ])
    let (isTaken, effects) = role.update([1], Self.place, to: [stranger])
    #expect(isTaken && effects.commands == [])
    #expect(role.update([1], nil, to: nil).0)
  }

  @Test func aFullLinkRefusesForAll() {
    var role = subscribed()
    let other = PeerIdentity(BluetoothAddress(2, .public))
    for _ in 0..<16 { #expect(role.update([1], Self.place, to: nil).0) }
    _ = role.configured(Self.place, other, wants: true)
    let (isTaken, effects) = role.update([2], Self.place, to: nil)
    #expect(!isTaken && effects.commands == [] && effects.misuse == nil)
    #expect(role.update([3], Self.place, to: [other]).0)
    var reports = 0
    for _ in 0..<16 { reports += role.sent(to: Self.client).reports.count }
    #expect(reports == 1)
  }

  /// A phone that confirms no indication kept values from all others until its link ended after 30 s.
  @Test func doesNotWaitForStalledSubscriber() {
    var role = subscribed()
    let other = PeerIdentity(BluetoothAddress(2, .public))
    _ = role.configured(Self.place, other, wants: true)
    for _ in 0..<16 { _ = role.update([1], Self.place, to: nil) }
    for _ in 0..<16 { _ = role.sent(to: other) }
    #expect(!role.update([2], Self.place, to: nil).0)
    #expect(role.stalled(Self.client).reports.count == 1)
    for _ in 0..<16 {
      #expect(role.update([2], Self.place, to: nil).1.commands == [.send([2], Self.place, to: [other])])
    }
    // The others are waited for.
    #expect(!role.update([3], Self.place, to: nil).0)
    var reports = 0
    for _ in 0..<16 { reports += role.sent(to: other).reports.count }
    #expect(reports == 1)
    // One that takes values again gets what comes.
    for _ in 0..<16 { _ = role.sent(to: Self.client) }
    #expect(
      role.update([4], Self.place, to: nil).1.commands == [.send([4], Self.place, to: [Self.client, other])])
  }

  /// Nobody would get a value.
  @Test func whenAllCentralsAreStalledTheyAreWaitedFor() {
    var role = subscribed()
    for _ in 0..<16 { _ = role.update([1], Self.place, to: nil) }
    _ = role.stalled(Self.client)
    #expect(!role.update([2], Self.place, to: nil).0)
    #expect(role.sent(to: Self.client).reports.isEmpty)
    var reports = 0
    for _ in 0..<15 { reports += role.sent(to: Self.client).reports.count }
    #expect(reports == 1)
  }

  @Test func aResponseCountsOnce() {
    var role = subscribed()
    let request = PeripheralRole.Request(
      client: Self.client, number: 7, isRead: true, parts: [.init(place: Self.place, offset: 3)])
    #expect(role.asked(request).reports.count == 1)
    #expect(role.respond(Self.client, 7, nil, [1]).commands == [.answer(Self.client, 7, nil, [1])])
    let again = role.respond(Self.client, 7, nil, [1])
    #expect(again.commands == [] && again.misuse != nil)
    _ = role.asked(request)
    _ = role.left(Self.client)
    #expect(role.respond(Self.client, 7, nil, [1]).misuse != nil)
    // A command has no answer.
    let effects = role.respond(Self.client, nil, nil, [])
    #expect(effects.commands == [] && effects.misuse == nil)
  }

  @Test func advertisingPausesWhileTheAdapterIsOffAndEndsBelow() {
    var role = subscribed()
    #expect(role.startAdvertising().commands == [.advertise(1, isReported: true)] && !role.isAdvertising)
    _ = role.started(1, nil)
    #expect(role.isAdvertising)
    let off = role.changed(to: .poweredOff)
    #expect(off.commands == [] && off.reports.count == 1 && role.isAdvertising && role.offered == [0])
    _ = role.changed(to: .poweredOn)
    let reset = role.changed(to: .resetting)
    #expect(reset.commands == [.remove(0), .stopAdvertising] && !role.isAdvertising && role.offered == [])
  }

  @Test func isNotAdvertisingWhileControllerRefuses() {
    var role = subscribed()
    _ = role.startAdvertising()
    // It was on for a moment: the report is still to come.
    _ = role.advertises(false)
    _ = role.started(1, nil)
    _ = role.advertises(false)
    #expect(!role.isAdvertising && role.wantsAdvertising)
    guard case .started(let error?)? = role.startAdvertising().reports.first else {
      Issue.record("it was started twice")
      return
    }
    #expect(error.code == .alreadyAdvertising)
    _ = role.advertises(true)
    #expect(role.isAdvertising)
    _ = role.advertises(false)
    #expect(role.stopAdvertising().commands == [.stopAdvertising])
    _ = role.advertises(true)
    #expect(!role.isAdvertising)
  }

  /// Programs whose calls are answered in another order take an error for that of another call.
  @Test func callsAreAnsweredInTheirOrder() {
    var role = subscribed()
    #expect(role.add(1, refusal: nil).reports.isEmpty)
    #expect(role.add(2, refusal: CBError(.uuidNotAllowed)).reports.isEmpty && role.knows(2))
    #expect(texts(role.added(1, nil)) == ["added 1", "added 2 uuidNotAllowed"] && !role.knows(2))
    #expect(role.startAdvertising().commands == [.advertise(1, isReported: true)])
    #expect(texts(role.startAdvertising()) == [])
    #expect(texts(role.started(1, nil)) == ["started", "started alreadyAdvertising"])
    // One that was stopped, and the next one, which the radio may answer before.
    _ = role.stopAdvertising()
    #expect(role.startAdvertising().commands == [.advertise(3, isReported: true)])
    _ = role.stopAdvertising()
    #expect(role.startAdvertising().commands == [.advertise(4, isReported: true)])
    #expect(texts(role.started(4, nil)) == [] && role.isAdvertising)
    #expect(
      texts(role.started(3, CBError(.operationCancelled))) == ["started operationCancelled", "started"])
  }

  private func texts(_ effects: PeripheralRole.Effects) -> [String] {
    effects.reports.map { report in
      switch report {
      case .added(let number, let error): "added \(number)\(error.map { " \($0.code)" } ?? "")"
      case .started(let error): "started\(error.map { " \($0.code)" } ?? "")"
      case .subscribed, .unsubscribed, .requested, .ready: "other"
      }
    }
  }

  @Test func restoredServicesStartOnPowerOnWithoutReports() {
    var role = PeripheralRole()
    role.restore([3, 5], advertises: true)
    #expect(role.isAdvertising)
    #expect(role.changed(to: .resetting).commands == [] && role.offered == [3, 5])
    #expect(role.changed(to: .poweredOn).commands == [.add(3), .add(5), .advertise(1, isReported: false)])
    #expect(role.isAdvertising)
    #expect(role.added(3, nil).reports.isEmpty && role.started(1, nil).reports.isEmpty && role.isAdvertising)
    var other = PeripheralRole()
    other.restore([], advertises: true)
    _ = other.changed(to: .poweredOn)
    #expect(other.started(1, CBError(.unknown)).reports.isEmpty && !other.isAdvertising)
  }
}
