import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

/// Controllers that do not behave (Core Specification Vol 4, Part E).
@BluetoothActor
@Suite(.onTheLoop) struct ControllerTests {
  // MARK: Set-up

  /// Zero for both kinds of buffers: nothing could ever be sent, and that is said at once (4.1.1).
  @Test func aControllerWithoutBuffersEndsAtSetUp() async throws {
    let stage = Stage()
    stage.radio.buffers = (0, 0)
    let error = await stage.within(.seconds(1)) {
      await failure { () async throws(StackError) in try await stage.central.start() }
    }
    #expect(error == .noDataBuffers)
    await stage.central.stop()
  }

  /// No buffers for LE alone: the shared ones count.
  @Test func bufferSizeZeroMeansTheSharedBuffers() async throws {
    let stage = Stage()
    stage.radio.buffers = (0, 0)
    stage.radio.answer = { opcode, _ in
      opcode == ReadBufferSize.opcode ? [HCIEvent.complete(opcode, hex("00 fd03 00 0800 0000")).packet] : nil
    }
    try await stage.central.start()
    #expect(try await stage.connect().gatt.read(AttributeHandle(0x0022)) == [77])
    try await stage.checkHealth()
  }

  /// Each command of the set-up in turn is not answered, refused, or answered with too little.
  @Test(arguments: [[], ["04 0e 04 01 OP 01"], ["04 0e 03 01 OP"], ["04 0f 04 0c 01 OP"]] as [[String]])
  func aSetUpThatFailsSaysWhichCommand(_ packets: [String]) async throws {
    let setUp = Stage()
    try await setUp.central.start()
    let commands = setUp.radio.commands
    await setUp.central.stop()
    #expect(commands.count > 5)
    for command in commands {
      let stage = Stage()
      let bytes = [UInt8(command.rawValue & 0xFF), UInt8(command.rawValue >> 8)]
      stage.radio.answer = { opcode, _ in
        opcode != command
          ? nil
          : packets.map { packet in
            let parts = packet.split(separator: "OP", omittingEmptySubsequences: false)
            return hex(String(parts[0])) + bytes + hex(String(parts[1]))
          }
      }
      let error = await stage.within(.milliseconds(3100)) {
        await failure { () async throws(StackError) in try await stage.central.start() }
      }
      let codes: [StackError.Code?] = [.commandTimedOut, .commandFailed, .malformedResponse]
      #expect(error?.command == command && codes.contains(error?.code), "\(String(describing: error))")
      await stage.central.stop()
    }
  }

  // MARK: Events

  @Test(arguments: [
    "04", "04 05", "04 05 04", "04 05 04 00", "04 05 ff 00 40 00 13", "04 05 00", "04 13", "04 13 00",
    "04 13 05 ff 40 00 01 00",
    "04 13 01 ff", "04 0e 00", "04 0e 01 01", "04 0e 02 01 03", "04 0f 03 00 01 03", "04 3e 00",
    "04 3e 01 ff",
    "04 3e 01 01", "04 3e 02 02 ff", "04 3e 05 02 01 00 00 00", "04 3e 0c 02 01 00 01 010203040506 ff",
    "04 ff 03 010203",
    "04 77 00", "04 3e 12 01 00 40 00", "04 10 00", "04 08 01 00", "03 01 02", "00", "ff ff",
    "05 00 00 00 00", "04 3e 03 63 01 02",
  ]) func ignoresMalformedAndUnknownEvents(_ packet: String) async throws {
    let (stage, connection) = try await Stage.connected()
    for _ in 0..<10 { stage.radio.deliver(hex(packet)) }
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// Completion for what was not sent; status where completion was due.
  @Test(arguments: [
    "04 0e 04 01 03 0c 00", "04 0e 04 05 00 00 00", "04 0e 03 01 00 00", "04 0f 04 00 01 00 00",
    "04 0f 04 00 01 03 0c", "04 0f 04 00 01 06 04", "04 0e 04 ff 05 14 00", "04 0f 04 00 ff 05 14",
  ]) func ignoresUnsolicitedCommandCompletions(_ packet: String) async throws {
    let (stage, connection) = try await Stage.connected()
    stage.radio.answer = { opcode, _ in
      // Ahead of the right answer.
      opcode == ReadRSSI.opcode ? [hex(packet), HCIEvent.complete(opcode, [0, 0x40, 0, 0xC4]).packet] : nil
    }
    stage.radio.deliver(hex(packet))
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    _ = try? await connection.readRSSI()
    stage.radio.answer = nil
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// A command budget of zero stops everything until the next event gives one.
  @Test func aBudgetOfZeroStopsCommandsUntilTheNextEvent() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.radio.answer = { opcode, parameters in
      opcode == ReadRSSI.opcode
        ? [HCIEvent.complete(opcode, [0, parameters[0], parameters[1], 0xC4], credits: 0).packet] : nil
    }
    #expect(try await connection.readRSSI() == -60)
    let before = stage.radio.commands.count
    let second = spawn { try await connection.readRSSI() }
    await stage.sleep(.seconds(1))
    #expect(stage.radio.commands.count == before)
    stage.radio.deliver(hex("04 0e 03 01 00 00"))
    #expect(try await second.value == -60)
    stage.radio.answer = nil
    stage.radio.deliver(hex("04 0e 03 01 00 00"))
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// A budget that is never given back is a controller that is dead.
  @Test func aBudgetThatIsNeverGivenBackEndsTheController() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.radio.answer = { opcode, parameters in
      opcode == ReadRSSI.opcode
        ? [HCIEvent.complete(opcode, [0, parameters[0], parameters[1], 0xC4], credits: 0).packet] : nil
    }
    _ = try await connection.readRSSI()
    let error = await stage.within(.milliseconds(3100)) {
      await failure { () async throws(StackError) in try await connection.readRSSI() }
    }
    #expect(error == .commandTimedOut(ReadRSSI.opcode))
    #expect(try await connection.disconnection() == .adapter(.commandTimedOut(ReadRSSI.opcode)))
    #expect(stage.failures == [.commandTimedOut(ReadRSSI.opcode)])
    await stage.central.stop()
  }

  // MARK: Room for data

  /// Too many credits, or for other handles: never more is sent than the controller has room for.
  @Test func ignoresExcessCompletedPackets() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.radio.returnsCredits = false
    let handle = try #require(stage.peer.handle)
    for other in [handle, 0x0EFF, 0x0000] {
      stage.radio.deliver(hex("04 13 05 01") + [UInt8(other & 0xFF), UInt8(other >> 8)] + hex("ffff"))
    }
    await stage.sleep(.seconds(1))
    for _ in 0..<20 { try connection.gatt.writeWithoutResponse([1, 2, 3, 4], to: AttributeHandle(0x12)) }
    await stage.sleep(.seconds(1))
    #expect(stage.peer.commandCount == 8)
    #expect(stage.adapter.waitingPackets == 12)
    // The disconnection gives back what was out, for the next link.
    stage.radio.end(stage.peer)
    await stage.sleep(.seconds(1))
    #expect(stage.adapter.waitingPackets == 0)
    stage.radio.returnsCredits = true
    try await stage.checkHealth()
  }

  // MARK: Connections

  /// Failed, for another peer, in the other role; then the next attempt is as good as the first.
  @Test(arguments: [0x02, 0x07, 0x09, 0x0B, 0x0C, 0x0D, 0x3C, 0xFF] as [UInt8])
  func reportsReasonOfFailedConnection(_ status: UInt8) async throws {
    let stage = Stage()
    try await stage.central.start()
    let peer = stage.peer.address
    stage.radio.answer = { [radio = stage.radio] opcode, _ in
      guard opcode == LECreateConnection.opcode else { return nil }
      radio.complete(peer, HCIErrorCode(rawValue: status))
      return [HCIEvent.status(opcode).packet]
    }
    let error = await stage.within(.milliseconds(7100)) {
      await failure { () async throws(StackError) in try await stage.connect() }
    }
    // The event overtook the status of its command: it is dropped, and the attempt ends with its deadline; or counts.
    let isTold = error == .connectionFailed(peer, HCIErrorCode(rawValue: status))
    #expect(isTold || error?.code == .peerNotFound, "\(String(describing: error))")
    stage.radio.answer = nil
    #expect(try await stage.connect().gatt.read(AttributeHandle(0x0022)) == [77])
    try await stage.checkHealth()
  }

  /// Unexpected links are ended, and are not taken for the one that was asked for.
  @Test(arguments: [LERole.central, .peripheral]) func unexpectedLinksAreEnded(_ role: LERole)
    async throws
  {
    let stage = Stage()
    try await stage.central.start()
    stage.peer.isThere = false
    let task = spawn { try await stage.connect(deadline: .seconds(20)) }
    await stage.sleep(.seconds(1))
    let address = role == .central ? BluetoothAddress(0xC000_0000_0777, .random) : stage.peer.address
    stage.radio.complete(address, role: role)
    await stage.sleep(.seconds(1))
    #expect(stage.radio.commands.last == Disconnect.opcode)
    stage.radio.complete(stage.peer.address)
    let connection = try await task.value
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    // The same link reported twice is the end of the first.
    await connection.disconnect()
    try await stage.checkHealth()
  }

  @Test func disconnectsLinkEstablishedAfterCancel() async throws {
    let stage = Stage()
    try await stage.central.start()
    stage.peer.isThere = false
    stage.radio.answer = { [radio = stage.radio, peer = stage.peer] opcode, _ in
      guard opcode == LECreateConnectionCancel.opcode else { return nil }
      radio.complete(peer.address)
      return [HCIEvent.complete(opcode, [0x0C]).packet]
    }
    let task = spawn { try await stage.connect() }
    await stage.sleep(.seconds(1))
    await stage.within(.seconds(3)) {
      task.cancel()
      await #expect(throws: StackError.cancelled) { try await task.value }
    }
    await stage.sleep(.seconds(1))
    #expect(stage.peer.handle == nil)
    stage.radio.answer = nil
    try await stage.checkHealth()
  }

  /// Data before the connection event and after the disconnection is dropped.
  @Test func dataBeforeAndAfterTheLinkIsDropped() async throws {
    let stage = Stage()
    try await stage.central.start()
    stage.radio.deliverData(0x40, hex("0300 0400 0b0102"))
    await stage.sleep(.milliseconds(1))
    let connection = try await stage.connect()
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    await connection.disconnect()
    stage.radio.deliverData(0x40, hex("0300 0400 0b0102"))
    await stage.sleep(.seconds(1))
    #expect(stage.adapter.counters.unknownHandlePackets == 2)
    try await stage.checkHealth()
  }

  /// A handle that is used again at once: half a frame, an open request and a subscription of before mean nothing.
  @Test func aHandleThatIsUsedAgainHasNoPast() async throws {
    let (stage, connection) = try await Stage.connected()
    let handle = try #require(stage.peer.handle)
    stage.peer.react = { _ in .silent }
    stage.peer.sendData(hex("0500 0400 0b01"))
    let read = spawn { try await connection.gatt.read(AttributeHandle(0x0003)) }
    await stage.sleep(.seconds(1))
    stage.radio.end(stage.peer)
    await #expect(throws: StackError.self) { try await read.value }
    stage.peer.react = { _ in .honest }
    stage.radio.reuse(handle)
    let next = try await stage.connect()
    #expect(stage.peer.handle == handle)
    stage.peer.sendData(hex("0203"), isStart: false)
    stage.peer.send(ATTReadResponse([0xBA, 0xD0]))
    await stage.sleep(.seconds(1))
    #expect(try await next.gatt.read(AttributeHandle(0x0022)) == [77])
    #expect(next.mtu == 23)
    await next.disconnect()
    try await stage.checkHealth()
  }

  /// A link is reported as made anew under the handle of one that was never reported as lost.
  @Test func reusedHandleEndsEarlierLink() async throws {
    let (stage, connection) = try await Stage.connected()
    let handle = try #require(stage.peer.handle)
    let other = Peer(2)
    stage.radio.add(other)
    stage.radio.reuse(handle)
    let second = try await stage.central.connect(ConnectionRequest(peer: other.address))
    #expect(!connection.isConnected)
    #expect(try await second.gatt.read(AttributeHandle(0x0022)) == [77])
    await second.disconnect()
    stage.peer.handle = nil
    try await stage.checkHealth()
  }

  /// A disconnection in the middle of anything: every wait ends with its reason.
  @Test(arguments: CancellationTests.waits.filter { $0.deadline == CancellationTests.transaction })
  func aDisconnectionEndsEveryWaitWithItsReason(_ wait: CancellationTests.Wait) async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.react = { _ in .silent }
    let task = spawn { try await wait.run(stage, connection) }
    await stage.sleep(.seconds(1))
    await stage.within(.milliseconds(10)) {
      stage.radio.end(stage.peer, .connectionTimeout)
      await #expect(
        throws: StackError.closed(LinkLoss.remote(.connectionTimeout).description)
      ) {
        try await task.value
      }
    }
    stage.peer.react = { _ in .honest }
    try await stage.checkHealth()
  }

  /// Hardware Error (7.7.16): links are lost with that reason, the controller is set up anew; after three it is given up.
  @Test func resetsControllerAfterHardwareErrorsUpToALimit() async throws {
    let (stage, connection) = try await Stage.connected()
    stage.radio.deliver(hex("04 10 01 42"))
    #expect(try await connection.disconnection() == .adapter(.hardwareError(0x42)))
    await stage.sleep(.seconds(1))
    let next = try await stage.connect()
    #expect(try await next.gatt.read(AttributeHandle(0x0022)) == [77])
    await next.disconnect()
    for _ in 0..<3 {
      stage.radio.deliver(hex("04 10 01 42"))
      await stage.sleep(.seconds(1))
    }
    #expect(stage.failures == [.hardwareError(0x42)])
    await #expect(throws: StackError.hardwareError(0x42)) { try await stage.connect() }
    await stage.central.stop()
  }

  /// Over weeks, a controller may break down more often than three times.
  @Test func aControllerThatBreaksDownNowAndThenIsKept() async throws {
    let stage = Stage()
    try await stage.central.start()
    for _ in 0..<10 {
      stage.radio.deliver(hex("04 10 01 42"))
      await stage.sleep(.seconds(3600))
    }
    #expect(stage.failures == [])
    try await stage.checkHealth()
    await stage.central.stop()
  }
}
