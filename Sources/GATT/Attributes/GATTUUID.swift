import HaloBluetoothCore

/// The UUIDs defined by GATT (Core Specification Vol 3, Part G, 3; Assigned Numbers 3).
package enum GATTUUID {
  package static let primaryService = BluetoothUUID(primaryServiceType)
  /// The number of ``primaryService``, for requests whose type is a number.
  package static let primaryServiceType: UInt16 = 0x2800
  package static let secondaryService = BluetoothUUID(UInt16(0x2801))
  package static let include = BluetoothUUID(UInt16(0x2802))
  package static let characteristic = BluetoothUUID(UInt16(0x2803))
  package static let characteristicExtendedProperties = BluetoothUUID(UInt16(0x2900))
  package static let characteristicUserDescription = BluetoothUUID(UInt16(0x2901))
  package static let clientCharacteristicConfiguration = BluetoothUUID(UInt16(0x2902))
  package static let serverCharacteristicConfiguration = BluetoothUUID(UInt16(0x2903))
  package static let characteristicPresentationFormat = BluetoothUUID(UInt16(0x2904))
  package static let characteristicAggregateFormat = BluetoothUUID(UInt16(0x2905))
  package static let genericAccess = BluetoothUUID(UInt16(0x1800))
  package static let genericAttribute = BluetoothUUID(UInt16(0x1801))
  package static let deviceInformation = BluetoothUUID(UInt16(0x180A))
  package static let deviceName = BluetoothUUID(UInt16(0x2A00))
  package static let appearance = BluetoothUUID(UInt16(0x2A01))
  package static let preferredConnectionParameters = BluetoothUUID(UInt16(0x2A04))
  package static let centralAddressResolution = BluetoothUUID(UInt16(0x2AA6))
  package static let batteryLevel = BluetoothUUID(UInt16(0x2A19))
  package static let serviceChanged = BluetoothUUID(UInt16(0x2A05))
  package static let clientSupportedFeatures = BluetoothUUID(UInt16(0x2B29))
  package static let databaseHash = BluetoothUUID(UInt16(0x2B2A))
  package static let serverSupportedFeatures = BluetoothUUID(UInt16(0x2B3A))

  /// The name in Assigned Numbers; nil for UUIDs of 128 bits and those without a name.
  package static func name(of uuid: BluetoothUUID) -> String? { uuid.short.flatMap(AssignedNumbers.uuid) }

  /// The same for the type of an attribute: a declaration, a characteristic, a descriptor. Nil for a number that the SIG
  /// gave to a service or to a company, such as 0xFFF1; many devices use such numbers for characteristics of their own.
  package static func attributeName(of uuid: BluetoothUUID) -> String? {
    uuid.short.flatMap { attributeTypes.contains($0) ? AssignedNumbers.uuid($0) : nil }
  }

  /// The numbers of declarations, descriptors and characteristics (Assigned Numbers, 3.6 to 3.8).
  private static let attributeTypes: Range<UInt16> = 0x2800..<0x3000
}
