import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import L2CAP
import RingLink
import TestLoop
import TestSupport
import Testing

/// Objects that were used and dropped are gone: nothing holds itself in a circle.
@BluetoothActor
@Suite(.onTheLoop) struct LifetimeTests {
  /// Weak references by name.
  private final class Remains {
    private var objects: [(name: String, object: () -> AnyObject?)] = []

    func watch(_ name: String, _ object: AnyObject) {
      objects.append((name, { [weak object] in object }))
    }

    var names: [String] { objects.filter { $0.object() != nil }.map(\.name) }
  }

  private func use(_ remains: Remains, stops: Bool) async throws {
    let stage = Stage()
    let central = stage.central
    remains.watch("Radio", stage.radio)
    remains.watch("HCIAdapter", stage.adapter)
    remains.watch("Central", central)
    try await central.start()
    let scan = central.scan { _ in }
    remains.watch("Scan", scan)
    let connection = try await stage.connect()
    remains.watch("Connection", connection)
    let service = try #require(try await connection.gatt.firstService(Server.heartRateService))
    let characteristic = try #require(try await connection.gatt.discoverCharacteristics(of: service).first)
    let subscription = try await connection.gatt.subscribe(to: characteristic) { _, _ in }
    _ = try await connection.gatt.subscribe(to: characteristic) { _, _ in }
    try await connection.gatt.unsubscribe(subscription)
    await stage.sleep(.seconds(2))
    scan.cancel()
    await connection.disconnect()
    if stops { await central.stop() }
  }

  @Test(arguments: [true, false]) func releasesStack(stops: Bool) async throws {
    let remains = Remains()
    try await use(remains, stops: stops)
    await testTimers.sleep(for: .seconds(60))
    #expect(remains.names == [])
  }

  /// A central and a client that are dropped while they are connected: the link is ended.
  private func leave(_ remains: Remains) async throws -> Peer {
    let (stage, connection) = try await Stage.connected()
    remains.watch("Central", stage.central)
    remains.watch("HCIAdapter", stage.adapter)
    remains.watch("Connection", connection)
    _ = try await connection.gatt.read(Server.nameHandle)
    return stage.peer
  }

  @Test func aClientThatIsDroppedEndsItsLink() async throws {
    let remains = Remains()
    let peer = try await leave(remains)
    await testTimers.sleep(for: .seconds(10))
    #expect(peer.handle == nil)
    #expect(remains.names == [])
  }

  private func useHost(_ remains: Remains) throws {
    let timers = Timers()
    var sent: [[UInt8]] = []
    let host = HostController(timers: timers, randomAddress: BluetoothAddress(0xC0 << 40, .random)) {
      sent.append(Array($0))
    }
    remains.watch("HostController", host)
    host.initialize { _ in }
    func answer() {
      while !sent.isEmpty {
        let packet = sent.removeFirst()
        guard packet[0] == 1 else { continue }
        let opcode = HCIOpcode(rawValue: UInt16(packet[2]) << 8 | UInt16(packet[1]))
        let parameters: [UInt8] =
          switch opcode {
          case ReadLocalVersionInformation.opcode: [0, 9, 0, 0, 9, 0, 0, 0, 0]
          case ReadLocalSupportedCommands.opcode: [0] + Array(repeating: 0, count: 64)
          case ReadLocalSupportedFeatures.opcode, LEReadLocalSupportedFeatures.opcode:
            [0] + Array(repeating: 0xFF, count: 8)
          case LEReadBufferSize.opcode: [0, 27, 0, 4]
          case ReadBDADDR.opcode: [0, 1, 2, 3, 4, 5, 6]
          default: [0]
          }
        let isStatus = opcode == LECreateConnection.opcode || opcode == LEReadRemoteFeatures.opcode
        let event = isStatus ? HCIEvent.status(opcode).packet : HCIEvent.complete(opcode, parameters).packet
        host.receive(event.span.bytes, at: Arrival(timers.now))
      }
    }
    answer()
    #expect(host.controller != nil)
    host.setScan(.gentle)
    answer()
    let peer = BluetoothAddress(0xC000_0000_0001, .random)
    _ = host.connect(ConnectionRequest(peer: peer)) { result in
      guard let connection = try? result.get() else { return }
      remains.watch("LEConnection", connection)
      let link = L2CAPLink(connection)
      remains.watch("L2CAPLink", link)
      let bearer = ATTBearer(timers: timers) { link.send($0, on: .attribute) }
      remains.watch("ATTBearer", bearer)
      let procedures = ProcedureQueue(bearer)
      remains.watch("ProcedureQueue", procedures)
      link[.attribute] = { bearer.receive($0, at: $1) }
      link.onDisconnected = { bearer.close("\($0)") }
      procedures.run({ ReadValue(3, mtu: 23) }) { _ in }
    }
    answer()
    var writer = ByteWriter()
    HCIEvent.leConnectionComplete(
      LEConnectionComplete {
        $0.handle = ConnectionHandle(rawValue: 0x40)
        $0.peerAddress = peer
        $0.parameters.interval = ConnectionInterval(.milliseconds(15))
        $0.parameters.supervisionTimeout = SupervisionTimeout(.seconds(4))
      }
    ).packet(into: &writer)
    host.receive(writer.span, at: Arrival(timers.now))
    answer()
    let data = hex("02 40 20 06 00 02 00 04 00 1e 00")
    host.receive(data.span.bytes, at: Arrival(timers.now))
    #expect(remains.names.contains("LEConnection"))
    host.receive(hex("04 05 04 00 40 00 13").span.bytes, at: Arrival(timers.now))
  }

  @Test func releasesHostController() throws {
    let remains = Remains()
    try useHost(remains)
    #expect(remains.names == [])
  }

  /// The search is over, or was given up: neither it nor its scan is left.
  private func search(_ remains: Remains, cancels: Bool) async throws {
    let stage = Stage()
    remains.watch("Central", stage.central)
    remains.watch("HCIAdapter", stage.adapter)
    try await stage.central.start()
    let central = stage.central
    let task = spawn {
      try await RingFinder.find(.anyRing, on: central, deadline: .seconds(5))
    }
    await stage.sleep(.seconds(1))
    if cancels { task.cancel() }
    await #expect(throws: RingError.self) { try await task.value }
  }

  @Test(arguments: [true, false]) func releasesSearch(cancels: Bool) async throws {
    let remains = Remains()
    try await search(remains, cancels: cancels)
    await testTimers.sleep(for: .seconds(60))
    #expect(remains.names == [])
  }

  private func useRing(_ remains: Remains) async throws {
    let peer = Peer()
    peer.server = .empty
    peer.server.addService(RingGATT.commandService, at: 0x0010)
    peer.server.addCharacteristic(RingGATT.commandWrite, .write, at: 0x0011, [])
    peer.server.addCharacteristic(RingGATT.commandNotify, .notify, at: 0x0013, [])
    peer.server.addConfiguration(at: 0x0015)
    let (stage, connection) = try await Stage.connected(peer)
    remains.watch("HCIAdapter", stage.adapter)
    remains.watch("Connection", connection)
    let ring = try await RingClient.open(connection)
    remains.watch("Ring", ring)
    await #expect(throws: RingError.self) { try await ring.battery() }
    await connection.disconnect()
    await stage.central.stop()
  }

  @Test func releasesRing() async throws {
    let remains = Remains()
    try await useRing(remains)
    await testTimers.sleep(for: .seconds(60))
    #expect(remains.names == [])
  }
}
