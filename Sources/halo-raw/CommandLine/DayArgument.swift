import RingLink

extension Invocation {
  /// A day as people write it: `2026-11-20`, `today`, `yesterday`, or `-3` for three days ago.
  func day(_ key: String, today: RingDay) throws(Failure) -> RingDay? {
    guard let text = text(key) else { return nil }
    switch text {
    case "today": return today
    case "yesterday": return today.adding(days: -1)
    default:
      if let day = RingDay(text) { return day }
      if text.hasPrefix("-"), let days = Int(text), (-10000...0).contains(days) {
        return today.adding(days: days)
      }
      throw .usage(
        "\(key) wants a day such as 2026-11-20, today, yesterday or -3, not \"\(text.printable)\"")
    }
  }

  /// The days from `--from` to `--to`: by itself the last seven.
  func days(today: RingDay) throws(Failure) -> ClosedRange<RingDay> {
    let last = try day("--to", today: today) ?? today
    let first = try day("--from", today: today) ?? min(last, today).adding(days: -6)
    guard first <= last else { throw .usage("--from \(first) comes after --to \(last)") }
    return first...last
  }
}
