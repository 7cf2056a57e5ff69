import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import RingLink
import TestLoop
import TestSupport
import Testing

/// What has failed first is what is reported: a transport that breaks, at each packet of a session, is the reason that
/// the program gets, and not one of what followed from it.
@BluetoothActor
@Suite(.onTheLoop) struct FirstCauseTests {
  private static let reason = "unplugged by a test"

  /// A ring that answers its battery, as far as a test of errors needs one.
  private func ring(_ property: CharacteristicProperties) -> Peer {
    let peer = Peer()
    peer.server = .empty
    peer.server.addService(uuid(0x180A), at: 0x0001)
    peer.server.addCharacteristic(
      RingGATT.firmwareRevision, .read, at: 0x0002, Array("R02_3.00.06_240523".utf8))
    peer.server.addService(RingGATT.commandService, at: 0x0010)
    peer.server.addCharacteristic(RingGATT.commandWrite, property, at: 0x0011, [])
    peer.server.addCharacteristic(RingGATT.commandNotify, .notify, at: 0x0013, [])
    peer.server.addConfiguration(at: 0x0015)
    let answer = { [weak peer] (value: [UInt8]) in
      guard value.first == 0x03 else { return }
      var frame: [UInt8] = [0x03, 88, 0] + Array(repeating: 0, count: 12)
      frame.append(frame.reduce(0, &+))
      peer?.notify(0x0014, frame, after: .milliseconds(1))
    }
    peer.onCommand = { answer($1) }
    peer.react = { request in
      if let write = request as? ATTWriteRequest, write.handle == 0x0012 { answer(write.value) }
      return .honest
    }
    return peer
  }

  private func session(_ stage: Stage) async throws {
    try await stage.central.start()
    let ring = try await RingClient.open(try await stage.connect())
    for _ in 0..<5 { _ = try await ring.battery() }
    await ring.connection.disconnect()
  }

  @Test(arguments: [CharacteristicProperties.write, .writeWithoutResponse])
  func reportsTransportReasonWhereverItBreaks(_ property: CharacteristicProperties) async throws {
    let whole = Stage(ring(property))
    try await session(whole)
    let count = whole.radio.packetCount
    #expect(count > 60)
    for limit in 0..<count - 1 {
      let stage = Stage(ring(property))
      stage.radio.closesAfter = (limit, Self.reason)
      do {
        try await session(stage)
        // The last packets are those of the disconnection, after which all was done.
        #expect(limit > count - 6, "packet \(limit) of \(count) was not missed")
      } catch {
        #expect("\(error)".contains(Self.reason), "packet \(limit) of \(count): \(error)")
      }
      #expect(stage.failures == [.transportEnded(Self.reason)])
      await stage.central.stop()
    }
  }

  @Test func pendingRequestsFailWithTransportReason() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.react = { _ in .silent }
    let read = spawn { try await connection.gatt.read(AttributeHandle(0x0003)) }
    let waiting = spawn { try await connection.gatt.read(AttributeHandle(0x0004)) }
    let loss = spawn { try await connection.disconnection() }
    await stage.sleep(.seconds(1))
    stage.radio.fail(Self.reason)
    let expected = StackError.closed(StackError.transportEnded(Self.reason).description)
    await #expect(throws: expected) { try await read.value }
    await #expect(throws: expected) { try await waiting.value }
    #expect(try await loss.value == .adapter(.transportEnded(Self.reason)))
    #expect(
      await failure { () async throws(StackError) in try await connection.gatt.read(AttributeHandle(0x0003)) }
        == expected)
    #expect(
      await failure { () async throws(StackError) in try await connection.readRSSI() }
        == .transportEnded(Self.reason))
    await stage.central.stop()
  }
}
