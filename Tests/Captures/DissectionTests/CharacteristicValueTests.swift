import HaloBluetoothCore
import TestSupport
import Testing

@testable import HaloDissection

@Suite struct CharacteristicValueTests {
  private func text(_ type: UInt16, _ digits: String) -> String? {
    CharacteristicValue.text(hex(digits.dense), type: type)
  }

  @Test(arguments: [
    (0x2A37 as UInt16, "00 48", "flags none, heart rate 72 bpm"),
    (
      0x2A37, "16 48 0004 0002",
      "flags contact, contact supported, RR intervals, heart rate 72 bpm, sensor contact yes, "
        + "RR interval 1000.00 ms, RR interval 500.00 ms"
    ),
    (0x2A19, "63", "99 percent"), (0x2A01, "c000", "Watch (0x00c0)"),
    (0x2A01, "c200", "Watch: Smartwatch (0x00c2)"),
    (0x2A04, "0600 0c00 0400 f401", "interval 7.5 ms to 15 ms, latency 4 events, timeout 5000 ms"),
    (
      0x2A50, "01 5900 0100 1001",
      "vendor Bluetooth Nordic Semiconductor ASA (0x0059), product 0x0001, version 1.1.0"
    ),
    (
      0x2A2B, "ea07 0b 16 08 05 09 07 80 01",
      "time 2026-11-22 08:05:09, weekday Sunday, fraction 128 /256 s, reason manual update"
    ),
    (0x2A1C, "00 6d0100ff", "flags none, temperature 36.5 °C"),
    (0x2A1C, "01 ff7f0000", "flags Fahrenheit, temperature 32767 °F"),
    (0x2A6E, "66 08", "21.50 °C"), (0x2A6E, "9aff", "-1.02 °C"), (0x2A6F, "8813", "50.00 percent"),
    (0x2A6D, "cd750f00", "101319.7 Pa"), (0x2A07, "fc", "-4 dBm"), (0x2A38, "02", "wrist"),
    (
      0x2A35, "00 7800 5000 5d00",
      "flags none, systolic 120 mmHg, diastolic 80 mmHg, mean arterial pressure 93 mmHg"
    ),
    (0x2A5F, "00 6100 4800", "flags none, SpO2 97 percent, pulse rate 72 bpm"),
    (0x2A05, "0100 ffff", "first handle 0x0001, last handle 0xffff"), (0x2902, "0100", "notifications on"),
    (
      0x2904, "04 00 ad27 01 0000",
      "format uint8, exponent 0, unit percentage (27AD), name space 1, description 0"
    ),
    (0x2A26, "52303200", "\"R02\""), (0x2A0E, "04", "UTC+01:00"), (0x2A98, "c82d", "58.600 kg"),
    (0x2B3A, "01", "EATT"),
  ])
  func valuesAreWords(_ type: UInt16, _ digits: String, _ words: String) throws {
    if type == 0x2904 {
      return #expect(text(type, digits)?.hasPrefix("format uint8, exponent 0, unit") == true)
    }
    #expect(text(type, digits) == words)
  }

  @Test func fieldsHaveTheirBytesAndNumbers() throws {
    let value = hex("10 48 0004".dense)
    let found = CharacteristicValue.fields(of: value.span.bytes, 0..<4, type: 0x2A37)
    let fields = try #require(found)
    #expect(fields.map(\.name) == ["flags", "heart rate", "RR interval"])
    #expect(fields.map(\.range) == [0..<1, 1..<2, 2..<4])
    #expect(fields.map { $0.number?.description } == ["16", "72", "1000.00"])
    #expect(fields[1].reference == "GATT Specification Supplement, Heart Rate Measurement")
  }

  @Test func damagedValuesAreShownAsFarAsTheyGo() throws {
    let value = hex("09 48".dense)
    let found = CharacteristicValue.fields(of: value.span.bytes, 0..<2, type: 0x2A37)
    let fields = try #require(found)
    #expect(fields.map(\.name) == ["flags", "damaged"])
    #expect(text(0x2A19, "") == nil && text(0x1234, "00") == nil)
  }

  @Test func aValueInAPDUHasItsParts() {
    let script = Script()
    script.received(Script.connected)
    script.ask("08 0100 0400 0328".dense, "09 07 0200 12 0300 372a".dense)
    let packet = script.att("1b 0300 00 48".dense, isSent: false)
    #expect(packet.summary.contains("Heart Rate Measurement: flags none, heart rate 72 bpm"))
    #expect(packet.value(.att, "heart rate") == "72 bpm")
  }

  /// Every type with random bytes: nothing traps, and the fields are within the value.
  @Test func anyBytesAreRead() {
    var random = SeededGenerator(seed: 5)
    for type in UInt16(0x2900)...0x2C20 where CharacteristicValue.isKnown(type) {
      for length in 1...24 {
        let bytes = random.bytes(length)
        for field in CharacteristicValue.fields(of: bytes.span.bytes, 0..<length, type: type) ?? [] {
          #expect(field.range.lowerBound >= 0 && field.range.upperBound <= length)
        }
      }
    }
  }

  @Test func sectionsAreThoseOfTheThing() throws {
    let script = Script()
    script.received(Script.connected)
    let request = script.sent("01 0110 00")
    #expect(request.fields(of: .hci).first?.reference == "Vol 4, Part A, 2")
    let done = script.received("04 0e 0c 01 0110 00 0b 0000 0b 3101 0000".dense)
    #expect(done.fields(of: .hci).first { $0.name == "command" }?.reference == "Vol 4, Part E, 7.7.14")
    #expect(done.fields(of: .hci).first { $0.name == "manufacturer" }?.reference == "Vol 4, Part E, 7.4.1")
    let declarations = script.ask("08 0100 0400 0328".dense, "09 07 0200 12 0300 192a".dense)
    #expect(
      declarations.fields(of: .att).first { $0.name == "value handle" }?.reference == "Vol 3, Part G, 3.3.1.2"
    )
    script.ask("04 0400 0400".dense, "05 01 0400 0229".dense)
    let write = script.att("12 0400 0100".dense, isSent: true)
    #expect(write.fields(of: .att).first { $0.name == "value" }?.reference == "Vol 3, Part G, 3.3.3.3")
    let report = script.received("04 3e 14 02 01 00 01 efbe41383530 08 020106 0409 523032 c8".dense)
    let structures = report.fields(of: .hci)
    #expect(structures.first { $0.name == "type" }?.reference == "Vol 3, Part C, 11")
    #expect(structures.first { $0.name == "value" }?.reference == "CSS, Part A, 1.3")
    #expect(Specification.name == "Bluetooth Core Specification 6.2")
  }
}
