import HaloStorage
import HaloViews
import RingLink
import Testing

@Suite struct LiveSamplesTests {
  private var samples = LiveSamples([.ppg, .accelerometer], .sixteenBit)

  /// The name of a message and its data.
  private func parsed(_ bytes: [UInt8]) throws -> (name: String, data: JSONValue) {
    let lines = String(decoding: bytes, as: UTF8.self).split(
      separator: "\n", omittingEmptySubsequences: false)
    #expect(lines.count == 4 && lines[2].isEmpty && lines[3].isEmpty)
    return (
      String(lines[0].dropFirst("event: ".count)),
      try JSONValue(parsing: Array(lines[1].dropFirst("data: ".count).utf8))
    )
  }

  @Test mutating func putsWaitingSamplesIntoOneMessage() throws {
    samples.take(
      .ppg(OpticalSample(raw: 11_500, max: 0, min: 0, diff: 0, isValid: true)), at: 1.25, isSent: true)
    samples.take(.ppg(OpticalSample(raw: 0, max: 0, min: 0, diff: 0, isValid: true)), at: 1.29, isSent: true)
    let found = samples.takeMessage(ring: 3)
    let message = try #require(found)
    let (name, data) = try parsed(message.bytes)
    #expect(name == "samples" && message.samples == 2)
    #expect(data == (try JSONValue(parsing: Array(#"{"ring":3,"ppg":[1.25,11500,1.29,null]}"#.utf8))))
    #expect(samples.takeMessage(ring: 3) == nil)
  }

  @Test mutating func showsTheLastSamplesToANewViewer() throws {
    #expect(samples.recentMessage(ring: 0) == nil)
    for second in 0..<100 {
      samples.take(
        .ppg(OpticalSample(raw: UInt16(1000 + second), max: 0, min: 0, diff: 0, isValid: true)),
        at: Double(second),
        isSent: false)
    }
    let recent = samples.recentMessage(ring: 0)
    let (_, data) = try parsed(try #require(recent))
    guard case .array(let numbers)? = data.found("ppg") else {
      Issue.record("there is no light")
      return
    }
    #expect(numbers.count == 132 && numbers.first == .integer(34) && numbers.last == .integer(1099))
    // They were sent to nobody.
    #expect(samples.takeMessage(ring: 0) == nil)
  }

  @Test mutating func keepsTheDayOfSamplesThatNobodySees() {
    samples.take(
      .ppg(OpticalSample(raw: 11_500, max: 0, min: 0, diff: 0, isValid: true)), at: 1.25, isSent: false)
    #expect(samples.takeMessage(ring: 0) == nil)
    #expect(samples.day.columns(from: 1, to: 1, atMost: 1).lows == [11_500])
  }

  @Test mutating func boundsSamplesThatAreNotSent() throws {
    for index in 0..<100_000 {
      samples.take(
        .ppg(OpticalSample(raw: 11_500, max: 0, min: 0, diff: 0, isValid: true)), at: Double(index),
        isSent: true)
    }
    let message = samples.takeMessage(ring: 0)
    #expect(try #require(message).samples <= 1500)
  }

  @Test func writesNumbersWithoutZerosAtTheirEnd() {
    let numbers: [(Double?, Int, String)] = [
      (0, 0, "0"), (0, 3, "0"), (-0.0004, 3, "0"), (0.5, 3, "0.5"), (-0.5, 3, "-0.5"), (12.3456, 2, "12.35"),
      (100, 2, "100"),
      (0.001, 3, "0.001"), (-1.01, 2, "-1.01"), (1_796_040_000_123, 0, "1796040000123"), (nil, 1, "null"),
      (.nan, 1, "null"),
      (.infinity, 1, "null"), (1e300, 1, "null"),
    ]
    for (number, places, text) in numbers {
      var json = EventText("n")
      json.add("v", number, places: places)
      #expect(String(decoding: json.finished(), as: UTF8.self) == "event: n\ndata: {\"v\":\(text)}\n\n")
    }
  }

  @Test func keepsTextsOnOneLine() throws {
    var json = EventText("mark")
    json.add("note", "a\nb\r\n\u{2028}\"\\\u{0}event: x")
    json.add("list", [1, 2]) { $0.write(Double($1), places: 0) }
    json.add("object") { $0.add("flag", true) }
    let (_, data) = try parsed(json.finished())
    #expect(data.found("note") == .string("a\nb\r\n\u{2028}\"\\\u{0}event: x"))
  }
}
