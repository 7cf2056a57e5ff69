import HaloStorage
import RingLink
import Testing
@testable import HaloViews
@testable import HaloCommandLine
@testable import HaloCommands

/// 1_763_733_600 is 2025-11-21 14:00:00 UTC.
struct ClockAssessmentTests {
  private let now = 1_763_733_600

  private func assessment(
    set: Int? = nil, _ policy: TimePolicy = .local, offset: Int = 3600,
    evidence: ClockEvidence = ClockEvidence(),
    wanted: TimePolicy = .local, wantedOffset: Int = 3600
  ) -> ClockAssessment {
    ClockAssessment(
      record: set.map { ClockRecord(set: now - $0, policy: policy, utcOffset: offset) }, evidence: evidence,
      unix: now, policy: wanted, utcOffset: wantedOffset)
  }

  @Test func aClockThatWasJustSetIsLeftAlone() {
    #expect(assessment(set: 0).reasonToSet == nil)
    #expect(assessment(set: 86400).reasonToSet == nil)
    #expect(assessment(set: 3600).lead == 0)
  }

  @Test func setsClockAgainAfterADay() {
    #expect(assessment(set: 86401).reasonToSet?.contains("quartz") == true)
  }

  @Test func setsClockThatWasNeverSet() {
    #expect(assessment().reasonToSet != nil)
    #expect(assessment().lead == nil)
  }

  @Test func daylightSavingTimeAndTravelShow() {
    // Summer time has ended: the ring keeps the summer's clock.
    let autumn = assessment(set: 3600, offset: 7200)
    #expect(autumn.lead == 3600)
    #expect(autumn.reasonToSet == "the offset from UTC has changed: it is 1 h ahead")
    // From Berlin to New York, to Delhi, and across the date line.
    #expect(assessment(set: 60, wantedOffset: -18000).reasonToSet?.hasSuffix("6 h ahead") == true)
    #expect(assessment(set: 60, wantedOffset: 19800).reasonToSet?.hasSuffix("4 h 30 min behind") == true)
    #expect(assessment(set: 60, offset: 50400, wantedOffset: -39600).lead == 90000)
  }

  @Test func setsClockWhenPolicyDiffers() {
    #expect(
      assessment(set: 60, wanted: .utc, wantedOffset: 0).reasonToSet == "it has local time: it is 1 h ahead")
    // In London in winter both clocks are the same; still the ring's is to be known as the other one.
    #expect(assessment(set: 60, offset: 0, wanted: .utc, wantedOffset: 0).reasonToSet != nil)
    #expect(assessment(set: 60, .utc, offset: 0, wanted: .utc, wantedOffset: 0).reasonToSet == nil)
  }

  @Test func setsClockAfterHostClockWasSetBack() {
    #expect(assessment(set: -10).reasonToSet?.contains("set back") == true)
  }

  /// The computer's clock jumps after it has set the ring's: nothing traps, and the ring's clock is set again where the
  /// record can't be trusted.
  @Test(arguments: [-3600, 3600, 315_576_000, -315_576_000, Int(Int32.max), Int(UInt32.max) * 2])
  func stepsOfTheComputersClock(_ step: Int) {
    var after = assessment(set: 60)
    after.unix += step
    #expect(after.age == 60 + step && after.lead == 0)
    #expect((after.reasonToSet == nil) == (0...86400).contains(60 + step))
    #expect(!ClockAssessment.span(step).isEmpty)
  }

  @Test func ringsDayProvesClockOffset() throws {
    let today = try #require(RingDay("2025-11-21"))
    #expect(assessment(set: 60, evidence: ClockEvidence(day: today)).provenLead == nil)
    // The wanted clock says 15:00: since the ring's day has not begun, it is behind by what has passed of ours.
    let yesterday = assessment(set: 60, evidence: ClockEvidence(day: today.adding(days: -1)))
    #expect(yesterday.provenLead == -(15 * 3600 + 1))
    #expect(yesterday.reasonToSet?.contains("2025-11-20") == true)
    let tomorrow = assessment(set: 60, evidence: ClockEvidence(day: today.adding(days: 1)))
    #expect(tomorrow.provenLead == 9 * 3600)
  }

  @Test func dayProvesNothingAroundMidnight() throws {
    // 23:59:30 in a zone of 9 h 59 min 30 s.
    let next = try #require(RingDay("2025-11-22"))
    let late = assessment(
      set: 60, offset: 35970, evidence: ClockEvidence(day: next),
      wantedOffset: 35970)
    #expect(late.wanted.description == "2025-11-21T23:59:30")
    #expect(late.provenLead == nil && late.reasonToSet == nil)
  }

  /// Old memory stands in slots that are still to come.
  @Test func futureDataSuggestsClockOffset() throws {
    let day = try #require(RingDay("2025-11-21"))
    let newest = try #require(RingTime(day, hour: 15, minute: 50))
    let ahead = assessment(set: 60, evidence: ClockEvidence(day: day, future: newest))
    #expect(ahead.suggestedLead == 3000)
    #expect(ahead.reasonToSet == nil)
    let past = assessment(set: 60, evidence: ClockEvidence(day: day, future: newest.adding(minutes: -50)))
    #expect(past.suggestedLead == nil)
  }

  @Test(arguments: [
    (50, "50 s"), (119, "119 s"), (120, "2 min"), (3600, "1 h"), (5400, "1 h 30 min"), (200_000, "2 days"),
  ])
  func formatsDurations(seconds: Int, text: String) {
    #expect(ClockAssessment.duration(seconds) == text)
  }
}
