import Glibc
import HaloBluetoothCore
import Testing

@testable import HaloViews

@Suite struct PlotTests {
  // MARK: Heart rate

  /// What a pulse looks like: a steep rise, a slow fall with a second wave, and a slow drift below.
  private func pulse(_ beats: Double, rate: Double, seconds: Double = 8, jitter: Double = 0) -> PulseRate {
    var estimate = PulseRate()
    var random = 12345.0
    for index in 0..<Int(rate * seconds) {
      let time = Double(index) / rate
      random = (random * 16807).truncatingRemainder(dividingBy: 2_147_483_647)
      let phase = 2 * Double.pi * beats / 60 * time
      let wave = sin(phase) + 0.4 * sin(2 * phase + 1) + 2 * sin(time / 5)
      let late = jitter * random / 2_147_483_647
      estimate.add(
        11000 + Int(300 * wave + 40 * random / 2_147_483_647),
        at: Instant(nanoseconds: Int64((time + late) * 1e9)))
    }
    return estimate
  }

  @Test(arguments: [45.0, 60, 72, 97, 120, 180])
  func beatsAreCounted(_ beats: Double) throws {
    for rate in [12.5, 25, 100] {
      let found = try #require(pulse(beats, rate: rate).beatsPerMinute, "\(beats) at \(rate)")
      #expect(abs(Double(found) - beats) <= 2, "at \(rate)")
    }
  }

  /// The receive times of a link with an interval of 30 ms.
  @Test func estimatesPulseDespiteJitter() throws {
    let found = try #require(pulse(72, rate: 25, jitter: 0.03).beatsPerMinute)
    #expect(abs(found - 72) <= 2)
  }

  @Test func estimatesNoPulseFromUnsuitableData() {
    #expect(pulse(72, rate: 1, seconds: 60).beatsPerMinute == nil, "a rate that can't show it")
    #expect(pulse(72, rate: 25, seconds: 4).beatsPerMinute == nil, "too short")
    var noise = PulseRate()
    var random: UInt32 = 1
    for index in 0..<400 {
      random = random &* 1_664_525 &+ 1_013_904_223
      noise.add(Int(random >> 20), at: Instant(nanoseconds: Int64(index) * 40_000_000))
    }
    #expect(noise.beatsPerMinute == nil)
    var flat = PulseRate()
    for index in 0..<400 { flat.add(5, at: Instant(nanoseconds: Int64(index) * 40_000_000)) }
    #expect(flat.beatsPerMinute == nil)
  }

  @Test func gapResetsPulseEstimate() {
    var estimate = pulse(72, rate: 25)
    #expect(estimate.beatsPerMinute != nil)
    estimate.add(11000, at: Instant(nanoseconds: 60_000_000_000))
    #expect(estimate.beatsPerMinute == nil)
    // A time that goes back, as of another clock.
    estimate.add(11000, at: .zero)
    #expect(estimate.beatsPerMinute == nil)
  }

  // MARK: Pictures

  @Test func dotsAreWhereTheyBelong() {
    var canvas = DotCanvas(.braille, columns: 2, rows: 1)
    #expect(canvas.width == 4 && canvas.height == 4)
    for (x, y) in [(0, 0), (3, 3), (1, 1), (4, 0), (0, -1)] { canvas.set(x, y) }
    // Dots 1 and 5, and dot 8.
    #expect(canvas.lines == ["\u{2811}\u{2880}"])
    var ascii = DotCanvas(.ascii, columns: 4, rows: 1)
    ascii.set(1, 0)
    ascii.set(2, 1)
    for y in 0...1 { ascii.set(3, y) }
    #expect(ascii.lines == [" '.:"])
  }

  @Test func aLineHasNoHoles() {
    var canvas = DotCanvas(.ascii, columns: 8, rows: 4)
    canvas.line(from: (0, 7), to: (7, 0))
    #expect(canvas.lines == ["      .'", "    .'  ", "  .'    ", ".'      "])
    canvas.line(from: (0, 0), to: (.max / 2, 0))
  }

  @Test func aPanelHasItsScaleAndBreaks() {
    var panel = PlotPanel("light")
    for second in 0...10 where second != 5 {
      panel.add([Double(second * 100)], at: Instant(nanoseconds: Int64(second) * 1_000_000_000))
    }
    panel.interrupt(at: Instant(nanoseconds: 5_000_000_000))
    let end = Instant(nanoseconds: 10_000_000_000)
    let lines = panel.lines(.ascii, width: 30, height: 6, end: end, duration: .seconds(10))
    #expect(lines.count == 6 && lines[0] == "light")
    #expect(lines[1].hasPrefix("    1000 ") && lines[5].hasPrefix("       0 "))
    #expect(
      lines.dropFirst().allSatisfy { $0.count == 30 && Array($0)[19] != " " },
      "the break is at half of the width")
    // What is older than the window is forgotten, with its scale.
    let later = Instant(nanoseconds: 18_000_000_000)
    let rest = panel.lines(.ascii, width: 30, height: 6, end: later, duration: .seconds(10))
    #expect(rest[5].hasPrefix("     800 "))
    let empty = Instant(nanoseconds: 99_000_000_000)
    #expect(
      panel.lines(.ascii, width: 30, height: 2, end: empty, duration: .seconds(10))[1].allSatisfy {
        $0 == " "
      })
    #expect(panel.lines(.braille, width: 0, height: 0, end: empty, duration: .seconds(10)).count == 2)
  }
}
