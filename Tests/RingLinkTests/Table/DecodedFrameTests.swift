import HaloBluetoothCore
@testable import RingLink
import TestSupport
import Testing

struct DecodedFrameTests {
  private func whole(_ text: String) throws -> RingFrame { try RingFrame(parsing: hex(text).span.bytes) }

  @Test(arguments: [
    ("03400000000000000000000000000043", true, "battery reply: percent 64 %, charging no"),
    ("03000000000000000000000000000003", false, "battery request"),
    ("08010000000000000000000000000009", false, "power off request"),
    ("08000000000000000000000000000008", false, "reboot request"),
    ("10000000000000000000000000000010", false, "blink request"),
    ("5055aa0000000000000000000000004f", false, "find request"),
    ("6901010000000000000000000000006b", false, "measurement request: kind heart rate (1), action start (1)"),
    (
      "6901010000000000000000000000006b", true,
      "measurement update: kind heart rate (1), status not worn (1), value 0 bpm, interval 0 ms"
    ),
    (
      "690100560000c3020000000000000085", true,
      "measurement update: kind heart rate (1), status measuring (0), value 86 bpm, interval 707 ms"
    ),
    (
      "69060400000000000000000000000073", false,
      "measurement request: kind continuous heart rate (6), action stop (4)"
    ),
    ("6a0a2a0000000000000000000000009e", false, "measurement stop request: kind HRV (10), value 42"),
    ("730c2b010000000000000000000000ab", true, "battery changed event: percent 43 %, charging yes"),
    (
      "7312000bef0222090007cf0000000082", true,
      "live totals event: steps 3055 steps, calories 139785 cal, distance 1999 m"
    ),
    ("73010000000000000000000000000074", true, "new heart rate event"),
    ("732b1f000000000000000000000000bd", true, "new HRV event: value 31"),
    ("2ff10000000000000000000000000020", true, "payload length event: value 241"),
    ("86ee0000000000000000000000000074", true, "do-not-disturb refused: not supported by this ring"),
  ])
  func describesFrames(text: String, isFromRing: Bool, meaning: String) throws {
    #expect(CommandTable.meaning(of: try whole(text), isFromRing: isFromRing).description == meaning)
  }

  /// Each kind of a command has fields of its own, and what has no row is not named after another one. The frames of 0x69,
  /// 0x73 and 0x78 are of the vendor's Android SDK of 2025; those of 0x77 are answers of RT11CR firmware, and of an R10.
  @Test(arguments: [
    (
      "69 03 00 61 01", true, "measurement update: kind SpO2 (3), status measuring (0), value 97 %, final yes"
    ),
    (
      "69 02 00 48 78 50", true,
      "measurement update: kind blood pressure (2), status measuring (0), value 72, systolic 120 mmHg, diastolic 80 mmHg"
    ),
    (
      "69 0c 00 48 2a 1e c302 00 78 50", true,
      "measurement update: kind combined values (12), status measuring (0), heart-rate 72 bpm, hrv 42 ms, stress 30, "
        + "interval 707 ms, temperature 0, systolic 120 mmHg, diastolic 80 mmHg"
    ),
    (
      "69 0d 00 07 48 0102 0304 0506 0708 0910", true,
      "measurement update: kind green light (13), status measuring (0), packet 7, heart-rate 72 bpm, green 513, "
        + "x 1541, y 2055, z 4105"
    ),
    (
      "69 0e 00 07 61 0102 0304 0506 0708 0910", true,
      "measurement update: kind red and infrared light (14), status measuring (0), packet 7, spo2 97 %, red 513, "
        + "infrared 1027, x 1541, y 2055, z 4105"
    ),
    (
      "69 10 00 07 48", true,
      "measurement update: kind 16, status measuring (0), bytes 07 48 00 00 00 00 00 00 00 00 00 00"
    ),
    (
      "69 0b 00 6d 01", true,
      "measurement update: kind body temperature (11), status measuring (0), bytes 6d 01 00 00 00 00 00 00 00 00 00 00"
    ),
    (
      "78 04 01 004b 60 000082 00005b 001400", true,
      "sport update event: sport walk (4), status running (1), duration 75 s, heart-rate 96 bpm, steps 130 steps, "
        + "distance 91 m, calories 5120 cal"
    ),
    ("77 06 04 c0ab3f69", true, "sport session start time: start 1765780416 s"),
    ("77 01 00 665c9c6a", true, "sport session reply: action begun (1), start 1788632166 s"),
    ("77 00", true, "sport session reply: action paused or over (0)"),
    ("73 25 00000013 0007", true, "counter event: value 19"),
    ("73 2d 04", true, "button event: button long (4)"),
    ("73 3a 02 82", true, "heart rate alarm event: limit too high (2), heart-rate 130 bpm"),
    ("73 55", true, "notification, kind 0x55"), ("02 1a", false, "command 0x02, kind 0x1a"),
    ("08 05", false, "command 0x08, kind 0x05"), ("50 01", false, "command 0x50, kind 0x01"),
    ("82 ee", true, "command 0x02 refused: not supported by this ring"),
    ("bb ee", true, "touch, gesture or touch-sleep refused: not supported by this ring"),
    ("88 ee", true, "reboot or power off refused: not supported by this ring"),
  ])
  func kindsAreToldApart(start: String, isFromRing: Bool, meaning: String) throws {
    #expect(CommandTable.meaning(of: try frame(start), isFromRing: isFromRing).description == meaning)
  }

  @Test func fieldsHaveTheirBytes() throws {
    let meaning = CommandTable.meaning(
      of: try whole("7312000bef0222090007cf0000000082"), isFromRing: true)
    #expect(meaning.fields.map(\.name) == ["steps", "calories", "distance"])
    #expect(meaning.fields.map(\.range) == [2..<5, 5..<8, 8..<11])
    #expect(meaning.fields.first?.value == .number(3055, .steps, nil))
    #expect(meaning.entry?.group == .events)
  }

  @Test(
    arguments: [
      (0x9E, 0xEE, 0x1E), (0xE9, 0x00, 0x69), (0x86, 0xEE, 0x06), (0x86, 0x05, 0x06), (0xC6, 0xEE, 0x46),
      // Refusals of a command that no table has.
      (0x9F, 0xEE, 0x1F), (0xFF, 0xEE, 0x7F),
      // These may be answers of 0xC6 and 0xFF, the next one is nothing that is known.
      (0xC6, 0x00, nil), (0xFF, 0x66, nil), (0x9F, 0x05, nil),
      // The raw stream is no refusal of 0x21.
      (0xA1, 0xFF, nil), (0xA1, 0xEE, nil),
    ] as [(UInt8, UInt8, UInt8?)])
  func recognizesRefusals(command: UInt8, code: UInt8, refused: UInt8?) {
    let frame = RingFrame(RingCommand(rawValue: command), code)
    let refusal = CommandTable.meaning(of: frame, isFromRing: true).refusal
    #expect(refusal?.command.rawValue == refused)
    if refused != nil { #expect(refusal?.code.rawValue == code) }
    #expect(CommandTable.meaning(of: frame, isFromRing: false).refusal == nil)
  }

  @Test func aCommandThatWaitsIsRefusedWhateverTheCode() {
    let frame = RingFrame(0xC6, 0)
    let refusal = CommandTable.meaning(of: frame, isFromRing: true, pending: 0x46).refusal
    #expect(refusal == DecodedFrame.Refusal(command: 0x46, code: .malformed))
    #expect(CommandTable.meaning(of: RingFrame(0xA1, 4), isFromRing: true, pending: 0x21).refusal == nil)
  }

  @Test func bothRefusalsOfTheRawStreamHaveTheForm() {
    for code: UInt8 in [0xFF, 0xEE] {
      let frame = RingFrame(.rawStream, code)
      #expect(RawSample(frame) == .refused)
      #expect(CommandTable.meaning(of: frame, isFromRing: true).form?.name == "refused")
    }
    #expect(CommandTable.meaning(of: RingFrame(0x55, 1), isFromRing: true).description == "command 0x55")
  }

  /// What the table says of a frame is what the live link does with it: for every first byte, with and without a request
  /// that waits.
  @Test(arguments: [0x00, 0x05, 0xEE, 0xFF] as [UInt8])
  func dispatcherAgreesWithCommandTable(code: UInt8) {
    for first in UInt8.min...UInt8.max {
      let frame = RingFrame(RingCommand(rawValue: first), code)
      for request in [RingCommand(rawValue: first & 0x7F), 0x03]
      where CommandTable.danger(of: RingFrame(request, 1)) == nil {
        let timers = Timers()
        let dispatcher = RingDispatcher(timers: timers) { _ in }
        var end: RingError??
        var unknown = 0
        dispatcher.onUnknown = { _ in unknown += 1 }
        dispatcher.start(
          RingExchange(.frame(RingFrame(request, 1)), accept: { _ in .done }) { end = .some($0) })
        dispatcher.receive(frame.bytes.span.bytes, at: .zero)
        let meaning = CommandTable.meaning(of: frame, isFromRing: true, pending: request)
        let expected: RingError? =
          meaning.refusal.flatMap { $0.command == request ? .refused(.frame(request), $0.code) : nil }
        if case .some(.some(let error)) = end {
          #expect(error == expected, "\(frame) after \(request)")
        } else {
          #expect(expected == nil, "\(frame) after \(request)")
        }
        // A refusal is never shown as an unknown frame to the one that it is for.
        if expected != nil { #expect(unknown == 0) }
      }
    }
  }

  /// Nothing that can arrive makes it fall.
  @Test(arguments: [true, false])
  func everyCommandIsExplained(isFromRing: Bool) throws {
    for command in UInt8.min...UInt8.max {
      for second: UInt8 in [0, 1, 2, 6, 0x0C, 0x66, 0xEE, 0xFF] {
        let frame = try RingFrame(
          RingCommand(rawValue: command), payload: [second] + Array(repeating: 0xFF, count: 13))
        let meaning = CommandTable.meaning(of: frame, isFromRing: isFromRing)
        #expect(!meaning.description.isEmpty)
        for field in meaning.fields { #expect(field.range.upperBound <= 16) }
      }
    }
  }
}
