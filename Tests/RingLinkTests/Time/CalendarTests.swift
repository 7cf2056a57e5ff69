import RingLink
import Testing

/// Days of the proleptic Gregorian calendar, and times of a day.
struct CalendarTests {
  /// Days since 1970-01-01; those with a leap day in reach, the ends of eras of 400 years, and of what has four digits.
  @Test(arguments: [
    ("1970-01-01", 0), ("1969-12-31", -1), ("2000-02-29", 11016), ("2000-03-01", 11017),
    ("2024-02-29", 19782),
    ("2025-12-31", 20453), ("2100-02-28", 47540), ("2100-03-01", 47541), ("1600-02-29", -135_081),
    ("0001-01-01", -719_162), ("9999-12-31", 2_932_896),
  ])
  func aDayHasItsNumber(text: String, number: Int) throws {
    let day = try #require(RingDay(text))
    #expect(day.number == number)
    #expect("\(RingDay(number: number))" == text)
  }

  /// The year 0 is a leap year, and the one before it is -1.
  @Test(arguments: [
    (-719_163, "0000-12-31"), (-719_468, "0000-03-01"), (-719_469, "0000-02-29"), (-719_528, "0000-01-01"),
    (-719_529, "-0001-12-31"), (-865_565, "-0400-03-01"), (-865_566, "-0400-02-29"),
    (2_932_897, "10000-01-01"),
  ])
  func daysBeyondFourDigitsAreWritten(number: Int, text: String) {
    #expect("\(RingDay(number: number))" == text)
    #expect(RingDay(text) == nil, "and not read")
  }

  /// Day by day with the lengths of the months, over more than an era.
  @Test func oneDayFollowsTheOther() {
    var (year, month, day) = (1599, 1, 1)
    var number = RingDay(year: year, month: month, day: day)?.number ?? 0
    while year < 2004 {
      let civil = RingDay(number: number).civil
      guard civil == (year, month, day), RingDay(year: year, month: month, day: day)?.number == number else {
        Issue.record("\(number) is \(civil) and should be \((year, month, day))")
        return
      }
      let isLeap = year % 4 == 0 && (year % 100 != 0 || year % 400 == 0)
      let length = [31, isLeap ? 29 : 28, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31][month - 1]
      number += 1
      day += 1
      if day > length { (month, day) = (month + 1, 1) }
      if month > 12 { (year, month) = (year + 1, 1) }
    }
  }

  @Test(arguments: [
    (2023, 2, 29), (2100, 2, 29), (2024, 2, 30), (2026, 4, 31), (2026, 11, 31), (2026, 12, 32), (2026, 13, 1),
    (2026, 0, 1), (2026, 1, 0), (2026, 1, -1), (0, 1, 1), (-1, 1, 1), (10000, 1, 1),
  ])
  func rejectsInvalidDates(year: Int, month: Int, day: Int) {
    #expect(RingDay(year: year, month: month, day: day) == nil)
  }

  @Test(arguments: [
    "", "2026-11", "2026-11-21-1", "26-11-21", "02026-11-21", "2026-1-21", "2026-11-1", "2026-11-021",
    "2026-011-21",
    "2026/11/21", "2026-+1-21", "2026-11-2x", "-026-11-21", "2026-11-2\u{661}", "2026-11-2:", "2026-1/-21",
    "2026-02-30", " 2026-11-21",
  ])
  func rejectsInvalidDateText(text: String) { #expect(RingDay(text) == nil) }

  @Test(arguments: [
    (0, "1970-01-01T00:00:00"), (-1, "1969-12-31T23:59:59"), (-86400, "1969-12-31T00:00:00"),
    (-86401, "1969-12-30T23:59:59"), (86399, "1970-01-01T23:59:59"), (86400, "1970-01-02T00:00:00"),
    (3661, "1970-01-01T01:01:01"), (1_795_268_700, "2026-11-21T13:45:00"),
  ])
  func aTimeHasItsSeconds(seconds: Int, text: String) throws {
    let time = RingTime(seconds: seconds)
    #expect("\(time)" == text)
    #expect(RingTime(text) == time)
    #expect(time.day.midnight.seconds + time.secondOfDay == seconds)
    #expect((time.hour * 60 + time.minute) * 60 + time.second == time.secondOfDay)
    #expect(time.adding(minutes: -1).seconds == seconds - 60 && time.adding(minutes: 1440).day > time.day)
  }

  @Test func rejectsInvalidTimes() throws {
    let day = RingDay(number: 3)
    let time = try #require(RingTime(day, hour: 23, minute: 59, second: 59))
    #expect(time.seconds == 4 * 86400 - 1)
    #expect(RingTime(day, hour: 0, minute: 0)?.seconds == 3 * 86400)
    for (hour, minute, second) in [(24, 0, 0), (-1, 0, 0), (0, 60, 0), (0, -1, 0), (0, 0, 60), (0, 0, -1)] {
      #expect(RingTime(day, hour: hour, minute: minute, second: second) == nil)
    }
  }

  @Test(arguments: [
    "2026-11-21", "2026-11-21T13:45", "2026-11-21T13:45:00:00", "2026-11-21T13:45:60", "2026-11-21T24:00:00",
    "2026-11-21T1:45:00", "2026-11-21T13:45:0", "2026-11-21T13:045:00", "2026-11-21T13:4:000",
    "2026-11-21T13.45.00",
    "2026-11-21 13:45:00", "2026-11-21T13:45:00T", "2026-11-31T13:45:00", "2026-11-21T13:45:+1",
    "2026-11-21T13:4::00",
    "2026-11-21T13:/5:00",
  ])
  func rejectsInvalidTimeText(text: String) { #expect(RingTime(text) == nil) }

  @Test func timesAndDaysHaveAnOrder() throws {
    let day = RingDay(number: 100)
    #expect(RingDay(number: 99) < day && !(day < day) && day.adding(days: -3).number == 97)
    #expect(day.midnight < RingTime(seconds: 8_640_001) && !(day.midnight < day.midnight))
    #expect(TimePolicy.allCases == [.local, .utc] && TimePolicy(rawValue: "utc") == .utc)
  }

  /// A ring has the years 2000 to 2099, each number in two digits.
  @Test func aClockHasTheYearsOfACentury() throws {
    let first = try #require(RingTime("2000-01-01T00:00:00"))
    let last = try #require(RingTime("2099-12-31T23:59:59"))
    for time in [first, last] { #expect(ClockSetting(time)?.time == time) }
    #expect(ClockSetting(first.adding(minutes: -1)) == nil && ClockSetting(last.adding(minutes: 1)) == nil)
    var setting = try #require(ClockSetting(last))
    #expect((setting.yearOfCentury, setting.month, setting.day) == (99, 12, 31))
    #expect((setting.hour, setting.minute, setting.second, setting.language) == (23, 59, 59, 1))
    setting.minute = 60
    #expect(setting.time == nil)
    setting.minute = 0
    setting.month = 2
    #expect(setting.time == nil)
  }
}
