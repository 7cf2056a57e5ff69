import Testing

@testable import HaloViews

@Suite struct ReportPlotTests {
  /// The labels of values, and those of times that a narrow page shows.
  private func labels(start: Double, seconds: Double, values: ClosedRange<Double>) -> (
    values: Int, times: Int
  ) {
    var curve = Envelope()
    curve.add(values.lowerBound, at: 0)
    curve.add(values.upperBound, at: seconds)
    let plot = ReportPlot(title: "", curves: [curve], gaps: [], end: seconds, start: start)
    let texts = plot.svg.split(separator: "<text ").dropFirst()
    return (
      texts.count { $0.hasPrefix("class=\"end\"") }, texts.count { $0.hasPrefix("class=\"time\"") }
    )
  }

  /// How many labels there are depends on the time of day at which the session began, and on the range of its values.
  @Test(arguments: [0.5, 8, 20, 59, 600, 5000, 86400, 1_000_000])
  func eachScaleHasTwoLabelsOrMore(seconds: Double) {
    for part in 0..<50 {
      let low = Double(part) * 7.3 - 700
      let found = labels(
        start: 80_000 + seconds * Double(part) / 97, seconds: seconds,
        values: low...low + 1 + Double(part * part))
      #expect((2...5).contains(found.values) && (2...4).contains(found.times), "\(part): \(found)")
    }
  }

  /// A session without the time of day has the seconds, minutes or hours since its beginning.
  @Test(arguments: [(60.0, ">20 s<"), (3600, ">20 min<"), (720_000, ">96 h<")])
  func timesSinceTheBeginningAreWholeNumbers(seconds: Double, label: String) {
    var curve = Envelope()
    curve.add(1, at: seconds)
    let plot = ReportPlot(title: "", curves: [curve], gaps: [], end: seconds, start: nil)
    #expect(plot.svg.contains(label), "\(plot.svg)")
  }
}
