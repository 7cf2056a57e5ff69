import ATT
import GAP
import HaloGATT
import HaloBluetoothCore
import TestLoop
import TestSupport
import Testing

@testable import RingLink

/// The counted stream of a ring, from the request to the dark light (ring reference, 5.7).
@BluetoothActor
@Suite(.onTheLoop) struct CountedStreamTests {
  private static func packet(_ number: UInt8, status: UInt8 = 0) -> RingFrame {
    var sample = CountedSample(.green)
    sample.packet = number
    sample.status = status
    if status == 0 { (sample.raw, sample.z) = (11_000, 8000) }
    return sample.frame
  }

  @Test func startsOnFirstSampleAndSendsKeepAlives() async throws {
    let device = ScriptedRing()
    device.answer = {
      $0.digits == "690d3c" ? [Self.packet(7)] : $0.command == 0x6A ? [$0] : []
    }
    let ring = try await device.open()
    var numbers: [UInt8] = []
    var requests = 0
    try await ring.startCountedStream(.green, onRequest: { requests += 1 }) { sample, _ in
      numbers.append(sample.packet)
    }
    await settle()
    #expect(device.takeAsked() == ["690d3c"] && numbers == [7])
    device.answer = { $0.command == 0x6A ? [$0] : [] }
    await testTimers.sleep(for: .seconds(50))
    // A request is for a minute: two of three may be lost.
    #expect(device.takeAsked() == ["690d3c", "690d3c"] && requests == 2)
    device.send(Self.packet(8))
    await testTimers.sleep(for: .milliseconds(2))
    #expect(numbers == [7, 8])
    await ring.stopCountedStream()
    #expect(device.takeAsked() == ["6a0d"])
    device.send(Self.packet(9))
    await testTimers.sleep(for: .seconds(60))
    #expect(numbers == [7, 8] && device.takeAsked() == [])
  }

  /// What other rings do with a kind that they do not know.
  @Test(arguments: [
    (["e9ee"], CountedStreamFailure.refused(.notSupported), 0.0, ["690d3c"]),
    ([], .silent(seconds: 1.5), 1.5, ["690d3c", "6a0d"]),
    (["690d00", "690d00"], .empty, 1.5, ["690d3c", "6a0d"]),
    (["690d01"], .status(1), 1.5, ["690d3c", "6a0d"]),
  ])
  func ringsWithoutIt(
    _ answer: [String], _ failure: CountedStreamFailure, _ seconds: Double, _ asked: [String]
  ) async throws {
    let device = ScriptedRing()
    device.answer = { frame in
      guard frame.command == 0x69 else { return [] }
      return answer.compactMap {
        let bytes = hex($0)
        return try? RingFrame(RingCommand(rawValue: bytes[0]), payload: bytes.dropFirst())
      }
    }
    let ring = try await device.open()
    var samples = 0
    let (error, time) = await RingLinkTests.failure { () throws(RingError) in
      try await ring.startCountedStream(.green, within: .milliseconds(1500)) { _, _ in samples += 1 }
    }
    #expect(error == .countedStream(.green, failure) && samples == 0)
    #expect(abs(time.inSeconds - seconds) < 0.1)
    await settle()
    #expect(device.takeAsked() == asked)
    // The other stream can begin at once.
    device.answer = { $0.command == .rawStream ? [RawSample.ppg(OpticalSample.usual).frame] : [] }
    let start = testTimers.now
    try await ring.startRawStream { _, _ in samples += 1 }
    #expect(samples == 1 && testTimers.now - start < .milliseconds(100))
    // No request goes on.
    _ = device.takeAsked()
    await testTimers.sleep(for: .seconds(60))
    #expect(device.takeAsked() == [])
  }

  /// A client of an H59 drops packets with an error and goes on (log tag HlthBLE).
  @Test func ignoresErrorPackets() async throws {
    let device = ScriptedRing()
    device.answer = {
      $0.command == 0x69 ? [Self.packet(0, status: 1), Self.packet(0), Self.packet(1, status: 2)] : []
    }
    let ring = try await device.open()
    var numbers: [UInt8] = []
    try await ring.startCountedStream(.green) { sample, _ in numbers.append(sample.packet) }
    device.send(Self.packet(1))
    await testTimers.sleep(for: .milliseconds(2))
    #expect(numbers == [0, 1])
  }

  @Test func aMeasurementAndTheStreamTakeTheSensorFromEachOther() async throws {
    let device = ScriptedRing()
    device.answer = { $0.digits == "690d3c" ? [Self.packet(0)] : [] }
    let ring = try await device.open()
    let measuring = spawn { try await ring.measure(.heartRate) }
    await settle()
    try await ring.startCountedStream(.green) { _, _ in }
    await #expect(throws: RingError.measurement(.heartRate, .takenOver(by: .greenStream))) {
      try await measuring.value
    }
  }

  /// A stream that another has taken the sensor from is not requested again: that would take it back.
  @Test(arguments: [true, false]) func aStreamThatIsTakenOverIsRequestedNoMore(_ measures: Bool) async throws
  {
    let device = ScriptedRing()
    device.answer = {
      switch $0.digits {
      case "690d3c": [Self.packet(0)]
      case "a104": [RawSample.ppg(OpticalSample.usual).frame]
      default: []
      }
    }
    let ring = try await device.open()
    var packets = 0
    try await ring.startCountedStream(.green) { _, _ in packets += 1 }
    let measuring = measures ? spawn { try await ring.measure(.heartRate) } : nil
    if !measures { try await ring.startRawStream { _, _ in } }
    await settle()
    _ = device.takeAsked()
    device.send(Self.packet(1))
    await testTimers.sleep(for: .seconds(60))
    #expect(packets == 1 && !device.takeAsked().contains("690d3c"))
    measuring?.cancel()
    _ = await measuring?.result
  }

  @Test func theEndOfTheLinkAndOfTheTaskEndTheStart() async throws {
    let device = ScriptedRing()
    let ring = try await device.open()
    let cancelled = spawn { try await ring.startCountedStream(.red) { _, _ in } }
    await settle()
    cancelled.cancel()
    await #expect(throws: RingError.cancelled) { try await cancelled.value }
    let lost = spawn { try await ring.startCountedStream(.red) { _, _ in } }
    await settle()
    device.link.lose(.remote(.connectionTimeout))
    await #expect(throws: RingError.disconnected(LinkLoss.remote(.connectionTimeout).description)) {
      try await lost.value
    }
    await ring.stopCountedStream()
  }
}
