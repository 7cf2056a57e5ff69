import GAP
import HaloGATT
import HaloBluetoothCore
import TestLoop
import TestSupport
import Testing

@testable import RingLink

/// A ring's clock, its information and its features (ring reference, 4.1, 4.4 and 4.14).
@BluetoothActor
@Suite(.onTheLoop) struct RingClockTests {
  private let device = ScriptedRing()
  private let now: RingTime

  init() throws { now = try #require(RingTime("2026-11-21T13:45:30")) }

  @Test func theClockIsSet() async throws {
    let ring = try await device.open()
    device.answer = { _ in [RingFrame(0x01, 1)] }
    #expect(try await ring.setClock(to: now).features == ["temperature"])
    #expect(device.takeAsked() == ["01261121134530" + "01"])
    let late = try #require(RingDay(year: 2100, month: 1, day: 1)).midnight
    let (error, _) = await failure { () throws(RingError) in _ = try await ring.setClock(to: late) }
    #expect(
      error?.description == "year can be 0 to 99, not \"2100-01-01T00:00:00\"" && device.takeAsked() == [])
  }

  /// The day that a ring gives its records, and the newest heart rates, before and after what is expected.
  private func evidence(
    activity: [Int: Int] = [:], totals: Int? = nil, rates: [Int] = [], refuses: Set<RingCommand> = []
  ) async throws -> ClockEvidence {
    let ring = try await device.open()
    let today = now.day
    device.answer = { frame in
      if refuses.contains(frame.command) { return RingFrame.refusal(of: frame.command).map { [$0] } ?? [] }
      switch frame.command {
      case 0x43:
        guard let days = activity[Int(frame.byte(at: 1))] else { return [RingFrame(0x43, 0xFF)] }
        var record = ActivityRecord()
        let civil = today.adding(days: days).civil
        (record.yearOfCentury, record.month, record.day) = (26, UInt8(civil.month), UInt8(civil.day))
        return ActivityLogAssembler.frames(
          of: ActivityLog(records: [record]), command: 0x43, to: ActivityRequest())
      case 0x07:
        // The digits of a date are those of its bytes.
        let date = totals.map { today.adding(days: $0).description.dropFirst(2).filter { $0 != "-" } }
        return ["00", "01"].compactMap { try? RingLinkTests.frame("07\($0)00\(date ?? "000000")") }
      case 0x15:
        guard let request = try? DayByTime(parsing: frame) else { return [] }
        var values = [UInt8](repeating: 0, count: 288)
        for slot in rates { values[slot] = 60 }
        return HeartRateLogAssembler.frames(
          of: SlotLog(minutesPerSlot: 5, values: values), command: 0x15, to: request)
      default: return []
      }
    }
    return try await ring.clockEvidence(expecting: now)
  }

  @Test func theDayIsThatOfTheActivity() async throws {
    let found = try await evidence(activity: [0: 1], rates: [10, 165, 166])
    #expect(found.day == now.day.adding(days: 1))
    // The heart rates are those of the ring's day.
    #expect(found.newest == nil && found.future == now.day.adding(days: 1).midnight.adding(minutes: 830))
    #expect(
      device.takeAsked()
        == ["43000f005f01", RingFrame(0x15, DayByTime(now.day.adding(days: 1), now: now)).digits])
  }

  /// The answer about yesterday has a day that is one earlier.
  @Test func derivesDayFromYesterdaysActivity() async throws {
    let found = try await evidence(activity: [1: -1], rates: [165])
    #expect(found == ClockEvidence(day: now.day, newest: now.day.midnight.adding(minutes: 825)))
    #expect(device.takeAsked().count == 3)
  }

  @Test func derivesDayOfOlderRingsFromTotals() async throws {
    let found = try await evidence(totals: -1, refuses: [0x43, 0x15])
    #expect(found == ClockEvidence(day: now.day.adding(days: -1)))
    // One that refuses the first request is not asked for yesterday.
    #expect(device.takeAsked().map { $0.prefix(2) } == ["43", "07", "15"])
  }

  /// A ring that knows no day has the expected one. 13:45 is past, 13:50 to come.
  @Test func theNewestIsTheLastThatIsNotToCome() async throws {
    let found = try await evidence(rates: [1, 165, 166])
    #expect(
      found
        == ClockEvidence(
          newest: now.day.midnight.adding(minutes: 825), future: now.day.midnight.adding(minutes: 830)))
    #expect(found.suggestedLead(over: now) == 270 && ClockEvidence().suggestedLead(over: now) == nil)
  }

  @Test func theLeadIsThatOfADay() {
    let midnight = now.day.midnight
    #expect(ClockEvidence(day: now.day).lead(over: midnight) == 0...86399)
    #expect(ClockEvidence(day: now.day).lead(over: midnight.adding(minutes: 1)) == -60...86339)
  }

  @Test func clockEvidenceThrowsOnDisconnection() async throws {
    let ring = try await device.open()
    device.link.lose(.remote(.connectionTimeout))
    let (error, _) = await failure { () throws(RingError) in _ = try await ring.clockEvidence(expecting: now)
    }
    #expect(error == .disconnected(LinkLoss.remote(.connectionTimeout).description))
  }

  // MARK: What it is

  @Test func informationIsThatOfItsService() async throws {
    let device = ScriptedRing(revisions: [
      (RingGATT.modelNumber, "R02"), (RingGATT.serialNumber, "7"),
      (RingGATT.firmwareRevision, "RT02R_3.11.00"),
      (RingGATT.hardwareRevision, "RT02R_V3.1"), (RingGATT.softwareRevision, "s"), (RingGATT.systemID, "x"),
    ])
    let ring = try await device.open()
    let information = try await ring.information()
    #expect(
      information.model == "R02" && information.serialNumber == "7" && information.softwareRevision == "s")
    #expect(information.firmwareRevision == "RT02R_3.11.00" && information.hardwareRevision == "RT02R_V3.1")
    #expect(ring.firmware == information.revisions && ring.firmware.family == .rt)
    #expect(try await self.device.open().information() == RingInformation())
  }

  /// The oldest are not asked; others may refuse, or not answer.
  @Test func featuresAreAskedOfNewerRings() async throws {
    let old = ScriptedRing(revisions: [(RingGATT.firmwareRevision, "R02_3.00.06")])
    let oldRing = try await old.open()
    _ = try await oldRing.information()
    #expect(try await oldRing.deviceSupport() == nil && old.takeAsked() == [])
    let ring = try await device.open()
    #expect(try await ring.deviceSupport() == nil)
    device.answer = { RingFrame.refusal(of: $0.command).map { [$0] } ?? [] }
    #expect(try await ring.deviceSupport() == nil && device.takeAsked() == ["3c", "3c"])
    device.answer = { _ in [RingFrame(0x3C, 0, 8)] }
    #expect(try await ring.deviceSupport()?.wantsBond == true)
  }
}
