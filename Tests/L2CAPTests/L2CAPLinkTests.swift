import HCI
import HaloBluetoothCore
import L2CAP
import TestSupport
import Testing

/// A host with one link, on a controller that agrees to everything.
private final class ConnectedHost {
  let timers = Timers()
  private(set) var link: L2CAPLink?
  private let out = Outbox()
  private var host: HostController?
  static let peer = BluetoothAddress(0xC011_2233_A1B2, .random)

  private final class Outbox {
    var packets: [[UInt8]] = []
  }

  init(policy: ParameterPolicy = .accept, dataLength: UInt16 = 27, role: LERole = .central) {
    let out = self.out
    let host = HostController(timers: timers, randomAddress: Self.peer) { out.packets.append(Array($0)) }
    self.host = host
    host.initialize { _ in }
    agree(dataLength: dataLength)
    guard role == .central else {
      host.onAccepted = { [weak self] connection in self?.link = L2CAPLink(connection) }
      receive("04 3e 13 01 00 4000 01 01 b2a1332211c0 0c00 0000 9001 00")
      out.packets = []
      return
    }
    _ = host.connect(ConnectionRequest(peer: Self.peer, parameterPolicy: policy)) { [weak self] result in
      self?.link = (try? result.get()).map { L2CAPLink($0) }
    }
    agree(dataLength: dataLength)
    receive("04 3e 13 01 00 4000 00 01 b2a1332211c0 0c00 0000 9001 00")
    agree(dataLength: dataLength)
    receive("04 3e 0c 04 00 4000 0000000000000000")
    out.packets = []
  }

  /// Answers all commands with success.
  private func agree(dataLength: UInt16) {
    while !out.packets.isEmpty {
      let packet = out.packets.removeFirst()
      let opcode = Hex.string(packet[1...2])
      switch opcode {
      case "0d20", "1620": receive("04 0f 04 00 01 \(opcode)")
      case "0220": receive("04 0e 07 01 0220 00 \(Hex.string([UInt8(dataLength), 0])) 04")
      default:
        // 0x60 everywhere says, among other things, that LE is supported; no optional command is.
        receive(
          "04 0e 44 01 \(opcode) 00" + (opcode == "0910" ? "010203040506" : "")
            + String(repeating: opcode == "0210" ? "00" : "60", count: opcode == "0910" ? 58 : 64))
      }
    }
  }

  func receive(_ packet: String) {
    let bytes = hex(packet)
    host?.receive(bytes.span.bytes, at: Arrival(timers.now))
  }

  func takeSent() -> [String] {
    defer { out.packets = [] }
    return out.packets.map { Hex.string($0) }
  }
}

@Suite struct L2CAPLinkTests {
  @Test func attributePDUsGoUpWithTheirTime() throws {
    let host = ConnectedHost()
    let link = try #require(host.link)
    var heard: [String] = []
    link[.attribute] = { pdu, arrival in heard.append("\(Hex.string(Array(pdu))) \(arrival.time.nanoseconds)")
    }
    host.timers.advance(to: Instant(nanoseconds: 5))
    host.receive("02 4020 0700 0300 0400 0b0102")
    host.receive("02 4020 0500 0300 0400 0b")
    host.timers.advance(to: Instant(nanoseconds: 9))
    host.receive("02 4010 0200 0304")
    #expect(heard == ["0b0102 5", "0b0304 9"])
  }

  @Test func framesAreCutForTheController() throws {
    let host = ConnectedHost(dataLength: 8)
    let link = try #require(host.link)
    let pdu = hex("12 1000 0102030405060708")
    link.send(pdu.span.bytes, on: .attribute)
    #expect(host.takeSent() == ["0240000800" + "0b000400" + "12100001", "0240100700" + "02030405060708"])
  }

  @Test func aParameterRequestIsAnsweredThenCarriedOut() throws {
    let host = ConnectedHost()
    let link = try #require(host.link)
    var asked: [Bool] = []
    link.onParameterRequest = { asked.append($1) }
    host.receive("02 4020 1000 0c00 0500 12 05 0800 0c00 1800 0400 f401")
    #expect(
      host.takeSent() == [
        "0240000a00" + "06000500" + "130502000000", "0113200e" + "4000" + "0c0018000400f401" + "00000000",
      ])
    #expect(asked == [true])
  }

  @Test func aParameterRequestIsRejectedWhereOursStay() throws {
    let host = ConnectedHost(policy: .keep)
    let link = try #require(host.link)
    var asked: [Bool] = []
    link.onParameterRequest = { asked.append($1) }
    host.receive("02 4020 1000 0c00 0500 12 05 0800 0c00 1800 0400 f401")
    #expect(host.takeSent() == ["0240000a00" + "06000500" + "130502000100"])
    #expect(asked == [false])
  }

  /// The frames of the test vectors, each as one ACL packet.
  @Test func everyChannelGetsItsAnswer() throws {
    let host = ConnectedHost()
    let link = try #require(host.link)
    var heard: [String] = []
    link[.attribute] = { pdu, _ in heard.append(Hex.string(Array(pdu))) }
    // LE signalling, unknown code.
    host.receive("02 4020 0900 050005007f060100aa")
    #expect(host.takeSent() == ["0240000a00" + "06000500" + "010602000000"])
    // SMP, before somebody receives it and then.
    host.receive("02 4020 0b00 0700060001030001100000")
    #expect(host.takeSent() == [])
    link[.securityManager] = { [unowned link] _, _ in link.send(hex("0505").span.bytes, on: .securityManager)
    }
    host.receive("02 4020 0b00 0700060001030001100000")
    #expect(host.takeSent() == ["0240000600" + "02000600" + "0505"])
    // A channel that nobody opened.
    host.receive("02 4020 0600 0200 4000 aabb")
    // A frame of no bytes on ATT, one that is longer than it says, and one that is not whole.
    host.receive("02 4020 0400 00000400")
    host.receive("02 4020 0900 030004000a1600ffff")
    host.receive("02 4020 0900 190004001b10000102")
    #expect(host.takeSent() == [])
    #expect(heard == [""])
    #expect(link.counters.overlong == 1)
  }

  @Test func deliversNothingAfterDisconnection() throws {
    let host = ConnectedHost()
    let link = try #require(host.link)
    var heard = 0
    var reasons: [HCIErrorCode] = []
    link[.attribute] = { _, _ in heard += 1 }
    link.onDisconnected = { reasons.append($0) }
    host.receive("04 05 04 00 4000 13")
    host.receive("04 05 04 00 4000 13")
    host.receive("02 4020 0500 0100 0400 13")
    link.send([0x0A].span.bytes, on: .attribute)
    #expect(heard == 0)
    #expect(reasons == [.remoteUserTerminatedConnection])
    #expect(host.takeSent() == [])
  }
}

/// Other connection parameters, as a peripheral gets them from a central whose link layer has no procedure for its request
/// (Vol 3, Part A, 4.20).
@Suite struct ParameterUpdateTests {
  private let wanted = ConnectionParameters(
    intervalMin: ConnectionInterval(rawValue: 24), intervalMax: ConnectionInterval(rawValue: 40),
    supervisionTimeout: SupervisionTimeout(rawValue: 400))
  private let request = "02 4000 1000 0c00 0500 12 01 0800 1800 2800 0000 9001".filter { $0 != " " }

  private final class Outcome {
    var results: [Result<LinkParameters, StackError>] = []
  }

  /// The controller can't do it without the central's link layer.
  private func asking(_ role: LERole = .peripheral, _ status: String = "1a") throws -> (
    ConnectedHost, Outcome
  ) {
    let host = ConnectedHost(role: role)
    let outcome = Outcome()
    try #require(host.link).update(wanted) { outcome.results.append($0) }
    #expect(host.takeSent() == ["0113200e4000" + "18002800" + "0000" + "9001" + "00000000"])
    host.receive("04 0f 04 \(status) 01 1320")
    return (host, outcome)
  }

  @Test(arguments: ["1a", "11", "0c", "01"]) func aPeripheralAsksTheCentralByL2CAP(_ status: String) throws {
    let (host, outcome) = try asking(.peripheral, status)
    #expect(host.takeSent() == [request])
    host.receive("02 4020 0a00 0600 0500 13 01 0200 0000")
    #expect(outcome.results.isEmpty)
    host.receive("04 3e 0a 03 00 4000 2000 0000 9001")
    #expect(try outcome.results.first?.get().interval.rawValue == 0x20 && outcome.results.count == 1)
  }

  /// One that does not know the command, either.
  @Test(arguments: ["02 4020 0a00 0600 0500 13 01 0200 0100", "02 4020 0a00 0600 0500 01 01 0200 0000"])
  func aCentralMayRejectIt(_ answer: String) throws {
    let (host, outcome) = try asking()
    // Answers to other requests are none to this one.
    host.receive("02 4020 0a00 0600 0500 13 02 0200 0000")
    host.receive(answer)
    #expect(
      outcome.results == [
        .failure(.commandFailed(LEConnectionUpdate.opcode, .unacceptableConnectionParameters))
      ])
    // The next request has another identifier.
    _ = host.takeSent()
    host.link?.update(wanted)
    host.receive("04 0f 04 1a 01 1320")
    #expect(host.takeSent().last?.contains("1202") == true)
  }

  @Test func aCentralDoesNotAskByL2CAP() throws {
    let (host, outcome) = try asking(.central)
    #expect(host.takeSent() == [] && outcome.results.count == 1)
  }

  @Test func theEndOfTheLinkEndsTheRequest() throws {
    let (host, outcome) = try asking()
    host.receive("04 05 04 00 4000 13")
    #expect(outcome.results == [.failure(.notConnected)])
  }

  @Test func parameterUpdateRequestTimesOut() throws {
    let (host, outcome) = try asking()
    host.receive("04 13 05 01 4000 0100")
    host.timers.advance(by: .seconds(45))
    #expect(outcome.results == [.failure(.commandTimedOut(LEConnectionUpdate.opcode))])
  }
}
