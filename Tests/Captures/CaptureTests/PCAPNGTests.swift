import HaloBluetoothCore
import HaloCapture
import TestSupport
import Testing

private let little = PCAPNGBytes()
private let sent = hex("00000000 01030c00")

@Suite struct PCAPNGTests {
  @Test(arguments: [false, true]) func eachByteOrderIsRead(big: Bool) {
    let file = PCAPNGBytes(big: big)
    let reading = Reading(
      file.section() + file.interface(201) + file.packet(sent, time: UInt64(newYear) + 7)
        + file.packet(hex("00000001 040e00"), original: 20) + file.simplePacket(sent)
        + file.packet(hex("00000001 04"), type: 2))
    #expect(reading.format == .pcapng && reading.error == nil && reading.truncated == 0)
    #expect(
      reading.lines == [
        "1 7 - sent 01030c00", "2 0 - received 040e00 of 16", "3 - - sent 01030c00", "4 0 - received 04",
      ])
  }

  /// Each section has its order, and its interfaces, and counting goes on.
  @Test func sectionsOfBothOrders() {
    let big = PCAPNGBytes(big: true)
    let reading = Reading(
      little.section() + little.interface(201) + little.packet(sent) + big.section() + big.interface(254)
        + big.packet(hex("0001 0008")) + big.packet(hex("0001 0009")))
    #expect(reading.lines == ["1 0 - sent 01030c00", "2 0 hci1 monitor 8 ", "3 0 hci1 monitor 9 "])
  }

  /// A packet of another kind is counted, and told for what it is.
  @Test func severalInterfaces() {
    let reading = Reading(
      little.section() + little.interface(187) + little.interface(1) + little.interface(254)
        + little.packet(hex("ffff 000c 41"), interface: 2) + little.packet(hex("aabb"), interface: 1)
        + little.packet(hex("0240000000")))
    #expect(
      reading.lines == ["1 0 - monitor 12 41", "2 0 - link type 1 aabb", "3 0 - either 0240000000"])
  }

  /// Link type 187 does not tell the direction, but a packet's flags may.
  @Test func packetFlagsGiveTheDirection() {
    func flags(_ value: UInt32) -> [UInt8] {
      little.option(1, Array("a comment".utf8)) + little.option(2, integer(value, big: false))
        + little.option(0, [])
    }
    let data = hex("0240000000")
    let reading = Reading(
      little.section() + little.interface(187) + little.packet(data, options: flags(1))
        + little.packet(data, options: flags(2)) + little.packet(data, options: flags(0))
        + little.packet(data, options: hex("0200 ff00 0000")) + little.packet(hex("04"), options: flags(2)))
    #expect(
      reading.records.map(\.info.direction) == [
        .controllerToHost, .hostToController, nil, nil, .controllerToHost,
      ])
  }

  static let units: [(resolution: UInt8?, time: UInt64, microseconds: Int64)] = [
    (nil, 1_500_000, 1_500_000), (6, 1_500_000, 1_500_000), (9, 1_500_000_999, 1_500_000),
    (3, 1500, 1_500_000),
    (0, 2, 2_000_000), (12, 1_500_000_000_000, 1_500_000), (127, .max, 0), (0x80, 3, 3_000_000),
    (0x80 | 10, 1536, 1_500_000), (0x80 | 32, 0x1_8000_0000, 1_500_000), (0xFF, .max, 0), (0, .max, .max),
    (nil, .max, .max), (26, .max, 0), (25, .max, 1), (0x80 | 63, .max, 1_999_999),
  ]

  @Test(arguments: units) func unitsOfTime(_ unit: (resolution: UInt8?, time: UInt64, microseconds: Int64)) {
    let options = unit.resolution.map { little.option(9, [$0]) } ?? []
    let reading = Reading(
      little.section() + little.interface(201, options: options) + little.packet(sent, time: unit.time))
    #expect(reading.records.first?.info.microseconds == unit.microseconds)
  }

  @Test(arguments: [
    (Int64(10), UInt64(5), Int64(10_000_005)), (-10, 5, -9_999_995), (.max, 5, .max), (.min, 5, .min),
  ]) func anOffsetOfTimes(offset: Int64, time: UInt64, microseconds: Int64) {
    let options = little.option(14, integer(offset, big: false))
    let reading = Reading(
      little.section() + little.interface(201, options: options) + little.packet(sent, time: time))
    #expect(reading.records.first?.info.microseconds == microseconds)
  }

  @Test func blocksOfOtherKindsAreSkipped() {
    let large = [UInt8](repeating: 0x0A, count: 3_000_000)
    let reading = Reading(
      little.section() + little.block(4, [1, 2, 3]) + little.interface(201) + little.block(77, large)
        + little.packet(sent) + little.block(5, []) + little.packet(sent))
    #expect(reading.lines == ["1 0 - sent 01030c00", "2 0 - sent 01030c00"])
    #expect(reading.truncated == 0 && reading.error == nil)
  }

  /// Wireshark gives them a number: so the packets after them have the same as there.
  @Test func journalEntriesAndCustomBlocksCount() {
    let reading = Reading(
      little.section() + little.interface(201) + little.block(9, Array("MESSAGE=hi".utf8))
        + little.packet(sent)
        + little.block(0xBAD, [1, 0, 0, 0]) + little.block(0x4000_0BAD, [1, 0, 0, 0]) + little.packet(sent))
    #expect(reading.lines == ["2 0 - sent 01030c00", "5 0 - sent 01030c00"])
  }

  /// Options that are longer than the buffer do not hide the packet before them.
  @Test func aPacketWithALongComment() {
    let comments = (0..<20).flatMap { _ in little.option(1, [UInt8](repeating: 0x41, count: 65_000)) }
    let reading = Reading(
      little.section() + little.interface(201) + little.packet(sent, options: comments) + little.packet(sent))
    #expect(reading.lines == ["1 0 - sent 01030c00", "2 0 - sent 01030c00"])
    #expect(reading.error == nil)
  }

  /// A Simple Packet Block has no length of its own: it is the snap length's, or the packet's.
  @Test func aSimplePacketIsCutAtTheSnapLength() {
    let reading = Reading(
      little.section() + little.interface(201, snapLength: 6)
        + little.simplePacket(sent.dropLast(2), original: 8)
        + little.simplePacket(hex("00000001")))
    #expect(reading.lines == ["1 - - sent 0103 of 4", "2 - - received "])
  }

  static let damages: [(String, [UInt8])] = [
    ("no interface", little.packet(sent, interface: 1)),
    ("lengths differ", little.block(6, [1, 2, 3, 4], length: 20) + [0, 0, 0, 0]),
    ("a length of nothing", integer(UInt32(6), big: false) + integer(UInt32(0), big: false) + [0, 0, 0, 0]),
    ("an odd length", integer(UInt32(6), big: false) + integer(UInt32(33), big: false) + [0, 0, 0, 0]),
    ("more than the block", little.packet(sent, original: 200, included: 100)),
    ("a short packet block", little.block(6, [0, 0, 0, 0])),
    ("a short simple packet block", little.block(3, [])),
    ("a simple packet beyond its block", little.simplePacket(sent, original: 100)),
    ("a short interface", little.block(1, [201, 0, 0, 0])),
    ("a short section", little.block(0x0A0D_0D0A, integer(UInt32(0x1A2B_3C4D), big: false))),
    ("a section without order", little.block(0x0A0D_0D0A, [UInt8](repeating: 0, count: 16))),
    ("a section of another version", little.section(major: 2)),
    ("4 GiB", little.packet(sent, original: .max, included: .max)),
  ]

  @Test(arguments: damages) func reportsOffsetOfDamagedBlock(_ damage: (what: String, bytes: [UInt8])) {
    let start = little.section() + little.interface(201) + little.packet(sent)
    let reading = Reading(start + damage.bytes + little.packet(sent))
    #expect(reading.lines == ["1 0 - sent 01030c00"])
    #expect(reading.error?.offset == start.count)
    #expect("\(String(describing: reading.error))".contains("byte \(start.count)"))
  }

  /// A block of 4 GiB that nobody knows is passed over as far as the file goes.
  @Test func anUnknownBlockThatNeverEnds() {
    let start = little.section() + little.interface(201) + little.packet(sent)
    let reading = Reading(
      start + integer(UInt32(77), big: false) + integer(UInt32(0xFFFF_FFFC), big: false)
        + [UInt8](repeating: 1, count: 100))
    #expect(reading.records.count == 1 && reading.error == nil)
    #expect(reading.truncated == 108)
  }

  @Test func interfacesWithoutEndAreDamage() {
    let interface = little.interface(201)
    let reading = Reading(little.section() + (0..<65_537).flatMap { _ in interface })
    #expect(reading.error?.offset == 28 + 65_536 * interface.count)
  }
}
