import BluetoothCore

/// The UUIDs defined by GATT (Core Specification Vol 3, Part G, 3; Assigned Numbers 3).
public enum GATTUUID {
  public static let primaryService = BluetoothUUID(UInt16(0x2800))
  public static let secondaryService = BluetoothUUID(UInt16(0x2801))
  public static let include = BluetoothUUID(UInt16(0x2802))
  public static let characteristic = BluetoothUUID(UInt16(0x2803))
  public static let characteristicUserDescription = BluetoothUUID(UInt16(0x2901))
  public static let clientCharacteristicConfiguration = BluetoothUUID(UInt16(0x2902))
  public static let genericAccess = BluetoothUUID(UInt16(0x1800))
  public static let genericAttribute = BluetoothUUID(UInt16(0x1801))
  public static let serviceChanged = BluetoothUUID(UInt16(0x2A05))

  /// Names of the UUIDs that a reader meets first.
  private static let names: [BluetoothUUID: String] = Dictionary(
    uniqueKeysWithValues: ([
      (0x1800, "Generic Access"), (0x1801, "Generic Attribute"), (0x180A, "Device Information"),
      (0x180D, "Heart Rate"), (0x180F, "Battery"), (0x1812, "Human Interface Device"),
      (0x2800, "Primary Service"), (0x2801, "Secondary Service"), (0x2802, "Include"),
      (0x2803, "Characteristic"), (0x2900, "Characteristic Extended Properties"),
      (0x2901, "Characteristic User Description"), (0x2902, "Client Characteristic Configuration"),
      (0x2903, "Server Characteristic Configuration"), (0x2904, "Characteristic Presentation Format"),
      (0x2908, "Report Reference"), (0x2A00, "Device Name"), (0x2A01, "Appearance"),
      (0x2A04, "Peripheral Preferred Connection Parameters"), (0x2A05, "Service Changed"),
      (0x2A19, "Battery Level"), (0x2A23, "System ID"), (0x2A24, "Model Number String"),
      (0x2A25, "Serial Number String"), (0x2A26, "Firmware Revision String"),
      (0x2A27, "Hardware Revision String"), (0x2A28, "Software Revision String"),
      (0x2A29, "Manufacturer Name String"), (0x2A37, "Heart Rate Measurement"),
      (0x2A4D, "Report"), (0x2A50, "PnP ID"), (0x2AA6, "Central Address Resolution"),
      (0x2B29, "Client Supported Features"), (0x2B2A, "Database Hash"),
      (0x2B3A, "Server Supported Features"),
    ] as [(UInt16, String)]).map { (BluetoothUUID($0.0), $0.1) })

  /// The name in Assigned Numbers, for the UUIDs in this table.
  public static func name(of uuid: BluetoothUUID) -> String? { names[uuid] }
}
