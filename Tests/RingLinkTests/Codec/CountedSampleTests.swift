import HaloBluetoothCore
import TestSupport
import Testing
@testable import RingLink

/// Frames of the counted stream, byte for byte as the vendor's SDK 1.0.0.4 reads them (ring reference, 5.7).
@Suite struct CountedSampleTests {
  private func frame(_ digits: String) throws -> RingFrame {
    try RingFrame(0x69, payload: hex(digits).dropFirst())
  }

  @Test func greenLight() throws {
    let frame = try frame("69 0d 00 fe 48 12 34 00 00 01 00 ff ff 00 80")
    let sample = try #require(CountedSample(frame))
    #expect((sample.light, sample.status, sample.packet, sample.vital) == (.green, 0, 254, 72))
    #expect((sample.raw, sample.infrared) == (0x3412, 0))
    #expect(sample.acceleration == AccelerationCounts(x: 1, y: -1, z: -32768))
    #expect(sample.frame == frame)
  }

  @Test func redAndInfraredLight() throws {
    let frame = try frame("69 0e 00 00 61 78 56 bc 9a 00 10 00 e0 01 02")
    let sample = try #require(CountedSample(frame))
    #expect((sample.light, sample.packet, sample.vital) == (.red, 0, 97))
    #expect((sample.raw, sample.infrared) == (0x5678, 0x9ABC))
    #expect(sample.acceleration == AccelerationCounts(x: 4096, y: -8192, z: 513))
    #expect(sample.frame == frame)
  }

  /// Other kinds of a measurement, and the raw stream, are something else.
  @Test(arguments: ["6901004800", "690c004b1e2d", "a10229812acd", "6a0d"]) func otherFrames(_ digits: String)
    throws
  {
    let bytes = hex(digits)
    let frame = try RingFrame(RingCommand(rawValue: bytes[0]), payload: bytes.dropFirst())
    #expect(CountedSample(frame) == nil)
  }

  /// The scale is that of the sensor in 16 bits; where 12 bits are in these frames is not known.
  @Test func accelerationInG() throws {
    let sample = try #require(CountedSample(try frame("69 0d 00 00 00 01 00 00 00 00 10 00 e0 00 20")))
    #expect(sample.acceleration(.sixteenBit) == Acceleration(x: 0.5, y: -1, z: 1))
    #expect(sample.acceleration(.twelveBit) == nil && sample.acceleration(nil) == nil)
  }

  @Test func theRequestHasSeconds() {
    let request = RingFrame(0x69, CountedStreamStart(.red, seconds: 60))
    #expect(request.digits == "690e3c")
    let meaning = CommandTable.meaning(of: request, isFromRing: false)
    #expect("\(meaning)" == "measurement stream: kind red and infrared light (14), seconds 60 s")
  }
}
