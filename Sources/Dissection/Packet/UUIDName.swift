import BluetoothCore
import GATTClient
import RingLink

/// The name of a UUID.
enum UUIDName {
  private static let ring: [BluetoothUUID: String] = [
    RingGATT.commandService: "ring commands", RingGATT.commandWrite: "ring command write",
    RingGATT.commandNotify: "ring command notify", RingGATT.bulkService: "ring bulk",
    RingGATT.bulkWrite: "ring bulk write", RingGATT.bulkNotify: "ring bulk notify",
  ]

  /// A name from Assigned Numbers, or from the ring's protocol; nil for all others.
  static func name(of uuid: BluetoothUUID) -> String? {
    GATTUUID.name(of: uuid) ?? ring[uuid]
  }

  /// `Battery Level`, or the UUID where it has no name.
  static func short(_ uuid: BluetoothUUID) -> String {
    name(of: uuid) ?? uuid.description
  }

  /// `Battery Level (2A19)`.
  static func described(_ uuid: BluetoothUUID) -> String {
    name(of: uuid).map { "\($0) (\(uuid))" } ?? uuid.description
  }
}
