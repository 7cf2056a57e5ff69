import HCI
import HaloBluetoothCore
import RingLink
import TestSupport
import Testing

@testable import HaloSimulation

/// The models of the virtual ring, against what real ones of them sent.
@Suite struct ModelTests {
  /// Requests of a vendor's app and answers of a COLMI R10, as thebabush/junk published them (crates/junk-colmi/tests, lines of
  /// qring-sync-2026-07-02.trace). In between the app writes a profile.
  private static let dialogue = [
    ("0126070214163001000000000000008b", ["2f", "01010000020000000001002000003055"]),
    ("3c00000000000000000000000000003c", ["3c00ac2700000000000000000000000f"]),
    ("0a01000000000000000000000000000b", ["0a010000001eaf46000000000000001e"]),
    ("0a020000001eaf46785096000000007d", ["0a02000000000000000000000000000c"]),
    ("0a01000000000000000000000000000b", ["0a010000001eaf46000000000000001e"]),
    ("16010200000000000000000000000019", ["16010105050000000000000000000022"]),
    ("21010000000000000000000000000022", ["2101881300e09304b80b0000000000f7"]),
    ("3b01000000000000000000000000003c", ["3b01000001000000000000000000003d"]),
  ]

  @Test func anR10AnswersToTheByte() throws {
    let ring = SimulatedRing(options: try VirtualRingOptions(parsing: "model=r10"), timers: Timers())
    var sent: [String] = []
    ring.notify = { sent.append(Hex.string($0.bytes)) }
    for (request, answers) in Self.dialogue {
      sent = []
      ring.receive(hex(request).span.bytes)
      #expect(sent.count == answers.count, "\(request)")
      for (frame, answer) in zip(sent, answers) { #expect(frame.hasPrefix(answer), "\(request)") }
    }
  }

  /// One a day, the oldest first, and none of today; an R10 has all in one, today among them.
  @Test(arguments: [("r09", [6, 5, 4, 3, 2, 1], 1), ("r10", [6], 7)] as [(String, [UInt8], Int)])
  func temperaturesComeInFrames(_ model: String, _ first: [UInt8], _ days: Int) throws {
    let options = try VirtualRingOptions(parsing: "model=\(model),clock=2026-11-21T13:45:00")
    let ring = SimulatedRing(options: options, timers: Timers())
    ring.payloadLength = { 182 }
    var assembler = BulkAssembler()
    var frames: [BulkFrame] = []
    ring.notifyBulk = {
      if case .frame(let frame) = assembler.receive($0.span.bytes, at: .zero) { frames.append(frame) }
    }
    // stansz/smart-ring asks with a count of days.
    ring.receiveBulk(hex("bc250100fe8207").span.bytes)
    #expect(frames.map { $0.payload.first } == first)
    #expect(frames.allSatisfy { $0.payload.count == 50 * days && $0.payload[1] == 30 })
  }

  @Test(arguments: [
    ("r02", "R02_BEEF", RingFamily.rf03), ("r06", "R06_BEEF", .rf03), ("r09", "R09_BEEF", .rt),
    ("r10", "R10_BEEF", .rt),
  ]) func aModelHasItsNameAndFirmware(_ model: String, _ name: String, _ family: RingFamily) throws {
    let options = try VirtualRingOptions(parsing: "model=\(model)")
    #expect(options.name == name && options.family == family && options.rate == 1)
    // Other options count more, wherever they are.
    let other = try VirtualRingOptions(parsing: "rate=25,name=R02_X,model=\(model)")
    #expect(other.rate == 25 && other.name == "R02_X" && other.firmware == options.firmware)
    #expect(options.another(1).name.hasSuffix("_BEF0") && options.another(1).name.hasPrefix(name.prefix(4)))
  }

  /// CitizenOneX/colmi_r06_fbp: an R06 advertises a name, and nothing else that identifies it.
  @Test func anR06AdvertisesItsNameOnly() throws {
    let options = try VirtualRingOptions(parsing: "model=r06")
    #expect(options.scanResponse.isEmpty && options.advertisement.count == 2)
    let r02 = try VirtualRingOptions(parsing: "model=r02")
    #expect(r02.scanResponse.count == 2)
  }
}

/// The frames that the virtual ring sends by one source alone: their bytes are those of the reference, and the decoder, which
/// has its own description, reads them.
@Suite struct OneSourceTests {
  private func answers(_ request: String, _ text: String = "") throws -> [String] {
    let ring = SimulatedRing(
      options: try VirtualRingOptions(parsing: "clock=2026-11-21T13:45:00" + text), timers: Timers())
    var sent: [String] = []
    ring.notify = { sent.append(Hex.string($0.bytes)) }
    let bytes = hex(request)
    ring.receive(
      try RingFrame(RingCommand(rawValue: bytes[0]), payload: bytes.dropFirst()).bytes.span.bytes)
    return sent
  }

  @Test func oldRequestsAreAnswered() throws {
    let old = ",firmware=R02_3.00.06"
    #expect(try answers("46") == ["460000007f00000000000000000000c5"])
    #expect(try answers("46", old) == ["c6ee00000000000000000000000000b4"])
    // A day that is not kept has only its number and zeros.
    #expect(
      try answers("0709", old) == ["07000900000000000000000000000010", "07010900000000000000000000000011"])
    let day = try answers("0701", old)
    #expect(day.count == 2 && day.allSatisfy { $0.hasPrefix("07") && $0.dropFirst(4).hasPrefix("01261120") })
    #expect(try answers("0206") == ["02030000000000000000000000000005"])
  }

  /// What the events say, as the decoder reads bytes that it has not written.
  @Test func eventsAreRead() throws {
    let timers = Timers()
    let events = SimulatedEvents(timers: timers, interval: .seconds(1))
    var sent: [RingFrame] = []
    events.send = { sent.append($0) }
    timers.advance(by: .seconds(10))
    let digits = sent.map { Hex.string($0.bytes.prefix(4)) }
    #expect(digits[5...8] == ["1d030000", "22010000", "732d0300", "733a0283"])
    #expect(
      sent[5...8].map { RingEvent($0) } == [
        .mediaKey(.next), .findsPhone(true), .button(.tap),
        .heartRateAlarm(HeartRateAlarm(limit: 2, beatsPerMinute: 131)),
      ])
  }

  /// No encoder of the decoder's is used for them.
  @Test func theDecodersDescriptionIsNotUsed() throws {
    let lone = CommandTable.all.filter { $0.loneSource != nil && $0.group != .blocked }.map(\.name)
    #expect(lone.contains("button") && lone.contains("SpO2 by the minute") && !lone.contains("sport update"))
    let described = RingAnswer.all.map(\.entry) + RingBulkAnswer.all.map(\.entry)
    for entry in CommandTable.all where entry.loneSource != nil {
      // Settings are stored as they were written.
      guard entry.group != .settings, entry.group != .blocked else { continue }
      #expect(!described.contains(entry), "\(entry.name)")
    }
  }
}
