import Glibc
import HaloViews
import Testing

@Suite struct DayReaderTests {
  /// 2026-11-30T12:00:00Z.
  private static let epoch = 1_796_040_000.0
  private static let columns = "t,time,ring,seq,kind,raw,max,min,diff,x_g,y_g,z_g,raw_x,raw_y,raw_z,note"

  private func read(_ lines: [String], now: Double = 10) -> [String: DayLog] {
    var reader = DayReader(epoch: Self.epoch, now: now)
    reader.beginFile()
    for line in lines { reader.add(Array(line.utf8)[...]) }
    return reader.logs
  }

  @Test func placesRecordsByTheirTimeOfDay() {
    let logs = read([
      Self.columns,
      "0.000000,2026-11-30T12:59:00.250000+01:00,30:34,0,ppg,11500,,,,,,,,,,",
      "1.000000,2026-11-30T12:59:01.250000+01:00,30:34,1,ppg,11600,,,,,,,,,,",
      "2.000000,2026-11-30T12:59:02.250000+01:00,30:34,0,measured,,,,,,,,,,,heart_rate_bpm=66",
    ])
    let columns = logs["30:34"]?.columns(from: -60, to: -58, atMost: 3)
    #expect(columns?.lows == [11_500, 11_600, nil])
    #expect(columns?.rates == [nil, nil, 66])
  }

  @Test func followsANewRunInTheSameFile() {
    let logs = read([
      Self.columns,
      "50.000000,2026-11-30T11:00:50.000000Z,30:34,0,ppg,11500,,,,,,,,,,",
      "0.000000,2026-11-30T11:30:00.000000Z,30:34,0,ppg,11700,,,,,,,,,,",
    ])
    #expect(logs["30:34"]?.columns(from: -1800, to: -1800, atMost: 1).lows == [11_700])
    #expect(logs["30:34"]?.first == -3550)
  }

  @Test func findsThePulseInTheLight() {
    // A beat each second, for a minute, 25 samples a second.
    let lines = (0..<1500).map { index in
      let phase = Double(index % 25) / 25
      func bump(_ place: Double, _ width: Double) -> Double {
        exp(-(phase - place) * (phase - place) / width)
      }
      let light = 11_500 - 300 * (bump(0.25, 0.01) + 0.4 * bump(0.55, 0.02))
      return
        #"{"t":\#(Double(index) / 25),"time":"2026-11-30T11:58:00.000000+00:00","ring":"A","kind":"ppg","raw":\#(Int(light))}"#
    }
    let rates = read(lines)["A"]?.columns(from: -120, to: -61, atMost: 60).rates.compactMap(\.self) ?? []
    #expect(rates.count > 30 && rates.allSatisfy { (58...62).contains($0) })
  }

  @Test func leavesOutWhatIsOldOrDamaged() {
    let logs = read([
      Self.columns, "0,2026-12-01T11:59:00Z,30:34,0,ppg,11500,,,,,,,,,,",
      "0,2026-11-29T11:59:00Z,30:34,0,ppg,11500,,,,,,,,,,", "x", "1,2,3", "\u{0}", "{",
      "nan,nan,nan,nan,ppg",
      "0,2026-11-30T11:59:00.5+99:99,30:34,0,ppg,11500,,,,,,,,,,",
      "0,2026-11-30T11:59:00+1:2:3,30:34,0,ppg,11500,,,,,,,,,,",
      "0,yesterday,30:34,0,ppg,11500,,,,,,,,,,",
    ])
    #expect(logs.isEmpty)
  }

  @Test func takesABoundedNumberOfRings() {
    let lines = (0..<1000).map { "0,2026-11-30T11:59:00Z,ring \($0),0,ppg,11500,,,,,,,,,," }
    #expect(read([Self.columns] + lines).count == 16)
  }
}
