import TestSupport
import Testing

@testable import RingLink

/// Records of frames: what a new one has, and which numbers a frame may not have.
struct RecordLimitTests {
  private static let usual: [(RingFrame, String)] = [
    // Midnight of 2000-01-01, in English.
    (CommandTable.setTime.request(), "01000101000000 01"),
    (CommandTable.setTime.frame(of: RingCapabilities()), "01"),
    (CommandTable.hostInformation.request(), "04020a"),
    (CommandTable.deviceSupport.frame(of: DeviceSupport()), "3c"),
    (CommandTable.setNotificationMask.request(), "60"),
    (CommandTable.battery.frame(of: RingBattery.usual), "03"),
    (CommandTable.measurementStart.request(), "690101"),
    (CommandTable.measurementStart.frame(of: MeasurementUpdate.usual), "6901"),
    (CommandTable.measurementStop.request(), "6a01"),
    (CommandTable.liveHeartRate.request(), "1e01"),
    (CommandTable.liveHeartRate.frame(of: 0), "1e"),
    (CommandTable.sport.request(), "770104"),
    (CommandTable.sportUpdate.frame(SportUpdate()), "780001"),
    (CommandTable.today.frame(of: TodayTotals()), "48"),
    (CommandTable.storedDays.frame(of: 0), "46"),
    (CommandTable.stressLog.request(DaysAgo.usual), "37"),
    (CommandTable.hourlyCounter.request(ReadDaysAgo.usual), "7a01"),
    (CommandTable.heartRateLog.request(DayByTime()), "15"),
    (CommandTable.activity.request(ActivityRequest()), "43000f005f01"),
    (RingFrame(0x43, ActivityHeader()), "430000 01"),
    (RingFrame(0x43, ActivityRecord()), "43000101"),
    (RingFrame(0x15, RowHeader()), "15000101"),
    (RingFrame(0x37, RowStartDaysAgo()), "37"),
    (RingFrame(0x15, RowStartTime()), "15"),
    (RingFrame(0x15, RowPiece()), "15"),
    (CommandTable.liveTotals.frame(LiveTotals()), "7312"),
    (CommandTable.batteryEvent.frame(RingBattery.usual), "730c"),
    (CommandTable.stressEvent.frame(0), "732c"),
    (CommandTable.camera.frame(0), "02"),
    (RingFrame(.rawStream, OpticalSample.usual), "a1"),
    (RingFrame(.rawStream, AccelerometerSample.usual), "a1"),
    (RingFrame(.rawStream, WearCalibration()), "a1"),
    (RawControl.usual.frame, "a1"),
  ]

  @Test(arguments: usual.indices) func aNewRecordHasTheUsualValues(_ index: Int) throws {
    #expect(Self.usual[index].0 == Self.wire(Self.usual[index].1))
  }

  private func error(_ work: () throws(RingFrameError) -> Void) -> String? {
    do throws(RingFrameError) {
      try work()
      return nil
    } catch {
      return error.description
    }
  }

  private func header(_ start: String) -> String? {
    error { () throws(RingFrameError) in _ = try RowHeader(parsing: Self.wire(start)) }
  }

  private static func wire(_ start: String) -> RingFrame {
    guard let frame = try? RingFrame(RingCommand(rawValue: hex(start)[0]), payload: hex(start).dropFirst())
    else { preconditionFailure(start) }
    return frame
  }

  @Test func aHeaderOfARowCountsFramesAndMinutes() {
    for fits in ["15000101", "1500ffff"] { #expect(header(fits) == nil) }
    #expect(header("15000001") == "frames can't be 0")
    #expect(header("15000100") == "interval can't be 0")
  }

  @Test func aBatteryHasAtMostAHundredPercent() {
    for (percent, reason) in [
      (UInt8(0), nil), (100, nil), (101, "percent can't be 101"), (255, "percent can't be 255"),
    ]
      as [(UInt8, String?)]
    {
      let reply = error { () throws(RingFrameError) in
        _ = try CommandTable.battery.reply(RingFrame(0x03, percent))
      }
      #expect(reply == reason)
      let event = error { () throws(RingFrameError) in
        _ = try CommandTable.batteryEvent.value(RingFrame(.notification, 0x0C, percent))
      }
      #expect(event == reason)
    }
  }

  /// A flag is set by one number only; a bit says nothing of the others of its byte.
  @Test func flagsAndBitsAreReadApart() throws {
    let none = try CommandTable.setTime.reply(Self.wire("01020202c900000000 0200004e02cf"))
    #expect(none.features == [] && none.tensOfContacts == 2)
    let all = try CommandTable.setTime.reply(Self.wire("0101010136 3412 7856 01 0a 1f b1 03 30"))
    #expect(
      all.features == [
        "temperature", "watch-faces", "menstruation", "spo2", "blood-pressure", "one-key-check", "weather",
        "new-sleep-protocol", "manual-heart-rate", "music", "realtek", "blood-sugar", "stress", "hrv",
      ])
    #expect(all.displayWidth == 0x1234 && all.displayHeight == 0x5678)
    #expect(all.maximumWatchFaces == 10 && all.companionFeatures == 0x1F && all.tensOfContacts == 3)
    let support = try CommandTable.deviceSupport.reply(Self.wire("3c00 08 000000000000 80"))
    #expect(support.wantsBond && support.hasIntervalTemperature)
    let other = try CommandTable.deviceSupport.reply(Self.wire("3cff f7 ffffffffffff 7f ffffffffff"))
    #expect(!other.wantsBond && !other.hasIntervalTemperature)
  }

  @Test func daysAreBitsOfAMask() throws {
    #expect(try CommandTable.storedDays.reply(Self.wire("4680000005")) == 0x8000_0005)
    #expect(try CommandTable.storedDays.reply(Self.wire("46")) == 0)
  }

  /// The first byte after a prefix is the first field's; a name is cut to twelve bytes.
  @Test func bytesAreWrittenUpToTheirWidth() throws {
    var host = HostInformation()
    host.name = Array("A name that is too long".utf8)
    #expect(
      CommandTable.hostInformation.request(host).bytes.dropLast()
        == (hex("04020a") + Array("A name that ".utf8))[...])
    let back = try HostInformation(parsing: CommandTable.hostInformation.request(host))
    #expect(String(decoding: back.name, as: UTF8.self) == "A name that ")
    let sample = AccelerometerSample(x: 0x0102, y: 0x0304, z: 0xFFFE)
    #expect(RingFrame(.rawStream, sample) == Self.wire("a100 0304 fffe 0102"))
    #expect(try AccelerometerSample(parsing: Self.wire("a100 0304 fffe 0102")) == sample)
  }
}
