import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

/// Everything that one can wait for, with a peer or a controller that never answers: it has a deadline, and it ends at
/// once when its task is cancelled. A public `async` function that is not in this table is missing from it.
@BluetoothActor
@Suite(.onTheLoop) struct CancellationTests {
  struct Wait: CustomTestStringConvertible, Sendable {
    let name: String
    /// When it ends without being cancelled; nil for the wait for the end of a link, which has no deadline.
    let deadline: Duration?
    let run: @BluetoothActor @Sendable (Stage, GATTLink) async throws -> Void

    var testDescription: String { name }
  }

  private struct NotHeard: Error {}

  nonisolated static let service = Service(
    uuid: Server.heartRateService, handles: HandleRange(0x0010, 0x0013))
  nonisolated static let characteristic = Characteristic(
    uuid: Server.heartRate, properties: [.notify, .read], declaration: 0x11, valueHandle: 0x12, end: 0x13)
  nonisolated static let descriptor = Descriptor(
    uuid: GATTUUID.clientCharacteristicConfiguration, handle: 0x13)
  nonisolated static let transaction = Duration.seconds(30)

  nonisolated static let waits: [Wait] = [
    Wait(name: "exchangeMTU", deadline: transaction) { _, connection in
      try await connection.gatt.exchangeMTU()
    },
    Wait(name: "discoverServices", deadline: transaction) { _, connection in
      _ = try await connection.gatt.discoverServices()
    },
    Wait(name: "discoverServices of UUIDs", deadline: transaction) { _, connection in
      _ = try await connection.gatt.discoverServices([Server.batteryService])
    },
    Wait(name: "firstService", deadline: transaction) { _, connection in
      _ = try await connection.gatt.firstService(Server.batteryService)
    },
    Wait(name: "discoverIncludedServices", deadline: transaction) { _, connection in
      _ = try await connection.gatt.discoverIncludedServices(of: service)
    },
    Wait(name: "discoverCharacteristics", deadline: transaction) { _, connection in
      _ = try await connection.gatt.discoverCharacteristics(of: service)
    },
    Wait(name: "discoverDescriptors", deadline: transaction) { _, connection in
      _ = try await connection.gatt.discoverDescriptors(of: characteristic)
    },
    Wait(name: "read a handle", deadline: transaction) { _, connection in
      _ = try await connection.gatt.read(AttributeHandle(0x12))
    },
    Wait(name: "read a characteristic", deadline: transaction) { _, connection in
      _ = try await connection.gatt.read(characteristic)
    },
    Wait(name: "read a descriptor", deadline: transaction) { _, connection in
      _ = try await connection.gatt.read(descriptor)
    },
    Wait(name: "read a UUID", deadline: transaction) { _, connection in
      _ = try await connection.gatt.read(uuid: Server.battery)
    },
    Wait(name: "readFirst", deadline: transaction) { _, connection in
      _ = try await connection.gatt.readFirst(uuid: Server.battery)
    },
    Wait(name: "write a handle", deadline: transaction) { _, connection in
      try await connection.gatt.write([1], to: AttributeHandle(0x12))
    },
    Wait(name: "write a long value", deadline: transaction) { _, connection in
      try await connection.gatt.write(Array(repeating: 1, count: 100), to: AttributeHandle(0x12))
    },
    Wait(name: "write a characteristic", deadline: transaction) { _, connection in
      try await connection.gatt.write([1], to: characteristic)
    },
    Wait(name: "write a descriptor", deadline: transaction) { _, connection in
      try await connection.gatt.write([1], to: descriptor)
    },
    Wait(name: "writeWithoutResponse", deadline: .seconds(12)) { stage, connection in
      stage.radio.returnsCredits = false
      #expect(throws: StackError.noRoom) {
        while true { try connection.gatt.writeWithoutResponse([1], to: AttributeHandle(0x12)) }
      }
      try await connection.gatt.writeWithoutResponse([1], to: AttributeHandle(0x12), within: .seconds(12))
    },
    Wait(name: "writeWithoutResponse to a characteristic", deadline: .seconds(12)) { stage, connection in
      stage.radio.returnsCredits = false
      #expect(throws: StackError.noRoom) {
        while true { try connection.gatt.writeWithoutResponse([1], to: AttributeHandle(0x12)) }
      }
      try await connection.gatt.writeWithoutResponse([1], to: characteristic, within: .seconds(12))
    },
    Wait(name: "subscribe", deadline: transaction) { _, connection in
      _ = try await connection.gatt.subscribe(to: characteristic) { _, _ in }
    },
    Wait(name: "run", deadline: transaction) { _, connection in
      _ = try await connection.gatt.run { DiscoverAllServices() }
    },
    Wait(name: "readRSSI", deadline: .seconds(3)) { stage, connection in
      stage.radio.answer = { _, _ in [] }
      _ = try await connection.readRSSI()
    },
    Wait(name: "connect", deadline: .seconds(7)) { stage, _ in
      let request = ConnectionRequest(peer: BluetoothAddress(5, .random), deadline: .seconds(5))
      _ = try await stage.central.connect(request)
    },
    Wait(name: "find", deadline: .seconds(5)) { stage, _ in
      guard try await stage.central.find(within: .seconds(5), where: { $0.isNamed("R02") }) != nil else {
        throw NotHeard()
      }
    },
    Wait(name: "devices", deadline: .seconds(5)) { stage, _ in
      guard try await !stage.central.devices(within: .seconds(5)).isEmpty else { throw NotHeard() }
    },
    Wait(name: "start", deadline: .seconds(3)) { _, _ in
      let radio = Radio()
      radio.answer = { _, _ in [] }
      try await Central(HCIAdapter(radio)).start()
    },
    Wait(name: "disconnection", deadline: nil) { _, connection in
      _ = try await connection.disconnection()
    },
  ]

  private func silentStage() async throws -> (Stage, GATTLink) {
    let (stage, connection) = try await Stage.connected()
    stage.peer.react = { _ in .silent }
    return (stage, connection)
  }

  @Test(arguments: waits) func cancellationEndsWaitImmediately(_ wait: Wait) async throws {
    let (stage, connection) = try await silentStage()
    let task = spawn { try await wait.run(stage, connection) }
    await stage.sleep(.milliseconds(500))
    await stage.within(.milliseconds(1)) {
      task.cancel()
      await #expect(throws: (any Error).self) { try await task.value }
    }
    await stage.central.stop()
  }

  @Test(arguments: waits.filter { $0.deadline != nil }) func waitEndsAtItsDeadline(_ wait: Wait) async throws
  {
    let (stage, connection) = try await silentStage()
    await stage.within((wait.deadline ?? .zero) + .milliseconds(100)) {
      await #expect(throws: (any Error).self) { try await wait.run(stage, connection) }
    }
    await stage.central.stop()
  }

  /// The end of a link is not cancelled, but it has a deadline.
  @Test func disconnectingEndsWithoutTheController() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.radio.answer = { opcode, _ in opcode == Disconnect.opcode ? [HCIEvent.status(opcode).packet] : nil }
    let task = spawn { await connection.disconnect() }
    task.cancel()
    await stage.within(.milliseconds(5100)) { _ = await task.result }
    #expect(!connection.isConnected)
    await stage.central.stop()
  }

  // MARK: What a cancelled task leaves behind

  /// A procedure of many requests stops after the one that is under way, and the next one goes on.
  @Test func aCancelledDiscoveryDoesNotGoOn() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.react = { _ in .silent }
    let task = spawn { try await connection.gatt.discoverServices() }
    await stage.sleep(.seconds(1))
    task.cancel()
    await #expect(throws: StackError.cancelled) { try await task.value }
    stage.peer.react = { _ in .honest }
    stage.peer.send(stage.peer.server.answer(ATTReadByGroupTypeRequest(.all, type: GATTUUID.primaryService)))
    #expect(try await connection.gatt.read(Server.nameHandle) == Array("honest".utf8))
    #expect(stage.peer.requests.map(\.opcode) == [.readByGroupTypeRequest, .readRequest])
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// What a queued write has prepared is not left for the next who executes (GATT/CL/GAW/BV-05-C).
  @Test func aCancelledLongWriteIsTakenBack() async throws {
    let (stage, connection) = try await Stage.connected()
    let peer = stage.peer
    peer.react = { _ in .silent }
    let task = spawn {
      try await connection.gatt.write(Array(repeating: 7, count: 60), to: AttributeHandle(0x12))
    }
    await stage.sleep(.seconds(1))
    task.cancel()
    await #expect(throws: StackError.cancelled) { try await task.value }
    peer.react = { _ in .honest }
    if let open = peer.requests.first { peer.send(peer.server.answer(open)) }
    _ = try await connection.gatt.read(Server.nameHandle)
    #expect(peer.requests.map(\.opcode) == [.prepareWriteRequest, .executeWriteRequest, .readRequest])
    #expect(peer.requests.contains { $0 == ATTExecuteWriteRequest(.cancel) })
    await connection.disconnect()
    try await stage.checkHealth()
  }

  @Test func theMTUIsExchangedOnce() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.server.mtu = 100
    async let first = connection.gatt.exchangeMTU()
    async let second = connection.gatt.exchangeMTU()
    #expect(try await [first, second] == [100, 100])
    #expect(try await connection.gatt.exchangeMTU() == 100)
    #expect(stage.peer.requests.map(\.opcode) == [.exchangeMTURequest])
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// Who has cancelled gets nothing; who has not gets the answer, late as it is.
  @Test func aCancelledExchangeOfTheMTUIsAnsweredForTheOthers() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.react = { _ in .silent }
    let first = spawn { try await connection.gatt.exchangeMTU() }
    await stage.sleep(.seconds(1))
    first.cancel()
    await #expect(throws: StackError.cancelled) { try await first.value }
    let second = spawn { try await connection.gatt.exchangeMTU() }
    stage.peer.send(ATTExchangeMTUResponse(serverMTU: 64))
    #expect(try await second.value == 64)
    #expect(stage.peer.requestCount == 1)
    await connection.disconnect()
    try await stage.checkHealth()
  }
}
