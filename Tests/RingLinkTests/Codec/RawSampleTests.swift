import HaloBluetoothCore
import RingLink
import TestSupport
import Testing

@Suite struct RawSampleTests {
  private func sample(_ text: String) throws -> RawSample? {
    RawSample(try RingFrame(parsing: hex(text).span.bytes))
  }

  @Test(
    arguments: [
      ("a10100a000c20072009501000000000c", 160, 194, 114, 149, true),
      ("a101000000c20072009501000000006c", 0, 194, 114, 149, true),
      ("a101004a0088004c0065010000000026", 74, 136, 76, 101, true),
    ] as [(String, UInt16, UInt16, UInt16, UInt16, Bool)])
  func spo2(text: String, raw: UInt16, max: UInt16, min: UInt16, diff: UInt16, isValid: Bool) throws {
    let expected = OpticalSample(raw: raw, max: max, min: min, diff: diff, isValid: isValid)
    #expect(try sample(text) == .spo2(expected))
    #expect(RawSample.spo2(expected).frame.bytes == hex(text))
  }

  @Test(
    arguments: [
      ("a10229812acd29c1010c01000000003c", 10625, 10957, 10689, 268, true),
      ("a10200002acd29c1010c010000000092", 0, 10957, 10689, 268, true),
      ("a102066320281f5100d700000000009b", 1635, 8232, 8017, 215, false),
    ] as [(String, UInt16, UInt16, UInt16, UInt16, Bool)])
  func ppg(text: String, raw: UInt16, max: UInt16, min: UInt16, diff: UInt16, isValid: Bool) throws {
    let expected = OpticalSample(raw: raw, max: max, min: min, diff: diff, isValid: isValid)
    #expect(try sample(text) == .ppg(expected))
    #expect(RawSample.ppg(expected).frame.bytes == hex(text))
  }

  @Test(
    arguments: [
      ("a10312030b0d170400000000000000ec", .twelveBit, 372, 291, 189, 0.994),
      ("a103110a0b01160800000000000000e9", .twelveBit, 360, 282, 177, 0.958),
      ("a103000c1f06fb0300000000000000d3", .twelveBit, -77, 12, 502, 0.992),
      ("a103dfe5fe44fb3f00000000000000e4", .sixteenBit, -1217, -8219, -444, 1.016),
      ("a103dfadfe9dfb2e00000000000000f4", .sixteenBit, -1234, -8275, -355, 1.022),
      ("a103e00aff1dfaf20000000000000096", .sixteenBit, -1294, -8182, -227, 1.012),
      ("a103deb4fdc8fb3e0000000000000034", .sixteenBit, -1218, -8524, -568, 1.053),
    ] as [(String, AccelerometerEncoding, Int16, Int16, Int16, Double)])
  func acceleration(
    text: String, encoding: AccelerometerEncoding, x: Int16, y: Int16, z: Int16, magnitude: Double
  ) throws {
    guard case .accelerometer(let pairs) = try sample(text) else {
      Issue.record("not an accelerometer frame")
      return
    }
    #expect(pairs.counts(encoding) == AccelerationCounts(x: x, y: y, z: z))
    let acceleration = pairs.acceleration(encoding)
    let g = acceleration
    #expect(abs(g.x * g.x + g.y * g.y + g.z * g.z - magnitude * magnitude) < 0.0012)
    let again = AccelerometerSample(acceleration, encoding: encoding)
    #expect(RawSample.accelerometer(again).frame.bytes == hex(text))
  }

  @Test func everyCountSurvivesItsEncoding() {
    for counts in -2048...2047 {
      #expect(
        Int(AccelerometerEncoding.twelveBit.counts(AccelerometerEncoding.twelveBit.pair(counts))) == counts)
    }
    for counts in stride(from: -32768, through: 32767, by: 13) {
      #expect(
        Int(AccelerometerEncoding.sixteenBit.counts(AccelerometerEncoding.sixteenBit.pair(counts))) == counts)
    }
    #expect(AccelerometerEncoding.twelveBit.counts(AccelerometerEncoding.twelveBit.pair(9999)) == 2047)
    #expect(AccelerometerEncoding.sixteenBit.counts(AccelerometerEncoding.sixteenBit.pair(-99999)) == -32768)
    let absurd = Acceleration(x: .nan, y: .infinity, z: -1e300)
    let held = AccelerometerSample(absurd, encoding: .twelveBit).counts(.twelveBit)
    #expect(held == AccelerationCounts(x: 0, y: 2047, z: -2048))
  }

  @Test func decodesRefusalAndOtherSubtypes() throws {
    #expect(try sample("a1ff00000000000000000000000000a0") == .refused)
    #expect(RawSample.refused.frame.bytes == hex("a1ff00000000000000000000000000a0"))
    #expect(RawSample(RingFrame(.rawStream, 5)) == .unknown(subtype: 5))
    let end = RawSample.wearCalibrationEnd(first: 0x0102, second: 0xFFFE)
    #expect(end.frame.bytes == hex("a1080102fffe000000000000000000a9"))
    #expect(RawSample(end.frame) == end)
    #expect(RawSample(RingFrame(0x03, 2)) == nil)
  }

  @Test func controlFrames() {
    #expect(RawControl.start.bytes == hex("a10400000000000000000000000000a5"))
    #expect(
      RawControl.stopSequence.map(\.bytes) == [
        hex("a10500000000000000000000000000a6"), hex("a10200000000000000000000000000a3"),
      ])
  }
}
