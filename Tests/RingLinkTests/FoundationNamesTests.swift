import Foundation
import RingLink
import Testing

/// A program that imports Foundation beside RingLink names every type without its module: this file does not compile if
/// one of them is ambiguous.
struct FoundationNamesTests {
  private static let types: [Any.Type] = [
    Acceleration.self, AccelerationCounts.self, AccelerometerEncoding.self, ActivityLog.self, BulkFrame.self,
    BulkID.self, BulkQuery<SleepLog>.self, ClockEvidence.self, CommandEntry.self,
    CommandTable.self, FrameField.self, FrameForm.self, DecodedFrame.self,
    HeartRateReading.self, HistoryKind.self, HistoryProgress.self,
    HistoryRecords.self, HostInformation.self, MeasuredValue.self, MeasurementKind.self,
    MeasurementReading.self, MeasurementSequence.self, OpticalSample.self,
    OxygenLog.self, RawControl.self, RawSample.self, RingAction.self, RingBattery.self,
    RingCapabilities.self, RingCommand.self, RingDay.self, RingDispatcher.self, RingError.self,
    RingEvent.self, RingExchange.self, RingFrame.self, RingInformation.self, RingLayout.self,
    RingLog<DayTotalsAssembler>.self, RingMessage.self, RingQuery<NoFields, RingBattery>.self,
    RingReport<LiveTotals>.self, RingSelector.self, RingTime.self,
    RingTraffic.self, RingUnit.self, SavedMeasurements.self, SettingError.self, SleepLog.self,
    SleepSession.self, SleepStage.self, StreamStatistics.self,
    TimePolicy.self, TodayTotals.self, WireForm.self, RingSetting.self,
  ]

  @Test func everyNameIsThatOfTheRing() {
    for type in Self.types {
      #expect(String(reflecting: type).contains("RingLink."), "\(type)")
    }
  }
}
