import ATT
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import L2CAP
import TestLoop
import TestSupport
import Testing

/// L2CAP and ACL (Core Specification Vol 3, Part A; Vol 4, Part E, 5.4.2).
@BluetoothActor
@Suite(.onTheLoop) struct LinkLayerTests {
  /// Sends ACL data that is not as it should be; then a frame that is must arrive.
  private func survives(_ fragments: [(isStart: Bool, data: String)]) async throws {
    let (stage, connection) = try await Stage.connected()
    for fragment in fragments { stage.peer.sendData(hex(fragment.data), isStart: fragment.isStart) }
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// A frame's length: larger than ever arrives, smaller than what is there, zero, the largest.
  @Test(arguments: [
    "ffff 0400 0b01", "0100 0400 0b01", "0000 0400", "0000 0400 0b01", "ffff ffff", "0002 0400", "",
  ])
  func lengthsThatDoNotFitCostTheirFrameOnly(_ frame: String) async throws {
    try await survives([(true, frame)])
  }

  /// A frame above what is accepted is skipped: what follows it is a frame of its own again.
  @Test func framesThatAreTooLargeAreSkippedAndNotCollected() async throws {
    let (stage, connection) = try await Stage.connected()
    for _ in 0..<100 {
      stage.peer.sendData(hex("ffff 0400") + Array(repeating: 0x1B, count: 200))
      for _ in 0..<400 { stage.peer.sendData(Array(repeating: 0x1B, count: 200), isStart: false) }
      await stage.sleep(.milliseconds(1))
    }
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// Fragments cut anywhere, also within the header; continuations without a start; a start before the end.
  @Test(
    arguments: [
      [(true, "03"), (false, "00 0400 1b1200")], [(true, "0300"), (false, "04"), (false, "00 1b1200")],
      [(true, ""), (false, "0300 0400 1b1200")], [(false, "0300 0400 1b1200")],
      [(false, "aa"), (false, "bb")],
      [(true, "0900 0400 1b12"), (true, "0300 0400 1b1200")], [(true, "0300 0400 1b12"), (false, "00 ffff")],
      [(true, "0300 0400 1b"), (false, ""), (false, "1200")],
    ] as [[(Bool, String)]]) func fragmentsCutAnywhereCostTheirFrameAtMost(
      _ fragments: [(Bool, String)]
    ) async throws
  {
    try await survives(fragments.map { (isStart: $0.0, data: $0.1) })
  }

  @Test func everyCutOfAFrameGivesTheFrame() async throws {
    let (stage, connection) = try await Stage.connected()
    let values = Collected()
    stage.peer.react = { _ in .silent }
    let frame = hex("0500 0400 0b 61 62 63 64")
    for cut in 0...frame.count {
      let read = spawn { try await connection.gatt.read(AttributeHandle(0x0003)) }
      await stage.sleep(.milliseconds(10))
      stage.peer.sendData(Array(frame[..<cut]))
      stage.peer.sendData(Array(frame[cut...]), isStart: false)
      #expect(try await read.value == Array("abcd".utf8), "cut at \(cut)")
      values.pdus.append(ATTReadResponse([]))
    }
    #expect(values.pdus.count == frame.count + 1)
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// The fragments of two links are mixed: each link has a frame of its own (A, 7.2).
  @Test func fragmentsOfTwoLinksDoNotMix() async throws {
    let (stage, connection) = try await Stage.connected()
    let other = Peer(2)
    stage.radio.add(other)
    let second = try await stage.central.connect(ConnectionRequest(peer: other.address))
    stage.peer.react = { _ in .silent }
    other.react = { _ in .silent }
    let read = spawn { try await connection.gatt.read(AttributeHandle(0x0003)) }
    let readSecond = spawn { try await second.gatt.read(AttributeHandle(0x0003)) }
    await stage.sleep(.seconds(1))
    stage.peer.sendData(hex("0300 0400 0b"))
    other.sendData(hex("0200 04"))
    stage.peer.sendData(hex("01"), isStart: false)
    other.sendData(hex("00 0b 09"), isStart: false)
    stage.peer.sendData(hex("02"), isStart: false)
    #expect(try await read.value == [1, 2])
    #expect(try await readSecond.value == [9])
    await connection.disconnect()
    await second.disconnect()
    try await stage.checkHealth()
  }

  // MARK: Channels and signalling

  @Test(arguments: [0x0000, 0x0001, 0x0002, 0x0003, 0x0007, 0x003F, 0x0040, 0xFFFF] as [UInt16])
  func unopenedChannelsAreIgnored(_ channel: UInt16) async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.sendFrame(ChannelID(rawValue: channel), [1, 2, 3, 4])
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    #expect(stage.peer.otherFrameCount == 0)
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// Bad lengths and unknown codes are rejected, identifier zero and answers are not answered (A, 4.1; L2CAP/COS/CED).
  @Test(
    arguments: [
      ("12 05 0800 0600", "01050200 0000"), ("99 05 0000", "01050200 0000"), ("16 05 0000", nil),
      ("14 05 0a00 80004000170017000100", "01050200 0000"), ("12 00 0800 0600 0c00 0000 c800", nil),
      ("", nil),
      ("12", nil), ("01 05 0200 0000", nil), ("13 05 0200 0000", nil), ("12 05 ffff 00", "01050200 0000"),
    ] as [(String, String?)]) func signallingIsAnsweredAsItShould(_ frame: String, _ answer: String?)
    async throws
  {
    let (stage, connection) = try await Stage.connected()
    stage.peer.sendFrame(.leSignaling, hex(frame))
    await stage.sleep(.seconds(1))
    #expect(stage.peer.otherFrames.map(\.payload) == [answer].compactMap { $0 }.map { hex($0) })
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// Parameters that are wrong are refused and not passed on (A, 4.20; GAP/CONN/CPUP/BV-04-C and BV-05-C).
  @Test(arguments: [
    ("0600 0c00 0000 c800", true), ("0500 0c00 0000 c800", false), ("0600 810c 0000 c800", false),
    ("0c00 0600 0000 c800", false), ("0600 0c00 f401 c800", false), ("0600 0c00 0000 0900", false),
    ("0600 0c00 0000 810c", false), ("800c 800c 0000 0a00", false), ("ffff ffff ffff ffff", false),
  ]) func aConnectionParameterUpdateRequestIsChecked(_ parameters: String, _ isGranted: Bool) async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.sendFrame(.leSignaling, hex("12 05 0800" + parameters))
    await stage.sleep(.seconds(1))
    #expect(stage.peer.otherFrames.map(\.payload) == [hex("13 05 0200" + (isGranted ? "0000" : "0100"))])
    #expect(stage.radio.commands.contains(LEConnectionUpdate.opcode) == isGranted)
    await connection.disconnect()
    try await stage.checkHealth()
  }

  /// Pairing is not supported without settings for it, and a peripheral does not request it at all.
  @Test(arguments: [("01 03 00 01 10 00 00", "05 07"), ("0b 01", "05 05"), ("0b", "05 05")])
  func pairingIsRefused(_ pdu: String, _ answer: String) async throws {
    let (stage, connection) = try await Stage.connected()
    stage.peer.sendFrame(.securityManager, hex(pdu))
    await stage.sleep(.seconds(1))
    #expect(stage.peer.otherFrames.map(\.payload) == [hex(answer)])
    await connection.disconnect()
    try await stage.checkHealth()
  }

  // MARK: Data without a link

  /// 0x0EDC carries the debug log of some phone controllers.
  @Test(arguments: [0x0000, 0x0041, 0x0EDC, 0x0EFF, 0x0FFF] as [UInt16])
  func countsDataOfUnconnectedHandles(_ handle: UInt16) async throws {
    let (stage, connection) = try await Stage.connected()
    for _ in 0..<1000 { stage.radio.deliverData(handle, hex("0300 0400 0a0300")) }
    await stage.sleep(.seconds(1))
    #expect(stage.adapter.counters.unknownHandlePackets == 1000)
    #expect(try await connection.gatt.read(AttributeHandle(0x0022)) == [77])
    await connection.disconnect()
    try await stage.checkHealth()
  }
}
