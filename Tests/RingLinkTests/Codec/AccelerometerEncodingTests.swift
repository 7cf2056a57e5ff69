import RingLink
import Testing

@Suite struct AccelerometerEncodingTests {
  /// A movement that gives another frame each time.
  private func sample(_ index: Int, _ encoding: AccelerometerEncoding) -> AccelerometerSample {
    AccelerometerSample(
      Acceleration(x: Double(index) * 0.013, y: -0.5, z: 0.8), encoding: encoding)
  }

  @Test func sixteenBitsShowThemselvesAfterEightFrames() {
    var detector = AccelerometerEncodingDetector()
    for index in 0..<7 {
      detector.observe(sample(index, .sixteenBit))
      #expect(detector.encoding == nil)
    }
    detector.observe(sample(7, .sixteenBit))
    #expect(detector.encoding == .sixteenBit)
  }

  @Test func twelveBitsNeedThirtyTwoDifferentFrames() {
    var detector = AccelerometerEncodingDetector()
    for index in 0..<31 {
      detector.observe(sample(index, .twelveBit))
      #expect(detector.encoding == nil)
    }
    // A ring that lies still repeats its last frame and proves nothing.
    for _ in 0..<1000 { detector.observe(sample(30, .twelveBit)) }
    #expect(detector.encoding == nil)
    detector.observe(sample(31, .twelveBit))
    #expect(detector.encoding == .twelveBit)
  }

  @Test func decisionsAreFinal() {
    var detector = AccelerometerEncodingDetector(known: .twelveBit)
    for index in 0..<100 { detector.observe(sample(index, .sixteenBit)) }
    #expect(detector.encoding == .twelveBit)
  }

  @Test(
    arguments: [
      ("R02_3.00.06_240523", "R02_V3.0", .rf03, .twelveBit),
      ("R02_3.00.06_FasterRawValuesMOD", nil, .rf03, .twelveBit),
      (nil, "R02_V3.0", .rf03, .twelveBit),
      ("RY02_3.00.33_250117", "RY02_V3.0", .ry, nil),
      ("RY09_3.10.21_251107", nil, .ry, nil),
      ("RT02R_3.11.00_250611", "RT02R_V3.1", .rt, .sixteenBit),
      ("RT02CR_3.10.00", "RT02CR_V3.1", .rt, .sixteenBit),
      ("RT12_3.10.06_260429", nil, .rt, .sixteenBit),
      ("RT03CR_1.00.02", nil, .rt, .sixteenBit),
      ("RT11CR_1.00.08_250514", "RT11CR_V1.0", .rt11cr, .sixteenBit),
      // The firmware decides against the hardware.
      ("RT02R_3.11.00_250611", "R02_V3.0", .rt, .sixteenBit),
      ("R02_LAB_1.00.00", "R02_LAB_V1.0", .unknown, nil),
      ("R02", "", .unknown, nil), ("RT", nil, .unknown, nil), (nil, nil, .unknown, nil),
    ] as [(String?, String?, RingFamily, AccelerometerEncoding?)])
  func firmwareTellsTheFamily(
    firmware: String?, hardware: String?, family: RingFamily, encoding: AccelerometerEncoding?
  ) {
    let ring = RingFirmware(firmwareRevision: firmware, hardwareRevision: hardware)
    #expect(ring.family == family)
    #expect(ring.accelerometerEncoding == encoding)
  }
}
