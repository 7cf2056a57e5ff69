import ATT
import HaloGATT
import HaloBluetoothCore
import HaloSystem
import RingLink
import TestLoop
import Testing

/// Rings that do not answer, and programs that do not wait.
@BluetoothActor
@Suite(.onTheLoop) struct RingWaitTests {
  private func open() async throws -> (Stage, RingClient) {
    let peer = Peer()
    peer.server = .empty
    peer.server.addService(RingGATT.commandService, at: 0x0010)
    peer.server.addCharacteristic(RingGATT.commandWrite, .writeWithoutResponse, at: 0x0011, [])
    peer.server.addCharacteristic(RingGATT.commandNotify, .notify, at: 0x0013, [])
    peer.server.addConfiguration(at: 0x0015)
    let (stage, connection) = try await Stage.connected(peer)
    return (stage, try await RingClient.open(connection))
  }

  private func battery(_ percent: UInt8) -> [UInt8] {
    var frame: [UInt8] = [0x03, percent, 0] + Array(repeating: 0, count: 12)
    frame.append(frame.reduce(0, &+))
    return frame
  }

  /// The answer to the question that was given up is not taken for that of the next one.
  @Test func aCancelledCommandEndsAtOnceAndTheNextGetsItsOwnAnswer() async throws {
    let (stage, ring) = try await open()
    let first = spawn { try await ring.battery() }
    await stage.sleep(.milliseconds(500))
    await stage.within(.milliseconds(1)) {
      first.cancel()
      await #expect(throws: RingError.cancelled) { try await first.value }
    }
    let second = spawn { try await ring.battery() }
    await stage.sleep(.milliseconds(100))
    #expect(stage.peer.commandCount == 1)
    stage.peer.notify(0x0014, battery(11))
    await stage.sleep(.milliseconds(100))
    #expect(stage.peer.commandCount == 2)
    stage.peer.notify(0x0014, battery(22))
    #expect(try await second.value.percent == 22)
    await ring.connection.disconnect()
    try await stage.checkHealth()
  }

  /// A ring that never answers holds the next command up for one silence, not for ever.
  @Test func cancelledCommandDelaysNextByOneTimeout() async throws {
    let (stage, ring) = try await open()
    let first = spawn { try await ring.battery() }
    await stage.sleep(.milliseconds(500))
    first.cancel()
    _ = await first.result
    let error = await stage.within(.milliseconds(4100)) {
      await failure { () async throws(RingError) in try await ring.battery() }
    }
    guard case .notAnswered = error else {
      Issue.record("\(String(describing: error))")
      return
    }
    #expect(stage.peer.commandCount == 2)
    await ring.connection.disconnect()
    try await stage.checkHealth()
  }

  /// One that has not been sent is taken back.
  @Test func aCommandThatWaitsIsTakenBack() async throws {
    let (stage, ring) = try await open()
    let first = spawn { try await ring.battery() }
    let second = spawn { try await ring.battery() }
    await stage.sleep(.milliseconds(100))
    second.cancel()
    await #expect(throws: RingError.cancelled) { try await second.value }
    stage.peer.notify(0x0014, battery(33))
    #expect(try await first.value.percent == 33)
    await stage.sleep(.seconds(5))
    #expect(stage.peer.commandCount == 1)
    await ring.connection.disconnect()
    try await stage.checkHealth()
  }

  /// Service Changed where the ring's characteristics are: they are discovered again, and what comes next is sent
  /// afterwards. What was sent before is not sent twice.
  @Test func aRingWhoseServicesChangeIsFoundAgain() async throws {
    let (stage, ring) = try await open()
    stage.peer.server.addService(GATTUUID.genericAttribute, at: 0x0020)
    stage.peer.server.addCharacteristic(GATTUUID.serviceChanged, .indicate, at: 0x0021, [])
    stage.peer.server.addConfiguration(at: 0x0023)
    ring.connection.gatt.watchServiceChanges()
    await stage.sleep(.seconds(2))
    var hadLayout: [Bool] = []
    ring.onLayoutChange = { [unowned ring] in hadLayout.append(ring.layout != nil) }
    let first = spawn { try await ring.battery() }
    await stage.sleep(.milliseconds(10))
    stage.peer.send(ATTHandleValueIndication(0x0022, value: [0x10, 0, 0x15, 0]))
    await stage.sleep(.milliseconds(500))
    stage.peer.notify(0x0014, battery(33))
    #expect(try await first.value.percent == 33)
    let second = spawn { try await ring.battery() }
    await stage.sleep(.milliseconds(100))
    stage.peer.notify(0x0014, battery(34))
    #expect(try await second.value.percent == 34)
    #expect(stage.peer.commandCount == 2)
    #expect(hadLayout == [false, true])
    await ring.connection.disconnect()
    try await stage.checkHealth()
  }
}
