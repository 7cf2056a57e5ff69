import ATT
import HaloBluetoothCore
import TestSupport
import Testing

@testable import HaloDissection

/// The devices of a summary: what was written to their attributes, and what answered.
@Suite struct UsedDeviceTests {
  private final class Session {
    let script = Script()
    private(set) var summary = CaptureSummary()

    init() { summary.add(script.received(Script.connected)) }

    func sent(_ digits: String, link: UInt16 = 0x40) {
      summary.add(script.att(digits.dense, isSent: true, link: link))
    }
    func received(_ digits: String) { summary.add(script.att(digits.dense, isSent: false)) }
    func pause(seconds: Int64) { script.pause(seconds: seconds) }
    func event(_ digits: String) { summary.add(script.received(digits)) }

    var device: UsedDevice? { summary.usedDevices.first }
  }

  private func places(_ pattern: BytePattern) -> [Int] { pattern.varyingBytes }

  @Test func groupsSimilarWrites() throws {
    let session = Session()
    // A lamp: the color, then its brightness, then on, on a link that goes on.
    for red in UInt8(0)..<40 {
      session.sent("521200 56 \(Hex.string([red])) ff00 f0aa")
      session.received("1b1400 56 00")
    }
    for _ in 0..<3 { session.sent("521200 cc 23 33") }
    session.sent("121200 cc 24 33")
    let device = try #require(session.device)
    #expect(device.address?.description == "30:35:38:41:BE:EF" && device.traffic == 84)
    #expect(device.writes.map(\.pattern.count) == [40, 3, 1])
    let color = device.writes[0]
    #expect(color.handle == 0x12 && color.operation == .writeCommand && color.distinct == 40)
    #expect(color.pattern.bytes == hex("5600ff00f0aa") && places(color.pattern) == [1])
    #expect(color.answers.map(\.handle) == [0x14] && color.answers.first?.pattern.count == 40)
    #expect(color.answers.first?.pattern.bytes == hex("5600"))
    #expect(device.writes[2].operation == .writeRequest && device.writes[2].pattern.bytes == hex("cc2433"))
    #expect(device.writes[1].pattern.bytes == hex("cc2333") && device.writes[1].answers.isEmpty)
  }

  /// Behind the bytes that all have in common is the command: 0x55AA, then it, then a counter.
  @Test func separatesCommandsAfterCommonPrefix() throws {
    let session = Session()
    for number in UInt8(0)..<60 { session.sent("521200 55aa 0\(number % 3) \(Hex.string([number])) 00") }
    let device = try #require(session.device)
    #expect(
      device.writes.map { Array($0.pattern.bytes.prefix(3)) } == [
        hex("55aa00"), hex("55aa01"), hex("55aa02"),
      ])
    #expect(
      device.writes.map(\.distinct) == [20, 20, 20]
        && device.writes.map { places($0.pattern) } == [[3], [3], [3]])
  }

  /// Answers in the order in which they were asked for, however late; and what only follows is none.
  @Test func answersBelongToTheirWrites() throws {
    let session = Session()
    session.sent("521200 01 00")
    session.sent("521200 02 00")
    session.received("1b1400 02 aa")
    session.received("1d1400 01 bb")
    session.sent("1e")
    session.pause(seconds: 90)
    session.received("1b1400 77 00")
    let writes = try #require(session.device).writes
    #expect(writes.map(\.answers.count) == [1, 1])
    #expect(
      writes[0].answers[0].operation == .handleValueIndication
        && writes[0].answers[0].pattern.bytes == hex("01bb"))
    #expect(
      writes[1].answers[0].operation == .handleValueNotification && writes[1].answers[0].pattern.count == 1)
  }

  @Test func indicationsAreCounted() {
    let session = Session()
    for _ in 0..<5 {
      session.received("1d1400 01")
      session.sent("1e")
    }
    #expect(session.summary.procedure(.indications)?.requests == 5)
    #expect(session.summary.procedure(.indications)?.roundTrips.count == 5)
  }

  @Test func theDeviceWithTheMostTrafficIsFirst() {
    let session = Session()
    session.sent("0a0300")
    // Another one, which is asked more; and one that is idle.
    session.event("04 3e 13 01 00 4100 00 01 0605040302c1 1800 0000 4800 00".dense)
    for _ in 0..<3 { session.sent("521200 01", link: 0x41) }
    session.event("04 3e 13 01 00 4200 00 01 0605040302c2 1800 0000 4800 00".dense)
    let used = session.summary.usedDevices
    #expect(
      used.map { $0.address?.description } == ["C1:02:03:04:05:06", "30:35:38:41:BE:EF", "C2:02:03:04:05:06"])
    #expect(used.map(\.traffic) == [3, 1, 0])
  }

  /// What a device writes to the host, and what the host reads of it.
  @Test func separatesWritesOfHostAndDevice() throws {
    let session = Session()
    session.received("521200 01")
    session.sent("0a0300")
    session.received("0b 4142")
    let device = try #require(session.device)
    #expect(device.writes.isEmpty && device.writesToHost.map(\.handle) == [0x12])
    #expect(device.reads == [0x03: hex("4142")])
  }

  /// A firmware of 3 MB, and any handles: the first values are kept apart.
  @Test func tablesAreBounded() throws {
    let session = Session()
    for number in UInt16(0)..<3000 {
      session.sent(
        "521200 aa \(Hex.string([UInt8(number >> 8), UInt8(truncatingIfNeeded: number)])) \(String(repeating: "5a", count: 200))"
      )
    }
    let writes = try #require(session.device).writes
    #expect(writes.map(\.pattern.count) == [2744, 256] && writes.map(\.distinct) == [nil, 256])
    #expect(writes[0].pattern.lengths == 203...203 && places(writes[0].pattern) == [1, 2])
    for handle in UInt16(1)...1000 {
      session.sent("52\(Hex.string([UInt8(truncatingIfNeeded: handle), UInt8(handle >> 8)])) 01")
    }
    #expect(session.summary.overflow == 1000 - WriteTally.attributeCapacity)
    #expect(Set(try #require(session.device).writes.map(\.handle)).count == WriteTally.attributeCapacity)
  }

  @Test func patternsOfAnyValues() {
    var random = SeededGenerator(seed: 29)
    for _ in 0..<300 {
      let values = (0..<Int.random(in: 1...6, using: &random)).map { _ in
        random.bytes(Int.random(in: 0...80, using: &random)).map { $0 % 3 }
      }
      var whole = BytePattern()
      var parts = (BytePattern(), BytePattern())
      for (index, value) in values.enumerated() {
        whole.add(value.span.bytes, length: value.count)
        if index % 2 == 0 {
          parts.0.add(value.span.bytes, length: value.count)
        } else {
          parts.1.add(value.span.bytes, length: value.count)
        }
      }
      if parts.1.count > 0 { parts.0.add(parts.1) }
      #expect(whole.count == values.count && parts.0.count == values.count)
      #expect(whole.lengths == parts.0.lengths && whole.bytes.count == parts.0.bytes.count)
      #expect(whole.varyingBytes == parts.0.varyingBytes)
      for index in whole.bytes.indices {
        #expect(whole.varies(index) == (Set(values.map { $0[index] }).count > 1))
      }
    }
  }
}
