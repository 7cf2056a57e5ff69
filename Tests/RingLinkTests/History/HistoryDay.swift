@testable import RingLink

/// A suite of histories, for which it is a certain day.
protocol HistoryDay {
  /// On the ring's clock.
  var now: RingTime { get }
}

extension HistoryDay {
  var today: RingDay { now.day }

  /// Days counted from today.
  func days(_ first: Int, _ last: Int = 0) -> ClosedRange<RingDay> {
    today.adding(days: first)...today.adding(days: last)
  }

  /// A time of day, such as 07:30, of a day counted from today.
  func at(_ days: Int, _ clock: String) -> RingTime {
    RingTime("\(today.adding(days: days))T\(clock):00") ?? now
  }
}
