import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import L2CAP
import TestLoop
import TestSupport
import Testing

/// Orders of valid PDUs that no specification has, several links with faults of their own, other identities. Seeded:
/// each run is the same.
@BluetoothActor
@Suite(.onTheLoop) struct DisorderTests {
  private final class Chance {
    var random: SeededGenerator

    init(_ seed: UInt64) { random = SeededGenerator(seed: seed) }

    func number(_ range: Range<Int>) -> Int { Int.random(in: range, using: &random) }
    func byte() -> UInt8 { UInt8(number(0..<256)) }
    func bytes(_ count: Range<Int>) -> [UInt8] { random.bytes(number(count)) }
  }

  /// A valid PDU, whoever may send it and whenever.
  private static func anyPDU(_ chance: Chance) -> any ATTPDU {
    let handle = AttributeHandle(UInt16(chance.number(0..<0x40)))
    let range = HandleRange(handle, AttributeHandle(UInt16(chance.number(0..<0x10000))))
    let value = chance.bytes(0..<23)
    return switch chance.number(0..<22) {
    case 0: (ATTErrorResponse(request: .readRequest, handle: handle, code: .invalidHandle))
    case 1: ATTExchangeMTURequest(clientMTU: UInt16(chance.number(0..<0x10000)))
    case 2: ATTExchangeMTUResponse(serverMTU: UInt16(chance.number(0..<0x10000)))
    case 3:
      ATTFindInformationResponse([ATTHandleAndType(handle: handle, type: BluetoothUUID(UInt16(0x2902)))])
    case 4: ATTFindByTypeValueResponse([range])
    case 5: ATTReadByTypeResponse([ATTHandleAndValue(handle: handle, value: value)])
    case 6: ATTReadResponse(value)
    case 7: ATTReadBlobResponse(value)
    case 8: ATTReadMultipleResponse(value)
    case 9: ATTReadByGroupTypeResponse([ATTGroupAndValue(group: range, value: [0, 0x18])])
    case 10: ATTWriteResponse()
    case 11: ATTPrepareWriteResponse(ATTPreparedWrite(handle: handle, offset: 0, value: value))
    case 12: ATTExecuteWriteResponse()
    case 13: ATTHandleValueNotification(handle, value: value)
    case 14: ATTHandleValueIndication(handle, value: value)
    case 15: ATTHandleValueIndication(0x0006, value: [1, 0, 0xFF, 0xFF])
    case 16: ATTMultipleHandleValueNotification([ATTHandleAndValue(handle: handle, value: value)])
    case 17: ATTReadByGroupTypeRequest(range, type: GATTUUID.primaryService)
    case 18: ATTWriteRequest(handle, value: value)
    case 19: ATTHandleValueConfirmation()
    case 20: ATTWriteCommand(handle, value: value)
    default: ATTExecuteWriteRequest(.write)
    }
  }

  /// Runs what a program does on a link, whatever comes of it.
  private func use(_ connection: GATTLink) async {
    _ = try? await connection.gatt.exchangeMTU()
    let services = (try? await connection.gatt.discoverServices()) ?? []
    for service in services.prefix(4) {
      for characteristic in ((try? await connection.gatt.discoverCharacteristics(of: service)) ?? []).prefix(
        4)
      {
        _ = try? await connection.gatt.read(characteristic)
        _ = try? await connection.gatt.subscribe(to: characteristic) { _, _ in }
        _ = try? await connection.gatt.write(Array(repeating: 1, count: 30), to: characteristic)
      }
    }
  }

  /// A peer that answers rightly most of the time, and sends valid PDUs of any kind between and instead.
  private func unruly(_ peer: Peer, _ chance: Chance) {
    peer.react = { [weak peer] request in
      guard let peer else { return .silent }
      switch chance.number(0..<12) {
      case 0...6: return .honest
      case 7: return .pdus([Self.anyPDU(chance).bytes, peer.server.answer(request).bytes])
      case 8: return .pdus([peer.server.answer(request).bytes, Self.anyPDU(chance).bytes])
      case 9:
        return .pdus((0..<5).map { _ in Self.anyPDU(chance).bytes } + [peer.server.answer(request).bytes])
      case 10: return .pdus([peer.server.answer(request).bytes, peer.server.answer(request).bytes])
      default: return chance.number(0..<20) == 0 ? .silent : .pdus([Self.anyPDU(chance).bytes])
      }
    }
  }

  @Test(arguments: 0..<40 as Range<UInt64>) func survivesValidPDUsInRandomOrder(_ seed: UInt64) async throws {
    let chance = Chance(seed)
    let (stage, connection) = try await Stage.connected()
    unruly(stage.peer, chance)
    // Each wait of the program ends with an answer or after 30 s; then the link is gone, and the rest fails at once.
    await stage.within(.seconds(40)) { await use(connection) }
    await stage.within(.seconds(6)) { await connection.disconnect() }
    stage.peer.react = { _ in .honest }
    try await stage.checkHealth()
  }

  /// Bytes of any kind as ATT, signalling, pairing and ACL.
  @Test(arguments: 100..<130 as Range<UInt64>) func survivesRandomBytesOnEveryChannel(_ seed: UInt64)
    async throws
  {
    let chance = Chance(seed)
    let (stage, connection) = try await Stage.connected()
    for _ in 0..<300 {
      switch chance.number(0..<6) {
      case 0: stage.peer.send(chance.bytes(0..<40))
      case 1: stage.peer.sendFrame(.leSignaling, chance.bytes(0..<20))
      case 2: stage.peer.sendFrame(.securityManager, chance.bytes(0..<10))
      case 3: stage.peer.sendData(chance.bytes(0..<40), isStart: chance.number(0..<2) == 0)
      case 4: stage.radio.deliver([2] + chance.bytes(0..<20))
      default: stage.peer.send(Self.anyPDU(chance))
      }
    }
    await stage.within(.seconds(40)) { await use(connection) }
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// Events of any kind from the controller. What they break is up to them; the process ends every wait.
  @Test(arguments: 200..<230 as Range<UInt64>) func eventsOfAnyKindEndEveryWait(_ seed: UInt64) async throws {
    let chance = Chance(seed)
    let (stage, connection) = try await Stage.connected()
    let task = spawn { await self.use(connection) }
    for _ in 0..<200 {
      let parameters = chance.bytes(0..<20)
      let code = [0x05, 0x0E, 0x0F, 0x13, 0x3E, 0x08, 0x0C, chance.byte()][chance.number(0..<8)]
      // No Hardware Error, which is a test of its own.
      guard code != 0x10 else { continue }
      stage.radio.deliver(
        [4, code, UInt8(parameters.count)] + parameters, after: .milliseconds(chance.number(0..<500)))
    }
    await stage.within(.seconds(60)) { _ = await task.result }
    await stage.within(.seconds(11)) { await connection.disconnect() }
    await stage.central.stop()
    #expect(stage.radio.isClosed)
    // Another controller in the same process is as good as ever.
    let next = Stage()
    try await next.central.start()
    try await next.checkHealth()
  }

  /// Several links at once, each with its fault: none of them costs another.
  @Test func severalLinksEachWithItsFault() async throws {
    let stage = Stage()
    try await stage.central.start()
    let faults: [(String, (Peer) -> Void)] = [
      ("silent", { $0.react = { _ in .silent } }),
      ("wrong answers", { $0.react = { _ in .hex("13") } }),
      ("lists that go back", { $0.react = { _ in .hex("11 06 0500 0400 0018") } }),
      ("a flood", { peer in for _ in 0..<5000 { peer.notify(0x0012, [1]) } }),
      ("half frames", { peer in for _ in 0..<1000 { peer.sendData(hex("0500 0400 0b")) } }),
      ("unruly", { [self] in unruly($0, Chance(7)) }),
      (
        "gone in a second",
        { peer in
          let radio = peer.radio
          testTimers.schedule(after: .seconds(1)) { radio?.end(peer, .connectionTimeout) }
        }
      ),
      ("good", { _ in }),
    ]
    var connections: [GATTLink] = []
    var peers: [Peer] = []
    for (number, fault) in faults.enumerated() {
      let peer = Peer(UInt64(100 + number))
      stage.radio.add(peer)
      connections.append(try await stage.central.connect(ConnectionRequest(peer: peer.address)))
      fault.1(peer)
      peers.append(peer)
    }
    let tasks = connections.map { connection in spawn { await self.use(connection) } }
    // The good one is not held up by the others.
    let good = try #require(connections.last)
    #expect(try await stage.within(.seconds(1)) { try await good.gatt.read(AttributeHandle(0x0022)) } == [77])
    for task in tasks { await stage.within(.seconds(70)) { _ = await task.result } }
    #expect(try await good.gatt.read(AttributeHandle(0x0022)) == [77])
    for connection in connections { await connection.disconnect() }
    #expect(stage.radio.links.isEmpty)
    try await stage.checkHealth()
  }

  /// A peer that comes back under another identity is another peer: nothing of the first is taken over.
  @Test func aPeerThatReconnectsUnderAnotherIdentityIsAnother() async throws {
    let (stage, connection) = try await Stage.connected()
    let service = try #require(try await connection.gatt.firstService(Server.heartRateService))
    let characteristic = try #require(try await connection.gatt.discoverCharacteristics(of: service).first)
    var values = 0
    _ = try await connection.gatt.subscribe(to: characteristic) { _, _ in values += 1 }
    // It leaves, and comes with another address, other attributes and the old one's notifications.
    stage.radio.end(stage.peer)
    _ = try await connection.disconnection()
    let other = Peer(0xBEEF)
    other.server.move(HandleRange(0x0010, 0x0013), by: 0x40)
    stage.radio.add(other)
    if let handle = stage.peer.handle { stage.radio.reuse(handle) }
    let next = try await stage.central.connect(ConnectionRequest(peer: other.address))
    other.notify(0x0012, [0xBA, 0xD0])
    await stage.sleep(.seconds(1))
    #expect(values == 0)
    #expect(next.peer == other.address && next.mtu == 23)
    let found = try #require(try await next.gatt.firstService(Server.heartRateService))
    #expect(found.handles.start == 0x0050)
    await #expect(throws: StackError.self) { try await connection.gatt.read(characteristic) }
    // A link to the old one is made for the old one only.
    let claim = spawn { try await stage.connect(deadline: .seconds(3)) }
    stage.peer.isThere = false
    await stage.sleep(.milliseconds(500))
    stage.radio.complete(BluetoothAddress(0xC000_0000_7777, .random))
    await #expect(throws: StackError.self) { try await claim.value }
    await next.disconnect()
    try await stage.checkHealth()
  }
}
