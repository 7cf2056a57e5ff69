import HaloBluetoothCore
import RingLink
import TestSupport
import Testing

@testable import HaloDissection

@Suite struct RingLayerTests {
  private func digits(_ frame: RingFrame) -> String { Hex.string(frame.bytes) }

  /// The command service at 0x000E, its notify characteristic at 0x0012.
  private func discover(_ script: Script) {
    script.ask("10 0100 ffff 0028".dense, "11 14 0e00 1300 9ecadc240ee5a9e093f3a3b5f0ff406e".dense)
    script.ask("08 0e00 1300 0328".dense, "09 15 1100 10 1200 9ecadc240ee5a9e093f3a3b50300406e".dense)
  }

  @Test func framesAreReadByTheirCharacteristic() throws {
    let script = Script()
    discover(script)
    let frame = RingFrame(0x03, 67, 1)
    let packet = script.att("1b1200" + digits(frame), isSent: false)
    let ring = try #require(packet.ring)
    #expect(!ring.isByShape)
    #expect(ring.entry?.name == "battery")
    #expect(packet.summary == "battery, from the ring: percent 67 %, charging yes")
    let percent = try #require(packet.fields(of: .ring).first { $0.name == "percent" })
    #expect(packet.source[percent.range] == [67])
    #expect(percent.reference.hasPrefix("ring reference, 4"))
    // The right characteristic, and no frame.
    let damaged = script.att("1b1200a1", isSent: false)
    #expect(damaged.ring?.content == .damaged("a frame has 16 bytes, not 1"))
    #expect(damaged.summary == "a frame has 16 bytes, not 1, from the ring: a1")
  }

  /// Devices with Nordic's serial port have a ring's characteristics in another service (6E400001): e-scooters, glasses,
  /// lamps, boards with Espruino. Neither frames nor damage are found there, whatever the bytes are.
  @Test(arguments: ["68656c6c6f0a", "0343010000000000000000000000000000000000"])
  func nordicSerialPortIsNotARing(value: String) {
    let script = Script()
    script.ask("10 0100 ffff 0028".dense, "11 14 0e00 1300 9ecadc240ee5a9e093f3a3b50100406e".dense)
    script.ask("08 0e00 1300 0328".dense, "09 15 1100 10 1200 9ecadc240ee5a9e093f3a3b50300406e".dense)
    let packet = script.att("1b1200" + value, isSent: false)
    #expect(packet.ring == nil && packet.summary.contains(value))
    #expect(packet.gatt?.attribute?.name == "6E400003-B5A3-F393-E0A9-E50E24DCCA9E")
    let frame = script.att("1b1200" + digits(RingFrame(0x03, 67, 1)), isSent: false)
    #expect(frame.ring == nil)
  }

  /// Where the service was not discovered, the shape decides, and a value that no ring sends rules a ring out.
  @Test func invalidFrameRulesOutARing() {
    let script = Script()
    script.ask("08 0e00 1300 0328".dense, "09 15 1100 10 1200 9ecadc240ee5a9e093f3a3b50300406e".dense)
    let frame = "1b1200" + digits(RingFrame(0x03, 67, 1))
    #expect(script.att(frame, isSent: false).ring?.isByShape == true)
    #expect(script.att("1b120068656c6c6f", isSent: false).ring == nil)
    #expect(script.att(frame, isSent: false).ring == nil)
  }

  @Test func withoutDiscoveryTheShapeDecides() {
    let script = Script()
    let sample = script.att("1b1200" + digits(RawSample.refused.frame), isSent: false)
    #expect(sample.ring?.isByShape == true)
    let refusal = script.att("1b1200" + digits(RingFrame(0x86, 0xEE)), isSent: false)
    #expect(refusal.ring?.meaning?.refusal?.command == 0x06)
    // A command that nobody knows: only where a ring has spoken.
    #expect(script.att("1b1200" + digits(RingFrame(0x7F, 1)), isSent: false).ring != nil)
    #expect(script.att("1b1400" + digits(RingFrame(0x7F, 1)), isSent: false).ring == nil)
    var wrong = RingFrame(0x03, 67).bytes
    wrong[15] ^= 1
    #expect(script.att("1b1200" + Hex.string(wrong), isSent: false).ring == nil)
  }

  /// Every first byte in both directions, the cases that used to be read in two ways among them.
  @Test(arguments: [0x00, 0x05, 0xEE] as [UInt8])
  func decodesEveryFirstByteByTheCommandTable(code: UInt8) throws {
    for first in UInt8.min...UInt8.max {
      let frame = RingFrame(RingCommand(rawValue: first), code)
      for isFromRing in [true, false] {
        let script = Script()
        // Write at 0x000F, notify at 0x0012, in the service.
        script.ask("10 0100 ffff 0028".dense, "11 14 0d00 1300 9ecadc240ee5a9e093f3a3b5f0ff406e".dense)
        script.ask("08 0e00 1300 0328".dense, "09 15 0e00 0c 0f00 9ecadc240ee5a9e093f3a3b50200406e".dense)
        script.ask("08 0f00 1300 0328".dense, "09 15 1100 10 1200 9ecadc240ee5a9e093f3a3b50300406e".dense)
        let opening = isFromRing ? "1b1200" : "520f00"
        let packet = script.att(opening + digits(frame), isSent: !isFromRing)
        let layer = try #require(packet.ring)
        let meaning = CommandTable.meaning(of: frame, isFromRing: isFromRing)
        #expect(layer.content == .frame(meaning))
        #expect(layer.isFromRing == isFromRing && !layer.isByShape)
        if let refusal = meaning.refusal {
          #expect(packet.summary(of: .ring) == "\(meaning.name) refused: \(refusal.code)")
        }
      }
    }
  }

  /// `c6 00` alone may be an answer of 0xC6; after a request 0x46 it refuses that, as on a live link.
  @Test func precedingRequestDecidesWhetherFrameIsRefusal() {
    let script = Script()
    discover(script)
    script.att("520f00" + digits(RingFrame(0x46)), isSent: true)
    let refusal = script.att("1b1200" + digits(RingFrame(0xC6, 0)), isSent: false)
    #expect(refusal.summary == "stored days refused: malformed request")
    let second = script.att("1b1200" + digits(RingFrame(0xC6, 0)), isSent: false)
    #expect(second.ring?.meaning?.refusal == nil)
  }

  @Test func otherCharacteristicsAreNotARing() {
    let script = Script()
    script.ask("08 0100 0400 0328".dense, "09 07 0200 12 1200 192a".dense)
    #expect(script.att("1b1200" + digits(RingFrame(0x03, 67)), isSent: false).ring == nil)
  }

  @Test func bulkFramesAreWhereTheirLastPieceIs() throws {
    let script = Script()
    var writer = ByteWriter()
    let payload = [UInt8](0..<40)
    try BulkFrame.write(0x27, payload: payload, into: &writer)
    // Without a discovery, its checksum has to be right first (glasses of havvk/even-g2-smart-classroom: random bytes).
    let first = "1b1800" + Hex.string(writer.bytes[..<20])
    #expect(script.att(first, isSent: false).ring == nil)
    script.att("1b1800" + Hex.string(writer.bytes[20..<40]), isSent: false)
    let last = script.att("1b1800" + Hex.string(writer.bytes[40...]), isSent: false)
    guard case .bulk(let frame)? = last.ring?.content else { return #expect(Bool(false), "no bulk frame") }
    #expect(frame.payload == payload)
    #expect(last.ring?.isByShape == true)
    // Where a ring has spoken, pieces are its own.
    #expect(script.att(first, isSent: false).ring?.content == .part(0x27, received: 14, length: 40))
    // One that is whole, and damaged, looks like none.
    #expect(script.att("1b1900 bc2701000000 55".dense, isSent: false).ring == nil)
  }
}
