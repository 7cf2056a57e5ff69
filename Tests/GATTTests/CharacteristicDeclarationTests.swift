import ATT
import HaloBluetoothCore
import HaloGATT
import Testing

/// The value of a characteristic declaration (Core Specification Vol 3, Part G, 3.3.1).
@Suite struct CharacteristicDeclarationTests {
  /// A declaration with a UUID of 16 bits and one of 128 bits.
  @Test(
    arguments: [
      (
        [0x12, 0x03, 0x00, 0x37, 0x2A], CharacteristicProperties([.read, .notify]),
        BluetoothUUID(0x2A37 as UInt16)
      ),
      (
        [
          0x0C, 0x10, 0x00, 0x9E, 0xCA, 0xDC, 0x24, 0x0E, 0xE5, 0xA9, 0xE0, 0x93, 0xF3, 0xA3, 0xB5, 0x02,
          0x00, 0x40, 0x6E,
        ],
        [.write, .writeWithoutResponse], BluetoothUUID(0x6E40_0002_B5A3_F393_E0A9_E50E_24DC_CA9E as UInt128)
      ),
    ] as [([UInt8], CharacteristicProperties, BluetoothUUID)])
  func bytesAndFields(_ bytes: [UInt8], _ properties: CharacteristicProperties, _ uuid: BluetoothUUID) throws
  {
    let declaration = try #require(CharacteristicDeclaration(parsing: bytes))
    #expect(declaration.properties == properties)
    #expect(declaration.uuid == uuid)
    #expect(declaration.bytes == bytes)
    #expect(CharacteristicDeclaration(uuid, properties, at: AttributeHandle(UInt16(bytes[1]))) == declaration)
  }

  /// No other length is a declaration.
  @Test(arguments: [0, 1, 2, 3, 4, 6, 17, 18, 20, 21]) func otherLengthsAreRefused(_ count: Int) {
    #expect(CharacteristicDeclaration(parsing: Array(repeating: 1, count: count)) == nil)
  }
}
