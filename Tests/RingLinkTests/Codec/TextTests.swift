import GAP
import HaloGATT
import HaloBluetoothCore
import Testing

@testable import RingLink

/// What is said of errors, events and measurements, word by word.
struct TextTests {
  private static let battery = RingBattery(percent: 12, isCharging: false)
  private static let charging = RingBattery(percent: 12, isCharging: true)
  private static let heartRate = CommandEntry.Subject.frame(0x16)
  private static let field = FrameField("interval", at: 3, .uint8, .minutes, settable: 1...255)

  private static let errors: [(RingError, String)] = [
    (
      .notFound(.anyRing, seconds: 29.6, others: 1),
      "no ring was found in 30 s (1 other device advertises). Is it charged and near, and its phone app closed? "
        + "A ring that a phone holds can't be seen; see halo-raw help troubleshooting"
    ),
    (
      .notFound(.name("R02_1"), seconds: 5, others: 2),
      "no device named R02_1 was found in 5 s (2 other devices advertise). Is it charged and near, and its phone app "
        + "closed? A ring that a phone holds can't be seen; see halo-raw help troubleshooting"
    ),
    (
      .notFound(.name("R02_1"), seconds: 5, others: 1, lacksScanResponses: true),
      "no device named R02_1 was found in 5 s. The adapter received no scan response of 1 other device, which have the "
        + "names of many: give the address of the device, or use another adapter"
    ),
    (.severalFound(["a", "b", "c"]), "several rings are near: a, b, c; name the one you mean"),
    (
      .severalFound(["a", "b", "c", "d", "e"]),
      "several rings are near: a, b, c and 2 more; name the one you mean"
    ),
    (
      .notARing([]),
      "not a QRing ring: it has no service 6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E; it has none at all"
    ),
    (.refused(heartRate, .notSupported), "the ring refused heart-rate: not supported by this ring"),
    (.refused(.frame(0x55), RingErrorCode(rawValue: 5)), "the ring refused command 0x55: ring error 0x05"),
    (.notAnswered(heartRate, seconds: 1.6), "the ring did not answer heart-rate within 2 s"),
    (
      .malformed(heartRate, .length(3)),
      "the ring's answer to heart-rate can't be read: a frame has 16 bytes, not 3"
    ),
    (
      .malformedBulk(0x27, .truncated(offset: 9)),
      "the ring's answer to sleep can't be read: truncated: the item at byte 9 is incomplete"
    ),
    (
      .incomplete(heartRate, missing: 3),
      "3 frames of the ring's answer to heart-rate were lost, twice; is it too far away?"
    ),
    (.damaged(.bulk(0x2A)), "the ring's answer to SpO2 log was damaged on the way; is it too far away?"),
    (.notTaken(heartRate, ["a", "b"]), "the ring acknowledged heart-rate, but did not take over a, b"),
    (.invalidSetting(.value("0", field)), "interval can be 1 to 255 min, not \"0\""),
    (.dangerous("erases the ring's memory"), "this is never sent: it erases the ring's memory"),
    (
      .measurement(.continuousHeartRate, .notWorn),
      "no heart rate: the ring does not touch the skin; wear it with its sensor on the inner side of the finger, and keep still"
    ),
    (
      .stillConnected("restart", seconds: 10, battery: charging),
      "the ring refuses to restart while it is charging; take it off its charger"
    ),
    (
      .stillConnected("restart", seconds: 9.7, battery: battery),
      "the ring was asked to restart, and is still connected after 10 s; its battery is at 12 %"
    ),
    (
      .stillConnected("restart", seconds: 10, battery: nil),
      "the ring was asked to restart, and is still connected after 10 s"
    ),
    (
      .sportEnded(seconds: 10),
      "the ring has not reported on the sport session for 10 s; it may have ended it"
    ),
    (
      .noBulkService,
      "the ring has no service DE5BF728-D711-4E47-AF26-65E3012A5DC7, through which this is asked for; old ones do not"
    ),
    (
      .streamRefused(battery: charging),
      "the ring refuses to stream while it is charging; take it off its charger"
    ),
    (
      .streamRefused(battery: battery),
      "the ring refuses to stream (A1 FF); rings do that on the charger, and if they do not know the command"
    ),
    (
      .noData(seconds: 3, battery: nil),
      "the stream was started, but the ring sent no data within 3 s. Is another measurement running?"
    ),
    (
      .noData(seconds: 3, battery: battery),
      "the stream was started, but the ring sent no data within 3 s; its battery is at 12 %. Is another measurement running?"
    ),
    (
      .noData(seconds: 3, battery: charging),
      "the stream was started, but the ring sent no data within 3 s; it is charging: take it off its charger. "
        + "Is another measurement running?"
    ),
    (.disconnected("out of reach"), "the connection to the ring was lost: out of reach"),
    (.cancelled, "cancelled"),
    (.bluetooth(.servicesChanged), StackError.servicesChanged.description),
  ]

  @Test(arguments: errors.indices) func errorsOfARing(_ index: Int) {
    #expect(Self.errors[index].0.description == Self.errors[index].1)
  }

  private static let others: [(any CustomStringConvertible & Sendable, String)] = [
    (RingFrameError.payloadTooLong(15), "a frame takes 14 bytes of payload, not 15"),
    (RingFrameError.unexpected(0x03), "the frame is about something else: battery"),
    (RingFrameError.value("slot can't be 96"), "slot can't be 96"),
    (RingErrorCode.malformed, "malformed request"), (RingErrorCode(rawValue: 1), "ring error 0x01"),
    (
      BulkFrameError.firmwareUpdate(3),
      "bulk id 3 belongs to the firmware update and is never sent: it can destroy the ring"
    ),
    (BulkFrameError.payloadTooLong(5000), "a bulk frame takes 4096 bytes of payload, not 5000"),
    (BulkContentsError.value("minute can't be 1440", offset: 4), "minute can't be 1440, at byte 4"),
    (BulkContentsError.status(1), "the ring answers with status 1: wrong size"),
    (BulkContentsError.status(2), "the ring answers with status 2: wrong content or CRC"),
    (BulkContentsError.status(3), "the ring answers with status 3: wrong state"),
    (BulkContentsError.status(4), "the ring answers with status 4: wrong format"),
    (BulkContentsError.status(5), "the ring answers with status 5: internal error"),
    (BulkContentsError.status(6), "the ring answers with status 6: battery low"),
    (BulkContentsError.status(7), "the ring answers with status 7: unknown"),
    (BulkID(rawValue: 0x99), "bulk frame, id 0x99"), (RingCommand(rawValue: 0x55), "command 0x55"),
    (
      SettingError.unknownField("x", setting: "touch", has: ["mode", "sleep"]),
      "touch has no field \"x\"; it has mode, sleep"
    ),
    (
      SettingError.incomplete(setting: "profile", missing: ["height", "weight"]),
      "to write profile, height, weight must be given, too: a setting is written as a whole, and the ring does not tell "
        + "what it has"
    ),
    (charging, "12 %, charging"), (battery, "12 %"), (SleepStage.Kind.light, "light"),
    (SleepStage.Kind.deep, "deep"), (SleepStage.Kind.rem, "REM"), (SleepStage.Kind.awake, "awake"),
    (SleepStage.Kind(rawValue: 1), "unknown 1"), (RingFamily.unknown, "unknown family"),
    (SavedMeasurements(["hrv": ["enabled": 1], "heart-rate": [:], "goals": [:]]), "heart-rate, hrv"),
  ]

  @Test(arguments: others.indices) func otherErrorsAndValues(_ index: Int) {
    #expect("\(Self.others[index].0)" == Self.others[index].1)
  }

  private static func reading(_ kind: MeasurementKind, _ value: MeasuredValue) -> MeasurementReading {
    MeasurementReading(
      kind: kind, value: value, estimate: kind.estimate, beatInterval: kind == .heartRate ? 800 : nil)
  }

  private static let measurements: [(any CustomStringConvertible & Sendable, String)] = [
    (reading(.heartRate, .heartRate(70)), "heart rate: 70 bpm, 800 ms from beat to beat"),
    (reading(.continuousHeartRate, .heartRate(70)), "heart rate: 70 bpm"),
    (reading(.oxygen, .oxygen(97)), "SpO2: 97 %"),
    (reading(.variability, .variability(42)), "HRV: 42 ms (estimate)"),
    (reading(.stress, .stress(31)), "stress: 31 (estimate)"),
    (
      reading(.bloodPressure, .bloodPressure(systolic: 120, diastolic: 80)),
      "blood pressure: 120/80 mmHg (estimate)"
    ), (reading(.bloodSugar, .number(5)), "blood sugar: 5 (estimate)"), (MeasurementKind.fatigue, "fatigue"),
    (MeasurementKind.oneKeyCheck, "one-key check"), (MeasurementKind(rawValue: 7), "ECG"),
    (MeasurementKind(rawValue: 12), "combined values"), (MeasurementKind(rawValue: 16), "measurement 16"),
    (
      MeasurementFailure.noValue(seconds: 44.6),
      "the ring has measured for 45 s and found no value; is it worn? Keep the hand still, and try again"
    ),
    (
      MeasurementFailure.fellSilent(seconds: 5),
      "the ring has sent nothing for 5 s; another measurement may have taken the sensor, or the ring was put on its charger"
    ), (MeasurementFailure.takenOver(by: .stress), "stress measurement has taken the sensor"),
    (
      MeasurementFailure.takenOver(by: .continuousHeartRate),
      "a continuous heart rate measurement has taken the sensor"
    ),
    (MeasurementFailure.status(9), "the ring has ended it with status 9, whose meaning is unknown"),
  ]

  @Test(arguments: measurements.indices) func describesMeasurements(_ index: Int) {
    #expect("\(Self.measurements[index].0)" == Self.measurements[index].1)
  }

  @Test func estimatesAreThoseOfTheReference() {
    let kinds: [(MeasurementKind, EstimateReason?, Bool)] = [
      (.heartRate, nil, false), (.continuousHeartRate, nil, false), (.oxygen, nil, false),
      (.variability, .replaced, false), (.stress, .replaced, false), (.bloodPressure, .fabricated, true),
      (.bloodSugar, .fabricated, true), (.fatigue, .unexplained, true), (.oneKeyCheck, .unexplained, true),
      (MeasurementKind(rawValue: 7), .unexplained, true),
    ]
    for (kind, estimate, isFabricated) in kinds {
      #expect(kind.estimate == estimate && kind.isFabricated == isFabricated, "\(kind)")
    }
    #expect(MeasuredValue.bloodPressure(systolic: 120, diastolic: 80).number == 120)
    #expect(HistoryKind.allCases.filter(\.isEstimate) == [.stress, .variability])
  }
}
