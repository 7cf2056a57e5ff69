import HaloBluetoothCore
import HaloGATT
import TestSupport
import Testing

/// Values of characteristics: bytes, fields, and what is no value.
@Suite struct GATTValueTests {
  private func parse<Value: GATTValue>(_ type: Value.Type, _ bytes: String) -> Value? {
    let bytes = hex(bytes)
    return try? Value(parsing: bytes.span.bytes)
  }

  /// The fields of a value, and its bytes, both ways.
  private func check<Value: GATTValue & Equatable>(_ value: Value, _ bytes: String) {
    #expect(parse(Value.self, bytes) == value)
    #expect(value.encoded == hex(bytes))
  }

  @Test func quantitiesArePrintedWithTheirUnits() {
    #expect("\(Percent(81))" == "81 %" && "\(Celsius(20.5))" == "20.50 °C")
    #expect("\(Celsius(-0.07))" == "-0.07 °C" && "\(Celsius.unknown)" == "unknown")
  }

  /// Firmware sends buffers that it has not filled (bettercap/gatt 4, alistair23/AutoMower-BLE 129, cwi-dis/iotsa 170), and text
  /// that is not UTF-8 (whad-team/whad-client 346, peplin/pygatt 170).
  @Test func textEndsBeforeItsZerosAndMayBeLatin1() {
    #expect(parse(String.self, "52303200") == "R02" && parse(String.self, "5230320000") == "R02")
    #expect(parse(String.self, "436166e9") == "Café" && parse(String.self, "436166c3a900") == "Café")
    #expect(parse(String.self, "c3") == nil && parse(String.self, "") == "" && parse(String.self, "00") == "")
  }

  @Test func fieldsAndBytes() {
    check(Percent(87), "57")
    check(Celsius(21.53), "6908")
    check(Celsius(-273.15), "4d95")
    check(Celsius.unknown, "0080")
    check("Ring ü" as String, "52696e6720c3bc")
    check([1, 2] as [UInt8], "0102")
    check(AppearanceValue(rawValue: 0x00C0), "c000")
    check(PnPID(source: .usb, vendor: 0x1D6B, product: 0x0246, version: 0x0537), "026b1d46023705")
    check(
      PreferredConnectionParameters(shortestInterval: 20, longestInterval: 40, latency: 4, timeout: 500),
      "140028000400f401")
    check(
      PreferredConnectionParameters(shortestInterval: nil, longestInterval: nil, latency: 0, timeout: nil),
      "ffffffff0000ffff")
  }

  /// The measurements that heart rate sensors send: with one and two bytes, with and without the rest.
  @Test func heartRates() {
    check(HeartRateMeasurement(beatsPerMinute: 72), "0048")
    check(HeartRateMeasurement(beatsPerMinute: 300), "012c01")
    check(HeartRateMeasurement(beatsPerMinute: 72, hasContact: true), "0648")
    check(HeartRateMeasurement(beatsPerMinute: 72, hasContact: false), "0448")
    check(HeartRateMeasurement(beatsPerMinute: 72, energyExpended: 0x0102), "08480201")
    check(HeartRateMeasurement(beatsPerMinute: 60, intervals: [1024, 512]), "103c00040002")
    #expect(
      HeartRateMeasurement(beatsPerMinute: 60, intervals: [1024, 512]).durations == [
        .seconds(1), .milliseconds(500),
      ])
    // Contact without the flag that it is told says nothing; a small rate may be sent in two bytes.
    #expect(parse(HeartRateMeasurement.self, "0248") == HeartRateMeasurement(beatsPerMinute: 72))
    #expect(parse(HeartRateMeasurement.self, "014800") == HeartRateMeasurement(beatsPerMinute: 72))
    // Half an interval, and intervals that are announced and missing.
    #expect(parse(HeartRateMeasurement.self, "103c000400") == nil)
    #expect(parse(HeartRateMeasurement.self, "103c") == nil)
  }

  @Test func rejectsOrClampsInvalidValues() {
    #expect(parse(Percent.self, "65") == nil && parse(Percent.self, "ff") == nil)
    #expect(parse(Celsius.self, "4c95") == nil)
    #expect(parse(String.self, "80") == nil && parse(String.self, "1bff") == nil)
    #expect(Percent(101) == 100 && Percent(-1) == 0)
    #expect(Celsius(1e300).hundredths == 32_767 && Celsius(-.infinity).hundredths == -27_315)
    #expect(Celsius(.nan) == .unknown && Celsius.unknown.degrees == nil && Celsius(0.1).degrees == 0.1)
  }

  @Test func anIDHasBothUUIDs() {
    #expect(CharacteristicID.batteryLevel.description == "2A19 in 180F")
    #expect(CharacteristicID<String>("2a00", in: "1800") == .deviceName)
  }

  // MARK: Properties

  /// What was written is parsed as the same value, and no cut of it, and nothing longer, is a value.
  private func checkProperty<Value: GATTValue & Equatable>(
    _ value: Value, isWhole: (Int) -> Bool = { _ in false }
  ) {
    let bytes = value.encoded
    #expect((try? Value(parsing: bytes.span.bytes)) == value)
    for length in 0..<bytes.count where !isWhole(length) {
      let cut = Array(bytes[..<length])
      #expect(throws: DecodeError.self, "\(value)") { try Value(parsing: cut.span.bytes) }
    }
    let longer = bytes + [0]
    #expect(throws: DecodeError.self, "\(value)") { try Value(parsing: longer.span.bytes) }
    checkDecoderIsTotal(bytes) { _ = try? Value(parsing: $0.span.bytes) }
  }

  @Test(arguments: 0..<50) func valuesRoundTrip(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    func number() -> UInt16 { UInt16.random(in: 0...0xFFFF, using: &random) }
    func preference() -> UInt16? { Bool.random(using: &random) ? number() % 0xFFFF : nil }
    checkProperty(Percent(Int.random(in: 0...100, using: &random)))
    checkProperty(Celsius(hundredths: Int.random(in: -27_315...32_767, using: &random)))
    checkProperty(AppearanceValue(rawValue: number()))
    checkProperty(
      PnPID(
        source: .init(rawValue: UInt8.random(in: 0...255, using: &random)), vendor: number(),
        product: number(), version: number()))
    checkProperty(
      PreferredConnectionParameters(
        shortestInterval: preference(), longestInterval: preference(), latency: number(),
        timeout: preference()))
    let contact: Bool? = [nil, false, true].randomElement(using: &random) ?? nil
    let measurement = HeartRateMeasurement(
      beatsPerMinute: number() % 400, hasContact: contact, energyExpended: preference(),
      intervals: (0..<Int.random(in: 0...8, using: &random)).map { _ in number() })
    // The list of intervals has no count: cut behind one of them, it is a shorter list.
    let fields = measurement.encoded.count - 2 * measurement.intervals.count
    checkProperty(measurement) { $0 >= fields + 2 && ($0 - fields).isMultiple(of: 2) }
  }
}
