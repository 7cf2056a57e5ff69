import HaloCommandLine
import RingLink

/// A day on the command line, of which today is known when the ring is: `2026-11-20`, `today`, `yesterday`, or `-3` for three
/// days ago.
typealias DayArgument = @Sendable (_ today: RingDay) -> RingDay

enum DayOption {
  static let from = Option("--from", as: .day, help: "the first day (default: six days before the last)")
  static let to = Option(
    "--to", as: .day, help: "the last day: 2026-11-20, today, yesterday or -3 (default: today)")
}

extension ArgumentType where Value == DayArgument {
  static var day: Self {
    ArgumentType(placeholder: "DAY", expected: "a day such as 2026-11-20, today, yesterday or -3") { text in
      if let day = RingDay(text) { return { _ in day } }
      let days = text == "today" ? 0 : text == "yesterday" ? -1 : text.hasPrefix("-") ? Int(text) : nil
      guard let days, (-10000...0).contains(days) else { return nil }
      return { $0.adding(days: days) }
    }
  }
}

extension Invocation {
  /// The days from `--from` to `--to`; the last seven by default.
  func days(today: RingDay) throws(Failure) -> ClosedRange<RingDay> {
    let last = self[DayOption.to]?(today) ?? today
    let first = self[DayOption.from]?(today) ?? min(last, today).adding(days: -6)
    guard first <= last else { throw .usage("--from \(first) is after --to \(last)") }
    return first...last
  }
}
