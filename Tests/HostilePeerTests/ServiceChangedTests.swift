import ATT
import GAP
import HaloGATT
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

/// Service Changed through the whole stack (Core Specification Vol 3, Part G, 7.1; GATT/CL/GAS/BV-01-C).
@BluetoothActor
@Suite(.onTheLoop) struct ServiceChangedTests {
  private final class Heard {
    var values: [[UInt8]] = []
    var ends: [StackError] = []
    var moved: [Subscription] = []
  }

  private func heartRate(of connection: GATTLink) async throws -> Characteristic {
    let service = try #require(try await connection.gatt.firstService(Server.heartRateService))
    return try #require(
      try await connection.gatt.discoverCharacteristics([Server.heartRate], of: service).first)
  }

  private func changed(_ start: UInt16, _ end: UInt16) -> any ATTPDU {
    ATTHandleValueIndication(
      0x0006, value: [UInt8(start & 0xFF), UInt8(start >> 8), UInt8(end & 0xFF), UInt8(end >> 8)])
  }

  private func asksForServiceChanged(_ peer: Peer) -> Bool {
    peer.server.written[0x0007] == [2, 0]
  }

  // MARK: The question that no program has asked

  @Test(arguments: [0x06, 0x08, 0x04, 0x12] as [UInt8])
  func aPeerThatIsSilentToItKeepsItsLinkAndItsStream(_ opcode: UInt8) async throws {
    let (stage, connection) = try await Stage.connected()
    let heard = Heard()
    _ = try await connection.gatt.subscribe(to: try await heartRate(of: connection)) { value, _ in
      heard.values.append(Array(value))
    }
    stage.peer.react = { $0.opcode.rawValue == opcode ? .silent : .honest }
    connection.gatt.watchServiceChanges()
    for second in 1...120 { stage.peer.notify(0x0012, [UInt8(second)], after: .seconds(second)) }
    await stage.sleep(.seconds(121))
    #expect(connection.isConnected)
    #expect(heard.values.count == 120)
    // ATT allows no request behind the one that was not answered: the next one says so, at once.
    let error = await stage.within(.milliseconds(10)) {
      await failure { () async throws(StackError) in try await connection.gatt.read(Server.nameHandle) }
    }
    #expect(error == .timedOut(ATTOpcode(rawValue: opcode)))
    await stage.sleep(.seconds(1))
    #expect(!connection.isConnected)
    // The next link to this peer is not risked for it.
    stage.peer.react = { _ in .honest }
    stage.peer.server.written = [:]
    let next = try await stage.connect()
    next.gatt.watchServiceChanges()
    _ = try await heartRate(of: next)
    await stage.sleep(.seconds(60))
    #expect(!asksForServiceChanged(stage.peer))
    await next.disconnect()
    try await stage.checkHealth()
  }

  /// A program that only asks now and then hears of a change, too (before, five of five worked on stale handles).
  @Test(arguments: [500, 60_000]) func aProgramThatPollsHearsOfAChange(pause: Int) async throws {
    let (stage, connection) = try await Stage.connected()
    var changes: [HandleRange] = []
    connection.gatt.whenServicesChanged { changes.append($0) }
    connection.gatt.watchServiceChanges()
    let characteristic = try await heartRate(of: connection)
    #expect(asksForServiceChanged(stage.peer))
    for _ in 0..<10 {
      #expect(try await connection.gatt.read(Server.nameHandle) == Array("honest".utf8))
      await stage.sleep(.milliseconds(pause))
    }
    stage.peer.send(changed(0x0010, 0x0013))
    await stage.sleep(.milliseconds(100))
    #expect(changes == [HandleRange(0x0010, 0x0013)])
    await #expect(throws: StackError.servicesChanged) { try await connection.gatt.read(characteristic) }
    await connection.disconnect()
    try await stage.checkHealth()
  }

  // MARK: What runs moves

  /// A peer with two services that are called the same, so that the order counts.
  private func peerWithTwins() -> Peer {
    let peer = Peer()
    peer.server.addService(Server.heartRateService, at: 0x0030)
    peer.server.addCharacteristic(Server.heartRate, .notify, at: 0x0031, [])
    peer.server.addConfiguration(at: 0x0033)
    return peer
  }

  @Test(arguments: [false, true]) func aSubscriptionMovesWithItsCharacteristic(isSecond: Bool) async throws {
    let (stage, connection) = try await Stage.connected(peerWithTwins())
    let services = try await connection.gatt.discoverServices([Server.heartRateService])
    let mine = try #require(isSecond ? services.last : services.first)
    let characteristic = try #require(try await connection.gatt.discoverCharacteristics(of: mine).first)
    let heard = Heard()
    connection.gatt.onSubscriptionMoved = { heard.moved.append($0) }
    let subscription = try await connection.gatt.subscribe(
      to: characteristic, onEnd: { heard.ends.append($0) }
    ) {
      value, _ in heard.values.append(Array(value))
    }
    let second = Heard()
    _ = try await connection.gatt.subscribe(to: characteristic, onEnd: { second.ends.append($0) }) {
      value, _ in second.values.append(Array(value))
    }
    connection.gatt.watchServiceChanges()
    await stage.sleep(.seconds(2))
    stage.peer.server.move(HandleRange(0x0010, 0x003F), by: 0x100)
    stage.peer.server.written = [:]
    stage.peer.send(changed(0x0010, 0x0140))
    // What stands at the old handle is something else; what comes early at the new one is not lost.
    let old = characteristic.valueHandle
    let new = AttributeHandle(old.rawValue + 0x100)
    stage.peer.notify(old, [0xBA, 0xD0], after: .milliseconds(1))
    stage.peer.notify(new, [1], after: .milliseconds(1))
    await stage.sleep(.seconds(2))
    #expect(stage.peer.server.written == [AttributeHandle(new.rawValue + 1): [1, 0]])
    stage.peer.notify(new, [2])
    await stage.sleep(.seconds(1))
    #expect(heard.values == [[1], [2]])
    #expect(heard.moved.map(\.handle) == [new, new])
    #expect(heard.ends == [] && second.ends == [])
    #expect(second.values == [[1], [2]])
    // It is the new descriptor that is written at the end.
    try await connection.gatt.unsubscribe(subscription)
    await connection.disconnect()
    try await stage.checkHealth()
  }

  @Test func rediscoversOnlyAffectedAttributes() async throws {
    let (stage, connection) = try await Stage.connected()
    _ = try await connection.gatt.subscribe(to: try await heartRate(of: connection)) { _, _ in }
    connection.gatt.watchServiceChanges()
    await stage.sleep(.seconds(2))
    stage.peer.server.move(HandleRange(0x0010, 0x0013), by: 4)
    let before = stage.peer.requestCount
    stage.peer.send(changed(0x0010, 0x0017))
    await stage.sleep(.seconds(2))
    let asked = stage.peer.requests.suffix(stage.peer.requestCount - before)
    #expect(
      asked.allSatisfy {
        switch ($0.opcode, $0.target) {
        case (.readByGroupTypeRequest, .range(let range)): range.start >= 0x0010
        case (.readByTypeRequest, .range(let range)), (.findInformationRequest, .range(let range)):
          range.start >= 0x0014 && range.end <= 0x0017
        case (.writeRequest, .attribute(let handle)): handle == 0x0017
        default: false
        }
      })
    #expect(asked.count <= 6)
    await connection.disconnect()
    try await stage.checkHealth()
  }

  @Test func aSubscriptionWhoseCharacteristicIsGoneEndsWithTheReason() async throws {
    let (stage, connection) = try await Stage.connected()
    let characteristic = try await heartRate(of: connection)
    let heard = Heard()
    _ = try await connection.gatt.subscribe(to: characteristic, onEnd: { heard.ends.append($0) }) { _, _ in }
    connection.gatt.watchServiceChanges()
    await stage.sleep(.seconds(2))
    stage.peer.server.remove(HandleRange(0x0010, 0x0013))
    stage.peer.send(changed(0x0010, 0x0013))
    await stage.sleep(.seconds(2))
    #expect(heard.ends == [.characteristicGone(Server.heartRate)])
    #expect(connection.isConnected)
    await connection.disconnect()
    try await stage.checkHealth()
  }

  @Test func theLinkThatIsLostEndsItWithTheReason() async throws {
    let (stage, connection) = try await Stage.connected()
    let heard = Heard()
    _ = try await connection.gatt.subscribe(
      to: try await heartRate(of: connection), onEnd: { heard.ends.append($0) }, sink: { _, _ in })
    stage.radio.end(stage.peer, .connectionTimeout)
    await stage.sleep(.seconds(1))
    #expect(heard.ends == [.closed(LinkLoss.remote(.connectionTimeout).description)])
    try await stage.checkHealth()
  }

  @Test func aServerThatNeverStopsChangingIsFollowedALimitedNumberOfTimes() async throws {
    let (stage, connection) = try await Stage.connected()
    let heard = Heard()
    _ = try await connection.gatt.subscribe(
      to: try await heartRate(of: connection), onEnd: { heard.ends.append($0) }, sink: { _, _ in })
    connection.gatt.watchServiceChanges()
    await stage.sleep(.seconds(2))
    let before = stage.peer.requestCount
    for number in 0..<1000 { stage.peer.send(changed(0x0010, 0x0013), after: .milliseconds(100 * number)) }
    await stage.sleep(.seconds(120))
    #expect(heard.ends == [.servicesChanged])
    #expect(stage.peer.requestCount - before <= 64 * 7)
    #expect(stage.peer.confirmations == 1000)
    await connection.disconnect()
    try await stage.checkHealth()
  }

  // MARK: Old handles

  /// Only what was asked for is discovered: other handles of before stay what they are, old.
  @Test func aDiscoveryDoesNotMakeOldHandlesTrueAgain() async throws {
    let (stage, connection) = try await Stage.connected()
    let heartRate = try await heartRate(of: connection)
    let service = try #require(try await connection.gatt.firstService(Server.batteryService))
    let battery = try #require(try await connection.gatt.discoverCharacteristics(of: service).first)
    connection.gatt.watchServiceChanges()
    await stage.sleep(.seconds(2))
    stage.peer.server.move(HandleRange(0x0010, 0x0023), by: 0x10)
    stage.peer.send(changed(0x0001, 0xFFFF))
    await stage.sleep(.seconds(1))
    let heartRateAgain = try await self.heartRate(of: connection)
    #expect(heartRateAgain.valueHandle == 0x0022)
    // The old battery value stood where the new heart rate stands.
    #expect(battery.valueHandle == 0x0022)
    let before = stage.peer.requestCount
    await #expect(throws: StackError.servicesChanged) { try await connection.gatt.read(battery) }
    await #expect(throws: StackError.servicesChanged) { try await connection.gatt.write([1], to: battery) }
    #expect(throws: StackError.servicesChanged) {
      try connection.gatt.writeWithoutResponse([1], to: battery)
    }
    await #expect(throws: StackError.servicesChanged) {
      try await connection.gatt.discoverDescriptors(of: heartRate)
    }
    await #expect(throws: StackError.servicesChanged) {
      try await connection.gatt.discoverCharacteristics(of: service)
    }
    // A number is good where something was discovered since, and only there.
    await #expect(throws: StackError.servicesChanged) {
      try await connection.gatt.read(AttributeHandle(0x0032))
    }
    #expect(stage.peer.requestCount == before)
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [])
    #expect(try await connection.gatt.discoverServices().count == 4)
    #expect(try await connection.gatt.read(AttributeHandle(0x0032)) == [77])
    await #expect(throws: StackError.servicesChanged) { try await connection.gatt.read(battery) }
    await connection.disconnect()
    try await stage.checkHealth()
  }

  @Test func serviceChangedInvalidatesDiscoveryInProgress() async throws {
    let (stage, connection) = try await Stage.connected()
    _ = try await heartRate(of: connection)
    connection.gatt.watchServiceChanges()
    await stage.sleep(.seconds(2))
    let service = try #require(try await connection.gatt.firstService(Server.heartRateService))
    let change = changed(0x0010, 0x0013)
    let peer = stage.peer
    peer.react = { [weak peer] request in
      if request is ATTReadByTypeRequest { peer?.send(change) }
      return .honest
    }
    let found = try #require(try await connection.gatt.discoverCharacteristics(of: service).first)
    await #expect(throws: StackError.servicesChanged) { try await connection.gatt.read(found) }
    peer.react = { _ in .honest }
    // It is not equal to what is discovered now, and that is equal to what is discovered next.
    let again = try await heartRate(of: connection)
    #expect(again != found && again.valueHandle == found.valueHandle)
    #expect(try await connection.gatt.discoverDescriptors(of: again).count == 1)
    #expect(try await heartRate(of: connection) == again)
    await connection.disconnect()
    try await stage.checkHealth()
  }
}
