import Glibc
import HaloBluetoothCore
import HaloStorage
import HaloCommandLine
import RingLink
import TestSupport
import Testing

@testable import HaloSystem

/// `F_SETPIPE_SZ` of fcntl(2), which Swift's Glibc module leaves out.
private let setPipeSize: Int32 = 1031

@Suite struct LineOutputTests {
  /// What `body` writes, by way of a pipe.
  private func output(_ body: (consuming LineWriter) -> Void) -> String {
    outputOfQueue { body(LineWriter($0)) }
  }

  private func outputOfQueue(_ body: (OutputQueue) -> Void) -> String {
    var pair: [Int32] = [0, 0]
    guard pipe(&pair) == 0 else { return "" }
    body(OutputQueue(descriptor: pair[1]))
    close(pair[1])
    defer { close(pair[0]) }
    var bytes = [UInt8](repeating: 0, count: 65536)
    let count = read(pair[0], &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self)
  }

  /// A second of the stamps is 13:45:00 in a zone an hour ahead of UTC.
  private var clock: RecordClock { RecordClock(offset: 1_795_265_099_000_000) { _ in 3600 } }

  private let ppg = RawSample.ppg(OpticalSample(raw: 10625, max: 10957, min: 10689, diff: 268, isValid: true))
  private let gap = RawSample.spo2(OpticalSample(raw: 0, max: 194, min: 114, diff: 149, isValid: true))
  // R06: 12, 502, -77 counts of 512 to the g.
  private let rest = RawSample.accelerometer(AccelerometerSample(x: 0xFB03, y: 0x000C, z: 0x1F06))

  private func lines(
    _ format: OutputFormat, _ kinds: SampleKinds = .all, encoding: AccelerometerEncoding? = .twelveBit
  ) -> [String] {
    output { pipe in
      var writer = SampleWriter(
        format, kinds: kinds, encoding: encoding, clock: clock, ring: "30:35:38:41:BE:EF", output: pipe)
      for (index, sample) in [gap, ppg, rest].enumerated() {
        _ = writer.print(sample, at: Instant(nanoseconds: 1_000_000_999 + Int64(index) * 40_000_000))
      }
    }.split(separator: "\n").map(String.init)
  }

  /// The members of a line of JSON before its kind.
  private func begin(_ seconds: String, _ number: Int = 0) -> String {
    #"{"t":\#(seconds),"time":"2026-11-21T13:45:0\#(seconds)+01:00","ring":"30:35:38:41:BE:EF","seq":\#(number),"#
  }

  @Test func jsonLinesHaveTimesKindsAndUnits() {
    #expect(
      lines(.jsonl) == [
        begin("0.000000") + #""kind":"spo2","raw":null,"max":194,"min":114,"diff":149}"#,
        begin("0.040000") + #""kind":"ppg","raw":10625,"max":10957,"min":10689,"diff":268}"#,
        begin("0.080000")
          + #""kind":"accel","x_g":-0.1504,"y_g":0.0234,"z_g":0.9805,"raw_x":-77,"raw_y":12,"raw_z":502}"#,
      ])
  }

  @Test func numbersCountEachKindAndNeverRepeat() throws {
    let text = output { pipe in
      var writer = SampleWriter(
        .jsonl, kinds: .all, encoding: .twelveBit, clock: clock, ring: "30:35:38:41:BE:EF", output: pipe)
      let stamps: [Int64] = [1_000_000_000, 1_000_000_000, 1_250_000_000]
      for stamp in stamps {
        _ = writer.print(ppg, at: Instant(nanoseconds: stamp))
        _ = writer.print(rest, at: Instant(nanoseconds: stamp))
        writer.mark(.gap("connection lost"), at: Instant(nanoseconds: stamp))
      }
    }
    let records = text.split(separator: "\n").map(String.init)
    for kind in ["ppg", "accel", "gap"] {
      let numbers = records.filter { $0.contains(#""kind":"\#(kind)""#) }.map {
        $0.split(separator: #""seq":"#)[1].prefix { $0.isNumber }
      }
      #expect(numbers == ["0", "1", "2"])
    }
  }

  /// Between 23:59:59 and 0:00:00, backwards, and in a zone that changes.
  @Test func theTimeOfDayFollowsTheStamps() {
    // 2026-10-25T01:00:00Z: the end of summer time in Berlin.
    let change = 1_792_890_000
    var clock = RecordClock(offset: Int64(change) * 1_000_000) { $0 < change ? 7200 : 3600 }
    func time(_ microseconds: Int64) -> String { clock.text(Instant(nanoseconds: microseconds * 1000)) }
    #expect(time(-1) == "2026-10-25T02:59:59.999999+02:00")
    #expect(time(0) == "2026-10-25T02:00:00.000000+01:00")
    #expect(time(-1_000_001) == "2026-10-25T02:59:58.999999+02:00")
    #expect(time(79_200_000_007) == "2026-10-26T00:00:00.000007+01:00")
    #expect(clock.timeOfDay(Instant(nanoseconds: 30_999_000)) == "02:00:00.030")
    var west = RecordClock(offset: 0) { _ in -12600 }
    #expect(west.text(.zero) == "1969-12-31T20:30:00.000000-03:30")
  }

  /// A Raspberry Pi gets the time from the network, some seconds after its start.
  @Test func aClockThatIsSetIsFollowedAndMarked() {
    var offset: Int64 = 0
    let text = output { pipe in
      var writer = SampleWriter(
        .csv, kinds: .ppg, encoding: nil, clock: RecordClock(offset: 0, measure: { offset }) { _ in 0 },
        ring: "30:35:38:41:BE:EF", output: pipe)
      _ = writer.print(ppg, at: Instant(nanoseconds: 0))
      // Two clocks are never read at once.
      offset = 90_000
      _ = writer.print(ppg, at: Instant(nanoseconds: 1_000_000_000))
      offset = 1_795_265_100_000_000
      _ = writer.print(ppg, at: Instant(nanoseconds: 2_000_000_000))
    }
    #expect(
      text.split(separator: "\n").dropFirst() == [
        "0.000000,1970-01-01T00:00:00.000000+00:00,30:35:38:41:BE:EF,0,ppg,10625,10957,10689,268,",
        "1.000000,1970-01-01T00:00:01.000000+00:00,30:35:38:41:BE:EF,1,ppg,10625,10957,10689,268,",
        "2.000000,2026-11-21T12:45:02.000000+00:00,30:35:38:41:BE:EF,0,clock,,,,,1795265100.000000",
        "2.000000,2026-11-21T12:45:02.000000+00:00,30:35:38:41:BE:EF,2,ppg,10625,10957,10689,268,",
      ])
  }

  /// Writers of two rings: one time, one row of names, numbers of their own.
  @Test func ringsShareTheTimeOfTheFirstRecord() {
    let origin = RecordOrigin()
    func lines(_ format: OutputFormat, _ origin: RecordOrigin, label: (String) -> String) -> [[String]] {
      let text = outputOfQueue { pipe in
        var first = SampleWriter(
          format, kinds: .ppg, encoding: nil, clock: clock, ring: "A", label: label("A"), origin: origin,
          output: LineWriter(pipe))
        var second = SampleWriter(
          format, kinds: .ppg, encoding: nil, clock: clock, ring: "B", label: label("B"), origin: origin,
          hasColumns: false, output: LineWriter(pipe))
        _ = second.print(ppg, at: Instant(nanoseconds: 1_000_000_000))
        _ = first.print(ppg, at: Instant(nanoseconds: 1_500_000_000))
        _ = second.print(ppg, at: Instant(nanoseconds: 2_000_000_000))
      }
      return text.split(separator: "\n").map {
        $0.split(separator: format == .csv ? "," : " ").map(String.init)
      }
    }
    let csv = lines(.csv, origin) { _ in "" }
    #expect(csv.first?.prefix(3) == ["t", "time", "ring"])
    #expect(
      csv.dropFirst().map { [$0[0], $0[2], $0[3]] } == [
        ["0.000000", "B", "0"], ["0.500000", "A", "0"], ["1.000000", "B", "1"],
      ])
    let text = lines(.text, RecordOrigin()) { "R02_\($0)  " }
    #expect(
      text.map { Array($0.prefix(5)) } == [
        ["0.000000", "s", "R02_B", "ppg", "10625"], ["0.500000", "s", "R02_A", "ppg", "10625"],
        ["1.000000", "s", "R02_B", "ppg", "10625"],
      ])
  }

  @Test func aRejectedFrameIsMarkedAtItsPlace() {
    let text = output { pipe in
      var writer = SampleWriter(
        .csv, kinds: .ppg, encoding: nil, clock: clock, ring: "30:35:38:41:BE:EF", header: "# what it is\n",
        output: pipe)
      _ = writer.collect(ppg, at: Instant(nanoseconds: 1_000_000_000))
      writer.mark(.rejected("the checksum is wrong", [0xA1, 2]), at: Instant(nanoseconds: 1_040_000_000))
      _ = writer.print(ppg, at: Instant(nanoseconds: 1_080_000_000))
    }
    let lines = text.split(separator: "\n")
    #expect(lines.first == "# what it is")
    #expect(lines.dropFirst(2).map { $0.split(separator: ",")[4] } == ["ppg", "rejected", "ppg"])
    #expect(lines.dropFirst(3).first?.hasSuffix(",0,rejected,,,,,the checksum is wrong: a102") == true)
  }

  /// What spreadsheets take for formulas, by OWASP's list, and the two characters that end a field.
  @Test(arguments: [
    ("=1+1", "'=1+1"), ("+cmd|calc", "'+cmd|calc"), ("@SUM(A1)", "'@SUM(A1)"),
    ("-2+3+cmd|' /C calc'!A0", nil),
    ("\t=1", "\"'\t=1\""), ("\r=1", "\"'\r=1\""), ("\n=1", "\"'\n=1\""), ("=5", "'=5"), ("-", "'-"),
    ("-1-1", "'-1-1"),
    ("=HYPERLINK(\"http://x\",\"y\")", "\"'=HYPERLINK(\"\"http://x\"\",\"\"y\"\")\""), ("＝1", "'＝1"),
    ("=\u{301}1", "'=\u{301}1"), ("-70", "-70"), ("+1.5", "+1.5"), ("R02_A1B2", "R02_A1B2"), ("a=1", "a=1"),
    ("a,\u{301}b", "\"a,\u{301}b\""), ("a\"\u{301}b", "\"a\"\"\u{301}b\""), ("two words", "two words"),
    ("a\u{2028}b", "\"a\u{2028}b\""), ("", ""),
  ])
  func escapesSpreadsheetFormulas(text: String, csv: String?) {
    let printed = output { pipe in
      var table = RecordPrinter(.csv, ["name"], output: pipe)
      table.print([.text(text)], text: "")
    }
    #expect(Array(printed.utf8) == Array("name\n\(csv ?? "'" + text)\n".utf8))
  }

  @Test func numbersAreNumbersInCSV() {
    let printed = output { pipe in
      var table = RecordPrinter(.csv, ["a", "b", "c"], output: pipe)
      table.print([.number(-70), .decimal(-365, places: 2), .list(["=1", "b"])], text: "")
    }
    #expect(printed == "a,b,c\n-70,-3.65,'=1 b\n")
  }

  @Test func csvHasTheColumnsOfTheKindsThatAreWanted() {
    #expect(
      lines(.csv, .ppg) == [
        "t,time,ring,seq,kind,raw,max,min,diff,note",
        "0.000000,2026-11-21T13:45:00.040000+01:00,30:35:38:41:BE:EF,0,ppg,10625,10957,10689,268,",
      ])
    #expect(
      lines(.csv, .accelerometer) == [
        "t,time,ring,seq,kind,x_g,y_g,z_g,raw_x,raw_y,raw_z,note",
        "0.000000,2026-11-21T13:45:00.080000+01:00,30:35:38:41:BE:EF,0,accel,-0.1504,0.0234,0.9805,-77,12,502,",
      ])
    let all = lines(.csv)
    #expect(Set(all.map { $0.split(separator: ",", omittingEmptySubsequences: false).count }) == [16])
    #expect(
      all[1] == "0.000000,2026-11-21T13:45:00.000000+01:00,30:35:38:41:BE:EF,0,spo2,,194,114,149,,,,,,,")
  }

  @Test func anUnknownEncodingIsNotGuessed() {
    #expect(
      lines(.jsonl, .accelerometer, encoding: nil).first
        == #"{"t":0.000000,"time":"2026-11-21T13:45:00.080000+01:00","ring":"30:35:38:41:BE:EF","seq":0,"#
        + #""kind":"accel","x_g":null,"y_g":null,"z_g":null,"raw_x":null,"raw_y":null,"raw_z":null}"#
    )
  }

  @Test func formatsNumbers() {
    let text = output { pipe in
      var writer = pipe
      for value in [0, 7, -7, 10, Int.max, Int.min] {
        writer.write(value)
        writer.write(" ")
      }
      for value in [0.0, -0.00001, 0.99999, -1.5, 1e300, .nan] {
        writer.write(value)
        writer.write(" ")
      }
      writer.writeSeconds(1_234_567_899)
      writer.writeHex(hex("a104").span.bytes)
      writer.flush()
    }
    #expect(
      text == "0 7 -7 10 \(Int.max) \(Int.min) 0.0000 0.0000 1.0000 -1.5000 0 0 1.234567a104")
  }

  @Test func toleratesClosedReader() {
    signal(SIGPIPE, SIG_IGN)
    var pair: [Int32] = [0, 0]
    #expect(pipe(&pair) == 0)
    close(pair[0])
    var writer = LineWriter(OutputQueue(descriptor: pair[1]))
    writer.write("gone\n")
    writer.flush()
    #expect(writer.failure == .readerGone)
    close(pair[1])
  }

  // MARK: A reader that is too slow

  /// Prints to a pipe of a page that is not read at first, then to one that is.
  ///
  /// - Returns: what was read
  private func outputOfASlowReader(_ count: Int, _ print: (consuming LineWriter, (Int) -> Void) -> Void)
    -> String
  {
    var pair: [Int32] = [0, 0]
    guard pipe(&pair) == 0 else { return "" }
    _ = fcntl(pair[1], setPipeSize, 4096)
    let queue = OutputQueue(descriptor: pair[1], owned: true, capacity: 4096, overflow: .drop)
    var bytes: [UInt8] = []
    print(LineWriter(queue)) { index in
      guard index == count / 2 else { return }
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      // What waits goes into the pipe as it is read.
      while queue.waitingBytes > 0 || bytes.isEmpty {
        var ready = pollfd(fd: pair[0], events: Int16(POLLIN), revents: 0)
        guard poll(&ready, 1, 10) > 0 else { continue }
        let count = read(pair[0], &buffer, buffer.count)
        bytes += buffer.prefix(max(0, count))
      }
    }
    queue.close()
    var buffer = [UInt8](repeating: 0, count: 1 << 16)
    while case let more = read(pair[0], &buffer, buffer.count), more > 0 { bytes += buffer.prefix(more) }
    close(pair[0])
    return String(decoding: bytes, as: UTF8.self)
  }

  @Test(arguments: [OutputFormat.jsonl, .csv, .text])
  func samplesThatAreNotReadInTimeAreCountedAtTheirPlace(_ format: OutputFormat) throws {
    var counts: [SampleWriter.Outcome: Int] = [:]
    let text = outputOfASlowReader(1000) { pipe, pause in
      var writer = SampleWriter(
        format, kinds: .ppg, encoding: nil, clock: clock, ring: "30:35:38:41:BE:EF", output: pipe)
      for index in 0..<1000 {
        pause(index)
        counts[writer.print(ppg, at: Instant(nanoseconds: Int64(index) * 40_000_000)), default: 0] += 1
      }
      writer.finish(at: Instant(nanoseconds: 40_000_000_000))
    }
    let lines = text.split(separator: "\n")
    let marks = lines.filter { $0.contains("dropped") }
    let first = try #require(marks.first)
    let printed = lines.filter { $0.contains("ppg") }.count
    #expect(printed == counts[.printed])
    let expected: Substring =
      switch format {
      case .jsonl: #""kind":"dropped","count":"#
      case .csv: ",dropped,"
      case .text: " s  dropped"
      }
    #expect(first.contains(expected))
    // All are accounted for, also those dropped at the very end. A line of text begins with the time, the others end with the
    // number.
    let marked = marks.reduce(0) { sum, mark in
      let words = mark.split(whereSeparator: { !$0.isNumber })
      return sum + ((format == .text ? words.dropFirst(2).first : words.last).flatMap { Int($0) } ?? 0)
    }
    let droppedInAll = try #require(counts[.dropped])
    #expect(marked > 0 && marked == droppedInAll)
    #expect(lines.last?.contains(expected) == true)
    #expect(printed + droppedInAll == 1000)
  }

  /// Once for all of them, in the columns that the command gives them.
  @Test func recordsThatAreNotReadInTimeAreCountedInTheirColumns() throws {
    let text = outputOfASlowReader(1000) { pipe, pause in
      var printer = RecordPrinter(.csv, ["t_s", "event", "value"], output: pipe)
      for index in 0..<1000 {
        pause(index)
        printer.print(
          [.number(index), .text(String(repeating: "s", count: 200)), .number(1)],
          droppedAs: [.number(index), .text("dropped"), .number(printer.output.droppedLines)], text: "")
      }
      printer.finish(droppedAs: [.number(1000), .text("dropped"), .number(printer.output.droppedLines)])
    }
    var next = 0
    for line in text.split(separator: "\n").dropFirst() {
      let fields = line.split(separator: ",")
      try #require(fields.count == 3)
      let number = try #require(Int(fields[0]))
      if fields[1] == "dropped" {
        let count = try #require(Int(fields[2]))
        #expect(number == next + count)
        next += count
      } else {
        #expect(number == next)
        next += 1
      }
    }
    #expect(next == 1000 && text.contains(",dropped,"))
  }

  @Test func collectedSamplesLeaveTogether() {
    let text = outputOfASlowReader(1) { pipe, _ in
      var writer = SampleWriter(
        .csv, kinds: .ppg, encoding: nil, clock: clock, ring: "30:35:38:41:BE:EF", output: pipe)
      let isSelected = [ppg, ppg, rest].map { writer.collect($0, at: .zero) }
      #expect(isSelected == [true, true, false])
      #expect(writer.output.pending > 0)
      let dropped = writer.flush()
      #expect(dropped == 0 && writer.output.pending == 0)
    }
    #expect(text.split(separator: "\n").count == 3)
  }

  @Test func collectedSamplesThatAreNotReadInTimeAreCounted() throws {
    var dropped = 0
    let text = outputOfASlowReader(1000) { pipe, pause in
      var writer = SampleWriter(
        .csv, kinds: .ppg, encoding: nil, clock: clock, ring: "30:35:38:41:BE:EF", output: pipe)
      for index in 0..<1000 {
        if index % 50 == 0 { dropped += writer.flush() }
        pause(index)
        _ = writer.collect(ppg, at: .zero)
      }
      dropped += writer.flush()
    }
    let lines = text.split(separator: "\n")
    #expect(dropped > 0 && lines.filter { $0.contains("ppg") }.count == 1000 - dropped)
    #expect(lines.contains { $0.contains(",dropped,") })
  }

  /// Eight bytes are looked at together: each has its place in a block, and some are in none.
  @Test(arguments: ["\"", "\\", "\n", "\u{1F}", "\u{7F}", "é", "\u{10FFFF}"])
  func eachPlaceOfAStringIsLookedAt(special: String) throws {
    for place in 0..<20 {
      let value = String(repeating: "a", count: place) + special + String(repeating: "!", count: 19 - place)
      let line = output { pipe in
        var writer = pipe
        writer.writeQuoted(value)
        writer.flush()
      }
      #expect(line == JSONValue.quoted(value))
    }
  }

  @Test func recordsAreQuoted() {
    let text = output { pipe in
      var printer = RecordPrinter(.jsonl, ["name", "list", "none"], output: pipe)
      printer.print([.text("a\"b\\c\n\u{1}é"), .list(["x", "y"]), .number(nil)], text: "")
    }
    #expect(
      text == "{\"name\":\"a\\\"b\\\\c\\n\\u0001é\",\"list\":[\"x\",\"y\"],\"none\":null}\n")
    let table = output { pipe in
      var table = RecordPrinter(.csv, ["name", "rssi_dBm"], output: pipe)
      table.print([.text("a,\"b\""), .number(-50)], text: "")
    }
    #expect(table == "name,rssi_dBm\n\"a,\"\"b\"\"\",-50\n")
  }
}
