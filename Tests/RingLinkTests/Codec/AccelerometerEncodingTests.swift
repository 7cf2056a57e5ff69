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
  func derivesFamilyAndEncodingFromFirmware(
    firmware: String?, hardware: String?, family: RingFamily, encoding: AccelerometerEncoding?
  ) {
    let ring = RingFirmware(firmwareRevision: firmware, hardwareRevision: hardware)
    #expect(ring.family == family)
    #expect(ring.accelerometerEncoding == encoding)
  }
}

/// Pairs of bytes and counts (ring reference, 5.4).
@Suite struct AccelerationPairTests {
  @Test(
    arguments: [
      (.twelveBit, 0, 0), (.twelveBit, 189, 0x0B0D), (.twelveBit, -1, 0xFF0F), (.twelveBit, 2047, 0x7F0F),
      (.twelveBit, -2048, 0x8000), (.sixteenBit, 0x1234, 0x1234), (.sixteenBit, -2, 0xFFFE),
    ] as [(AccelerometerEncoding, Int, UInt16)])
  func aPairHasItsBytes(_ encoding: AccelerometerEncoding, _ counts: Int, _ pair: UInt16) {
    #expect(encoding.pair(counts) == pair)
    #expect(Int(encoding.counts(pair)) == counts)
  }

  /// The upper half of the second byte is no part of twelve bits.
  @Test func twelveBitsAreReadFromThreeHalves() {
    #expect(AccelerometerEncoding.twelveBit.counts(0x0BFD) == 189)
    #expect(AccelerometerEncoding.twelveBit.counts(0x00F0) == 0)
  }

  @Test func clampsCountsToTheirRange() {
    for (counts, held) in [(2048, 2047), (-2049, -2048), (.max, 2047), (.min, -2048)] {
      #expect(
        Int(AccelerometerEncoding.twelveBit.counts(AccelerometerEncoding.twelveBit.pair(counts))) == held)
    }
    for (counts, held) in [(32768, 32767), (-32769, -32768)] {
      #expect(
        Int(AccelerometerEncoding.sixteenBit.counts(AccelerometerEncoding.sixteenBit.pair(counts))) == held)
    }
  }

  /// The nearest count, a half away from zero; each axis by itself.
  @Test(
    arguments: [
      (0.0, 0), (0.49, 0), (0.5, 1), (0.75, 1), (1.49, 1), (1.5, 2), (-0.49, 0), (-0.5, -1), (-0.75, -1),
      (-1.49, -1),
      (-1.5, -2), (2047, 2047), (2047.6, 2047), (-2048.4, -2048), (-2049, -2048),
    ] as [(Double, Int16)])
  func anAccelerationIsRounded(_ counts: Double, _ rounded: Int16) {
    let g = counts / 512
    let samples = [
      Acceleration(x: g, y: 0, z: 0), Acceleration(x: 0, y: g, z: 0), Acceleration(x: 0, y: 0, z: g),
    ].map { AccelerometerSample($0, encoding: .twelveBit).counts(.twelveBit) }
    #expect(
      samples == [
        AccelerationCounts(x: rounded, y: 0, z: 0), AccelerationCounts(x: 0, y: rounded, z: 0),
        AccelerationCounts(x: 0, y: 0, z: rounded),
      ])
  }

  @Test func convertsFullSixteenBitRange() {
    let ends = AccelerometerSample(Acceleration(x: 4, y: -4, z: 32767 / 8192), encoding: .sixteenBit)
    #expect(ends.counts(.sixteenBit) == AccelerationCounts(x: 32767, y: -32768, z: 32767))
    let back = AccelerometerSample(x: 0x2000, y: 0xE000, z: 0x1000).acceleration(.sixteenBit)
    #expect(back == Acceleration(x: 1, y: -1, z: 0.5))
    #expect(
      AccelerometerSample(x: 0x2000, y: 0xE000, z: 0x1000).acceleration(.twelveBit)
        == Acceleration(x: 1, y: -1, z: 0.5))
  }

  /// One axis is enough, by any of the four bits; eight frames are needed, moving or not.
  @Test(arguments: [0x10, 0x20, 0x40, 0x80] as [UInt16])
  func anyAxisShowsSixteenBits(_ bit: UInt16) {
    for sample in [
      AccelerometerSample(x: bit, y: 0, z: 0), AccelerometerSample(x: 0, y: bit, z: 0),
      AccelerometerSample(x: 0, y: 0, z: bit),
    ] {
      var detector = AccelerometerEncodingDetector()
      for _ in 0..<7 { detector.observe(sample) }
      #expect(detector.encoding == nil)
      detector.observe(AccelerometerSample(x: 0, y: 0, z: 0))
      #expect(detector.encoding == .sixteenBit)
    }
  }

  /// A ring that has lain still for long shows sixteen bits with the first frame that has them.
  @Test func ignoresBitsCommonToBothEncodings() {
    var detector = AccelerometerEncodingDetector()
    for _ in 0..<1000 { detector.observe(AccelerometerSample(x: 0xFF0F, y: 0xFF0F, z: 0xFF0F)) }
    #expect(detector.encoding == nil)
    detector.observe(AccelerometerSample(x: 0, y: 0, z: 0x00F0))
    #expect(detector.encoding == .sixteenBit)
  }
}
