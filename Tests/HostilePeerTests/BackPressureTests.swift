import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import Testing

/// Writes without response at full speed: nothing is lost in silence, the link stays, and the memory is bounded.
@BluetoothActor
@Suite(.onTheLoop) struct BackPressureTests {
  private func numbered(_ number: Int, count: Int) -> [UInt8] {
    (0..<4).map { UInt8(truncatingIfNeeded: number >> (8 * $0)) } + Array(repeating: 0x5A, count: count - 4)
  }

  private func stage(mtu: UInt16) async throws -> (Stage, GATTLink) {
    let (stage, connection) = try await Stage.connected()
    stage.peer.server.mtu = mtu
    try await connection.gatt.exchangeMTU()
    return (stage, connection)
  }

  @Test func twoMegabytesOverSmallBuffersArriveWholeAndInOrder() async throws {
    let (stage, connection) = try await stage(mtu: 517)
    stage.radio.delay = .microseconds(1)
    let size = 514
    let count = 2_000_000 / size + 1
    var most = 0
    for number in 0..<count {
      try await connection.gatt.writeWithoutResponse(
        numbered(number, count: size), to: AttributeHandle(0x12), within: .seconds(10))
      most = max(most, stage.adapter.waitingPackets)
    }
    await stage.sleep(.seconds(1))
    #expect(stage.peer.commandCount == count)
    #expect(stage.peer.commandBytes == count * size)
    #expect(stage.peer.commandsInOrder)
    // One write more than what is full: 517 bytes and their header are 20 packets.
    #expect(most <= 128 + 20)
    #expect(stage.adapter.waitingPackets == 0)
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// 600 writes in one breath: as many as there is room for are sent, the others say that they are not.
  @Test func throwsNoRoomAndKeepsLink() async throws {
    let (stage, connection) = try await stage(mtu: 247)
    var refused = 0
    var sent = 0
    for _ in 0..<600 {
      do throws(StackError) {
        try connection.gatt.writeWithoutResponse(numbered(sent, count: 200), to: AttributeHandle(0x12))
        sent += 1
      } catch {
        #expect(error == .noRoom)
        refused += 1
      }
    }
    #expect(refused > 0 && sent > 0)
    // A request finds room all the same.
    #expect(try await connection.gatt.read(Server.nameHandle) == Array("honest".utf8))
    await stage.sleep(.seconds(5))
    #expect(stage.peer.commandCount == sent && stage.peer.commandsInOrder)
    try connection.gatt.writeWithoutResponse(numbered(sent, count: 200), to: AttributeHandle(0x12))
    await connection.disconnect()
    try await stage.checkHealth()
  }

  @Test func stalledLinkFailsPendingWrites() async throws {
    let (stage, connection) = try await stage(mtu: 247)
    stage.radio.returnsCredits = false
    #expect(throws: StackError.noRoom) {
      while true { try connection.gatt.writeWithoutResponse([1, 2, 3, 4], to: AttributeHandle(0x12)) }
    }
    let error = await stage.within(.seconds(4)) {
      await failure { () async throws(StackError) in
        try await connection.gatt.writeWithoutResponse([1], to: AttributeHandle(0x12), within: .seconds(4))
      }
    }
    #expect(error == .noRoomInTime(seconds: 4))
    // The loss of the link ends those that wait, with its reason.
    let waiting = spawn {
      try await connection.gatt.writeWithoutResponse([1], to: AttributeHandle(0x12), within: .seconds(60))
    }
    await stage.sleep(.seconds(1))
    stage.radio.end(stage.peer, .connectionTimeout)
    let loss = LinkLoss.remote(.connectionTimeout)
    await #expect(throws: StackError.closed(loss.description)) {
      try await waiting.value
    }
    stage.radio.returnsCredits = true
    try await stage.checkHealth()
  }

  /// Two links, one of which takes nothing: the other is as fast as ever.
  @Test func aLinkThatIsStuckDoesNotHoldUpAnother() async throws {
    let (stage, connection) = try await stage(mtu: 247)
    let other = Peer(2)
    stage.radio.add(other)
    let second = try await stage.central.connect(ConnectionRequest(peer: other.address))
    // Each fills its queue, and the controller's room is shared: what is in it comes back.
    #expect(throws: StackError.noRoom) {
      while true { try connection.gatt.writeWithoutResponse([1, 2, 3, 4], to: AttributeHandle(0x12)) }
    }
    for number in 0..<500 {
      try await second.gatt.writeWithoutResponse(
        numbered(number, count: 20), to: AttributeHandle(0x12), within: .seconds(5))
    }
    await stage.sleep(.seconds(1))
    #expect(other.commandCount == 500 && other.commandsInOrder)
    await connection.disconnect()
    await second.disconnect()
    try await stage.checkHealth()
  }
}
