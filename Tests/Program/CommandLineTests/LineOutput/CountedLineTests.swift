import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloPulse
@testable import RingLink
import TestSupport
import Testing

@testable import HaloSystem

/// Lines of samples whose packets have a number.
@Suite struct CountedLineTests {
  private var green: CountedSample {
    var sample = CountedSample(.green)
    (sample.vital, sample.raw) = (72, 0x2CF2)
    (sample.x, sample.y, sample.z) = (0x03DF, 0xE0AB, 0x04D9)
    return sample
  }

  private var red: CountedSample {
    var sample = CountedSample(.red)
    (sample.vital, sample.raw, sample.infrared) = (0, 151, 6040)
    return sample
  }

  /// What is written after the ring's address, without the number of the line.
  private func lines(
    _ format: OutputFormat, _ kinds: SampleKinds, isCounted: Bool = true,
    hasBeats: Bool = false, encoding: AccelerometerEncoding? = .sixteenBit,
    _ print: (inout SampleWriter) -> Void
  ) -> [String] {
    var pair: [Int32] = [0, 0]
    guard pipe(&pair) == 0 else { return [] }
    defer { close(pair[0]) }
    var writer = SampleWriter(
      format, kinds: kinds, isCounted: isCounted, hasBeats: hasBeats, encoding: encoding,
      clock: RecordClock(offset: 0) { _ in 0 }, ring: "30:35:38:41:BE:EF",
      output: LineWriter(OutputQueue(descriptor: pair[1])))
    print(&writer)
    _ = writer.flush()
    close(pair[1])
    var bytes = [UInt8](repeating: 0, count: 65536)
    let count = read(pair[0], &bytes, bytes.count)
    return String(decoding: bytes.prefix(max(0, count)), as: UTF8.self).split(separator: "\n").map { line in
      line.split(separator: format == .csv ? "BE:EF," : #""kind":"#, maxSplits: 1).last.map(String.init) ?? ""
    }
  }

  /// What a person has marked is text like any other, whatever it looks like.
  @Test func marksHaveTheirText() {
    let print = { (writer: inout SampleWriter) in
      writer.mark(.annotation("a \"b\", c"), at: .zero)
      writer.mark(.event("button tap"), at: .zero)
      writer.mark(.annotation("again"), at: .zero)
    }
    #expect(
      lines(.csv, [.ppg], hasBeats: true, print).dropFirst() == [
        "0,mark,,,,,,,,,,,,\"a \"\"b\"\", c\"", "0,event,,,,,,,,,,,,button tap", "1,mark,,,,,,,,,,,,again",
      ])
    #expect(
      lines(.jsonl, [.ppg], print) == [
        #""mark","text":"a \"b\", c"}"#, #""event","text":"button tap"}"#, #""mark","text":"again"}"#,
      ])
    #expect(lines(.text, [.ppg], print).first?.hasSuffix("mark      a \"b\", c") == true)
  }

  /// A beat has columns of its own, which other records leave empty.
  @Test func beatsHaveTheirColumns() {
    let beat = Beat(
      time: 1.25, interval: 0.8125, quality: 0.97, reason: .good, timingError: 0.004, said: 2.5)
    let refused = Beat(time: 2, interval: nil, quality: 0.1, reason: .motion, timingError: 0.004, said: 3)
    let print = { (writer: inout SampleWriter) in
      _ = writer.collect(self.green, packet: 1, at: .zero)
      writer.mark(.beat(beat, bpm: 73.85), at: .zero)
      writer.mark(.beat(refused, bpm: nil), at: .zero)
    }
    let csv = lines(.csv, [.ppg], hasBeats: true, print)
    #expect(csv[0].hasSuffix("packet,sent,beat_s,interval_s,bpm,quality,note"))
    #expect(csv.dropFirst().allSatisfy { $0.filter { $0 == "," }.count == csv[1].filter { $0 == "," }.count })
    #expect(csv[2].hasPrefix("0,beat,") && csv[2].hasSuffix(",1.2500,0.8125,73.8500,0.9700,good"))
    #expect(csv[3].hasSuffix(",2.0000,,,0.1000,motion"))
    let json = lines(.jsonl, [.ppg], hasBeats: true, print)
    #expect(
      json[1].hasSuffix(#"_s":1.2500,"interval_s":0.8125,"bpm":73.8500,"quality":0.9700,"reason":"good"}"#))
    #expect(json[2].hasSuffix(#""interval_s":null,"bpm":null,"quality":0.1000,"reason":"motion"}"#))
    let text = lines(.text, [.ppg], hasBeats: true, print)
    #expect(text[1].hasSuffix("73.9 bpm  813 ms") && text[2].hasSuffix("not accepted: motion"))
  }

  private func printAll(_ writer: inout SampleWriter) {
    #expect(writer.collect(green, packet: 300, at: .zero) == 2)
    writer.mark(.packets(PacketCounter.Step(kind: .afterLoss(2), number: 303)), at: .zero)
    #expect(writer.collect(red, packet: 303, at: .zero) == 2)
    writer.mark(.packets(PacketCounter.Step(kind: .late, number: 301)), at: .zero)
    writer.mark(.packets(PacketCounter.Step(kind: .doubled, number: 301)), at: .zero)
    writer.mark(.packets(PacketCounter.Step(kind: .restarted, number: 304)), at: .zero)
  }

  @Test func jsonLines() {
    let axes = #""accel","x_g":0.1210,"y_g":-0.9791,"z_g":0.1515,"raw_x":991,"raw_y":-8021,"raw_z":1241"#
    let none = #""accel","x_g":0.0000,"y_g":0.0000,"z_g":0.0000,"raw_x":0,"raw_y":0,"raw_z":0"#
    #expect(
      lines(.jsonl, .all, printAll) == [
        #""ppg","raw":11506,"heart_rate_bpm":72,"packet":300,"sent":"f22c"}"#,
        axes + #","packet":300,"sent":"df03abe0d904"}"#,
        #""lost","packet":301,"count":2,"reason":"lost"}"#,
        #""spo2","raw":151,"infrared":6040,"spo2_percent":null,"packet":303,"sent":"97009817"}"#,
        none + #","packet":303,"sent":"000000000000"}"#,
        #""lost","packet":301,"count":-1,"reason":"late"}"#,
        #""lost","packet":301,"count":0,"reason":"doubled"}"#,
        #""lost","packet":304,"count":0,"reason":"the first of a new count"}"#,
      ])
  }

  /// Every line has the columns of the first, whatever is selected and whichever stream comes.
  @Test(arguments: [SampleKinds.all, .ppg, .spo2, .accelerometer, [.ppg, .accelerometer]], [true, false])
  func linesOfCSVHaveOneShape(_ kinds: SampleKinds, _ isCounted: Bool) throws {
    let lines = lines(.csv, kinds, isCounted: isCounted) { writer in
      _ = writer.collect(green, packet: 300, at: .zero)
      _ = writer.collect(red, packet: 301, at: .zero)
      for sample in [
        RawSample.ppg(OpticalSample.usual), .spo2(OpticalSample.usual),
        .accelerometer(AccelerometerSample(x: 1, y: 2, z: 3)),
      ] { _ = writer.collect(sample, at: .zero) }
      writer.mark(.gap("gone"), at: .zero)
      writer.mark(.packets(PacketCounter.Step(kind: .afterLoss(2), number: 303)), at: .zero)
    }
    // The first line has the names, and three columns more before the ring's place.
    let columns = try #require(lines.first).split(separator: ",", omittingEmptySubsequences: false)
    for line in lines.dropFirst() {
      let fields = line.split(separator: ",", omittingEmptySubsequences: false)
      #expect(fields.count == columns.count - 3, "\(line)")
    }
    #expect(columns.contains("packet") == isCounted && columns.contains("sent") == isCounted)
    #expect(columns.contains("infrared") == (isCounted && kinds.contains(.spo2)))
  }

  @Test func csvHasEachValueInItsColumn() {
    let all = lines(.csv, .all, printAll)
    #expect(
      all == [
        "t,time,ring,seq,kind,raw,max,min,diff,heart_rate_bpm,infrared,spo2_percent,x_g,y_g,z_g,raw_x,raw_y,raw_z,"
          + "packet,sent,note",
        "0,ppg,11506,,,,72,,,,,,,,,300,f22c,",
        "0,accel,,,,,,,,0.1210,-0.9791,0.1515,991,-8021,1241,300,df03abe0d904,",
        "0,lost,,,,,,,,,,,,,,301,,lost: 2", "0,spo2,151,,,,,6040,,,,,,,,303,97009817,",
        "1,accel,,,,,,,,0.0000,0.0000,0.0000,0,0,0,303,000000000000,", "1,lost,,,,,,,,,,,,,,301,,late: -1",
        "2,lost,,,,,,,,,,,,,,301,,doubled: 0", "3,lost,,,,,,,,,,,,,,304,,the first of a new count: 0",
      ])
  }

  /// The place of 12 bits in these frames is not known: there are counts, and nothing in g.
  @Test func anUnknownScaleIsLeftOut() {
    let line = lines(.jsonl, .accelerometer, encoding: .twelveBit) { writer in
      _ = writer.collect(green, packet: 0, at: .zero)
    }
    #expect(
      line == [
        #""accel","x_g":null,"y_g":null,"z_g":null,"raw_x":991,"raw_y":-8021,"raw_z":1241,"packet":0,"#
          + #""sent":"df03abe0d904"}"#
      ])
  }

  /// `--count` is exact, though a packet has two samples.
  @Test func noMoreLinesThanWanted() {
    let lines = lines(.jsonl, .all) { writer in
      #expect(writer.collect(green, packet: 0, at: .zero, atMost: 1) == 1)
      #expect(writer.collect(green, packet: 1, at: .zero, atMost: 0) == 0)
    }
    #expect(lines.count == 1 && lines[0].hasPrefix(#""ppg""#))
  }
}
