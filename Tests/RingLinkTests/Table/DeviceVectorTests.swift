import RingLink
import TestSupport
import Testing

/// Captured frames about the ring itself, today's totals and measurements: each decodes to what it meant, and each
/// request encodes to its bytes.
struct DeviceVectorTests {
  private func frame(_ text: String) throws -> RingFrame {
    try RingFrame(parsing: hex(text).span.bytes)
  }

  @Test func encodesHostInformation() throws {
    var host = HostInformation.usual
    host.name = Array("Pixel 9a".utf8)
    let request = CommandTable.hostInformation.request(host)
    #expect(request.bytes == hex("04020a506978656c20396100000000cc"))
    #expect(
      try CommandTable.hostInformation.reply(frame("04000000000000000000000000000004")) == NoFields.usual)
  }

  @Test func decodesDeviceSupport() throws {
    #expect(CommandTable.deviceSupport.request().bytes == hex("3c00000000000000000000000000003c"))
    let support = try CommandTable.deviceSupport.reply(frame("3c008c27002880000000000000000097"))
    #expect(support.wantsBond && !support.hasIntervalTemperature)
    #expect(support.bytes == hex("008c270028800000000000000000"))
    let mask = try CommandTable.notificationMask.reply(frame("61ffff0000000000000000000000005f"))
    #expect(mask == 0xFFFF)
  }

  @Test(arguments: [
    ("480001c80000000032f600012d001980", 456, 13046, 301, 25),
    ("480003dc000000007f6c0002f1000f14", 988, 32620, 753, 15),
    ("4800041400000000874c00031f000f64", 1044, 34636, 799, 15),
  ])
  func totalsOfToday(text: String, steps: UInt32, calories: UInt32, meters: UInt32, minutes: UInt16) throws {
    #expect(CommandTable.today.request().bytes == hex("48000000000000000000000000000048"))
    let totals = try CommandTable.today.reply(frame(text))
    #expect(totals.steps == steps && totals.runningSteps == 0)
    #expect(totals.calories == calories && totals.meters == meters && totals.activeMinutes == minutes)
    #expect(CommandTable.today.frame(of: totals).bytes == hex(text))
  }

  @Test(
    arguments: [
      (MeasurementKind.oxygen, 1, "6903010000000000000000000000006d"),
      (.oxygen, 0x25, "69032500000000000000000000000091"),
      (.variability, 0x25, "690a2500000000000000000000000098"),
      (.continuousHeartRate, 1, "69060100000000000000000000000070"),
      (.heartRate, 3, "6901030000000000000000000000006d"),
    ] as [(MeasurementKind, UInt8, String)])
  func measurementsBegin(kind: MeasurementKind, action: UInt8, text: String) throws {
    let request = CommandTable.measurementStart.request(MeasurementStart(kind, action: action))
    #expect(request.bytes == hex(text))
    #expect(try MeasurementStart(parsing: frame(text)) == MeasurementStart(kind, action: action))
  }

  @Test(
    arguments: [
      (MeasurementKind.heartRate, 0, "6a01000000000000000000000000006b"),
      (.heartRate, 88, "6a0158000000000000000000000000c3"),
      (.variability, 0, "6a0a0000000000000000000000000074"),
    ] as [(MeasurementKind, UInt8, String)])
  func measurementsEnd(kind: MeasurementKind, value: UInt8, text: String) throws {
    let stop = MeasurementStop(kind, value: value)
    #expect(CommandTable.measurementStop.request(stop).bytes == hex(text))
    #expect(try CommandTable.measurementStop.reply(frame(text)) == stop)
  }

  @Test func anUpdateAndAnEvent() throws {
    let update = try CommandTable.measurementStart.reply(frame("6901004e0000000000000000000000b8"))
    #expect(update.kind == .heartRate && update.status == 0 && update.value == 78 && update.beatInterval == 0)
    #expect(try CommandTable.liveHeartRate.request(in: frame("1e330000000000000000000000000051")) == 0x33)
    #expect(RingEvent(try frame("73040000000000000000000000000077"))?.description == "new activity")
  }

  /// 30 and 41 ask for the state of the big transfers; a status of the firmware update is named, and never asked for.
  @Test func bulkFramesAreNamed() {
    #expect(BulkID(rawValue: 1).description == "firmware update start")
    #expect(CommandTable.danger(of: BulkID(rawValue: 1)) != nil)
    #expect(CommandTable.danger(of: BulkID(rawValue: 0x30)) == nil)
  }

  @Test func theThirdByteOfAStartMayBeFour() throws {
    let meaning = CommandTable.meaning(of: try frame("a10404000000000000000000000000a9"), isFromRing: false)
    #expect(meaning.name == "raw stream" && meaning.form?.name == "control")
  }

  @Test func derivesFamilyFromRevisions() {
    let revisions = ["5254313143525f312e30302e30385f323530353134", "5254313143525f56312e30"]
      .map { String(decoding: hex($0), as: UTF8.self) }
    let firmware = RingFirmware(firmwareRevision: revisions[0], hardwareRevision: revisions[1])
    #expect(firmware.firmwareRevision == "RT11CR_1.00.08_250514")
    #expect(firmware.hardwareRevision == "RT11CR_V1.0")
    #expect(firmware.family == .rt11cr)
  }
}
