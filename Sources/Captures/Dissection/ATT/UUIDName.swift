import HaloBluetoothCore
import HaloGATT
import RingLink

/// The name of a UUID.
enum UUIDName {
  private static let ring: [BluetoothUUID: String] = [
    RingGATT.commandService: "ring commands", RingGATT.bulkService: "ring bulk",
    RingGATT.bulkWrite: "ring bulk write", RingGATT.bulkNotify: "ring bulk notify",
  ]
  /// What characteristics with the UUIDs of Nordic's serial port are in the service of a ring.
  private static let ringCommands: [BluetoothUUID: String] = [
    RingGATT.commandWrite: "ring command write", RingGATT.commandNotify: "ring command notify",
  ]

  /// A name from Assigned Numbers, or from the ring's protocol; nil for all others.
  static func name(of uuid: BluetoothUUID) -> String? {
    GATTUUID.name(of: uuid) ?? ring[uuid]
  }

  /// `Battery Level`, or the UUID where it has no name.
  static func short(_ uuid: BluetoothUUID) -> String {
    name(of: uuid) ?? uuid.description
  }

  /// The name of a characteristic or a descriptor, or its UUID.
  ///
  /// - Parameters:
  ///   - service: the service that it is in, if that is known
  ///   - isLong: whether the UUID follows the name
  static func ofAttribute(
    _ uuid: BluetoothUUID, in service: BluetoothUUID? = nil, isLong: Bool = false
  ) -> String {
    let isCommand = service == RingGATT.commandService
    guard
      let name = GATTUUID.attributeName(of: uuid) ?? ring[uuid] ?? (isCommand ? ringCommands[uuid] : nil)
    else { return uuid.description }
    return isLong ? "\(name) (\(uuid))" : name
  }

  /// `Battery Level (2A19)`.
  static func described(_ uuid: BluetoothUUID) -> String {
    name(of: uuid).map { "\($0) (\(uuid))" } ?? uuid.description
  }
}
