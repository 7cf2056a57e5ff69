import HaloBluetoothCore
import Testing

@testable import HaloViews

@Suite struct PlotTests {
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
