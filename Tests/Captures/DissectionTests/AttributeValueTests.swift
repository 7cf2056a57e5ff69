import ATT
import HaloBluetoothCore
import RingLink
import TestSupport
import Testing

@testable import HaloDissection

/// A capture of which a test has the values of attributes.
private final class ValueScript {
  let script = Script()
  private var values = AttributeValues()

  @discardableResult
  func att(_ digits: String, isSent: Bool, link: UInt16 = 0x40) -> [AttributeValue] {
    values.take(script.att(digits.dense, isSent: isSent, link: link), script.dissector)
    return values.found
  }

  func sent(_ digits: String) -> [AttributeValue] { att(digits, isSent: true) }
  @discardableResult
  func received(_ digits: String) -> [AttributeValue] { att(digits, isSent: false) }
  func received(_ digits: String) -> AttributeValue? { att(digits, isSent: false).first }
  /// The number of the packet.
  func write(_ digits: String) -> Int {
    let packet = script.att(digits.dense, isSent: true)
    values.take(packet, script.dissector)
    return packet.info.number
  }

  func event(_ digits: String) { values.take(script.received(digits), script.dissector) }
}

@Suite struct AttributeValueTests {
  @Test func theValuesOfOnePDUAreFound() throws {
    let script = ValueScript()
    #expect(script.sent("12 1000 0a0b").map(\.bytes) == [[0x0A, 0x0B]])
    #expect(script.sent("52 1000").map(\.bytes) == [[]])
    let signed = try #require(script.sent("d2 1000 aa 010000000102030405060708").first)
    #expect(signed.bytes == [0xAA] && signed.operation == .signedWriteCommand)
    #expect(script.received("1b 1200 01 02").map(\.bytes) == [[1, 2]])
    #expect(script.received("1d 1200 03").map(\.bytes) == [[3]])
    #expect(script.sent("1e").isEmpty && script.received("13").isEmpty)
    // A PDU that is too short has no value.
    #expect(script.received("1b 12").isEmpty)
  }

  /// One row for each part of a long value: people join them by the offset
  /// (ashishmathew0297/Bluetooth-Snoop-Log-Tracker and others list `btatt.value` without it, and cannot).
  @Test func longValuesAreParts() throws {
    let script = ValueScript()
    let request = script.write("0a 2000")
    let first: AttributeValue = try #require(script.received("0b 4142"))
    #expect(first.offset == 0 && first.handle == 0x20 && first.answers == request)
    let next = script.write("0c 2000 0200")
    let second: AttributeValue = try #require(script.received("0d 43"))
    #expect(second.offset == 2 && second.bytes == [0x43] && second.handle == 0x20 && second.answers == next)
    let prepared = try #require(script.sent("16 2000 1200 aabb").first)
    #expect(prepared.offset == 0x12 && prepared.bytes == [0xAA, 0xBB])
    #expect(script.received("17 2000 1200 aabb").isEmpty)
    // The response of a request that is not in the capture.
    let other = ValueScript()
    let unknown: AttributeValue = try #require(other.received("0d 43"))
    #expect(unknown.offset == nil && unknown.handle == nil && unknown.answers == nil)
  }

  @Test func severalValuesInOnePDU() throws {
    let script = ValueScript()
    let request = script.write("08 0100 ffff 192a")
    let batteries: [AttributeValue] = script.received("09 03 1000 57 2000 58")
    #expect(
      batteries.map(\.handle) == [0x10, 0x20] && batteries.map(\.words) == ["87 percent", "88 percent"])
    #expect(batteries.allSatisfy { $0.answers == request && $0.name == "Battery Level" })
    let variable = script.write("20 1000 3000")
    let read: [AttributeValue] = script.received("21 0100 59 0200 0102")
    #expect(read.map(\.handle) == [0x10, 0x30] && read.map(\.bytes) == [[0x59], [1, 2]])
    #expect(read.map(\.words) == ["89 percent", nil] && read[0].answers == variable)
    _ = script.write("0e 1000 3000")
    let together: AttributeValue = try #require(script.received("0f 590102"))
    #expect(together.handle == nil && together.bytes == [0x59, 1, 2])
    let notified: [AttributeValue] = script.received("23 1000 0100 5a 3000 0100 07")
    #expect(notified.map(\.handle) == [0x10, 0x30] && notified[0].words == "90 percent")
    // Declarations describe attributes, and are no values.
    _ = script.write("08 0100 ffff 0328")
    #expect(script.received("09 07 1100 10 1200 372a").isEmpty)
  }

  /// A lamp whose app writes to one characteristic and is answered on another one by the same first byte
  /// (egold555/Govee-Reverse-Engineering #24).
  @Test func anAnswerBeginsLikeItsCommand() {
    let script = ValueScript()
    let power = script.write("52 1500 3301 01")
    let color = script.write("52 1500 a305 02")
    #expect(script.received("1b 1100 3301")?.answers == power)
    #expect(script.received("1b 1100 a305")?.answers == color)
    script.script.pause(seconds: 50)
    #expect(script.received("1b 1100 3301")?.answers == power)
    script.script.pause(seconds: 61)
    #expect(script.received("1b 1100 a305")?.answers == nil)
    #expect(script.received("1b 1100 aa01")?.answers == nil)
  }

  /// A battery monitor that answers a request of Modbus in several notifications (Olen/solar-monitor #7), of which only
  /// the first begins with the address and the function.
  @Test func anAnswerMayHaveSeveralValues() {
    let script = ValueScript()
    let request = script.write("52 1500 ff03 1402 0008 f5a6")
    #expect(script.received("1b 1100 ff03 1000")?.answers == request)
    #expect(script.received("1b 1100 0c01 0203")?.answers == request)
    #expect(script.received("1b 1100 0405 0607")?.answers == request)
    // Another characteristic does not answer what has an answer, and nothing does after a pause.
    #expect(script.received("1b 3000 2a")?.answers == nil)
    script.script.pause(seconds: 1)
    #expect(script.received("1b 1100 0809")?.answers == nil)
  }

  /// A scale that sends weights by itself (as most of those of openScale do) answers no write of a minute ago.
  @Test func unsolicitedNotificationAnswersNoWrite() {
    let script = ValueScript()
    _ = script.write("12 1500 2502 03")
    script.script.pause(seconds: 3)
    #expect(script.received("1b 1100 1001 0203")?.answers == nil)
    // After a subscription, values come because of it.
    _ = script.write("12 1500 77")
    _ = script.write("12 1200 0100")
    #expect(script.received("1b 1100 1001 0203")?.answers == nil)
    // A watch's answer (izivkov/CasioGShockSmartSync) is one of the link on which the write was.
    let request = script.write("12 1500 10")
    #expect(script.att("1b 1100 1017", isSent: false, link: 0x41).first?.answers == nil)
    #expect(script.received("1b 1100 1017")?.answers == request)
    script.event(Script.disconnected)
    #expect(script.received("1b 1100 1017")?.answers == nil)
  }

  @Test func aRingAnswersByItsCommand() {
    let script = ValueScript()
    func digits(_ frame: RingFrame) -> String { Hex.string(frame.bytes) }
    for (request, response) in [
      ("10 0100 ffff 0028", "11 14 0e00 1300 9ecadc240ee5a9e093f3a3b5f0ff406e"),
      ("08 0e00 1300 0328", "09 15 1100 10 1200 9ecadc240ee5a9e093f3a3b50300406e"),
    ] {
      _ = script.write(request)
      #expect(script.received(response).isEmpty)
    }
    let battery = script.write("12 1000" + digits(RingFrame(0x03)))
    let event: AttributeValue? = script.received("1b 1200" + digits(RingFrame(0x73, 0x0C, 50, 0)))
    #expect(event?.answers == nil && event?.words?.isEmpty == false)
    let answer: AttributeValue? = script.received("1b 1200" + digits(RingFrame(0x03, 67, 1)))
    #expect(answer?.answers == battery && answer?.isLocal == false)
    #expect(answer?.words == "battery, from the ring: percent 67 %, charging yes")
  }

  /// Whatever a capture has, what is kept of it is bounded.
  @Test func hostileCapturesStayBounded() {
    let script = ValueScript()
    for number in 0..<2000 {
      let digits = Hex.string([UInt8(number & 0xFF), UInt8(number >> 8 & 0xFF)])
      _ = script.write("52 \(digits) \(digits)")
      _ = script.att("52 \(digits) \(digits)", isSent: true, link: UInt16(number))
      _ = script.write("0c 2000 \(digits)")
    }
    let last = script.write("52 1000 55")
    #expect(script.received("1b 1200 55")?.answers == last)
  }
}
