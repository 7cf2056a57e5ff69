import HaloCommandLine
import RingLink

/// A day on the command line: `2026-11-20`, `today`, `yesterday`, or `-3` for three days ago.
enum DayArgument: Sendable {
  case day(RingDay)
  /// Days before today.
  case ago(Int)

  static let from = Option("--from", as: .day, help: "the first day (default: six days before the last)")
  static let to = Option(
    "--to", as: .day, help: "the last day: 2026-11-20, today, yesterday or -3 (default: today)")

  init?(_ text: String) {
    switch text {
    case "today": self = .ago(0)
    case "yesterday": self = .ago(1)
    default:
      if let day = RingDay(text) {
        self = .day(day)
      } else if text.hasPrefix("-"), let days = Int(text), (-10000...0).contains(days) {
        self = .ago(-days)
      } else {
        return nil
      }
    }
  }

  func day(today: RingDay) -> RingDay {
    switch self {
    case .day(let day): day
    case .ago(let days): today.adding(days: -days)
    }
  }
}

extension ArgumentType where Value == DayArgument {
  static var day: Self {
    ArgumentType(placeholder: "DAY", expected: "a day such as 2026-11-20, today, yesterday or -3") {
      DayArgument($0)
    }
  }
}

extension Invocation {
  /// The days from `--from` to `--to`; the last seven by default.
  func days(today: RingDay) throws(Failure) -> ClosedRange<RingDay> {
    let last = self[DayArgument.to]?.day(today: today) ?? today
    let first = self[DayArgument.from]?.day(today: today) ?? min(last, today).adding(days: -6)
    guard first <= last else { throw .usage("--from \(first) is after --to \(last)") }
    return first...last
  }
}
