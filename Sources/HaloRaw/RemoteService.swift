import HaloBluetoothCore
import HaloGATT

/// A service of a device, as it was discovered.
public struct RemoteService: Hashable, Sendable {
  /// Its type.
  public let uuid: BluetoothUUID
  /// In the order of their handles.
  public let characteristics: [RemoteCharacteristic]
}

/// A characteristic of a device, as it was discovered.
public struct RemoteCharacteristic: Hashable, Sendable {
  /// Reads, writes and iterates over it as bytes. A device may have several characteristics of one type:
  /// `CharacteristicID.instance` tells them apart.
  public let id: CharacteristicID<[UInt8]>
  /// What can be done with it.
  public let properties: CharacteristicProperties

  /// Its type.
  public var uuid: BluetoothUUID { id.uuid }
}
