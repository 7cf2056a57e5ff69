import HaloBluetoothCore
import HaloGATT

/// A descriptor of a characteristic.
public struct DescriptorID: Hashable, Sendable {
  /// Its type: 0x2901 for a description in words.
  public let uuid: BluetoothUUID
  /// The characteristic that has it.
  public let characteristic: CharacteristicID<[UInt8]>
  let instance: Int

  /// - Parameters:
  ///   - uuid: its type
  ///   - characteristic: the one that has it
  ///   - instance: which one of several of that type, counted from 0
  public init<Value>(
    _ uuid: BluetoothUUID, of characteristic: CharacteristicID<Value>, instance: Int = 0
  ) {
    self.uuid = uuid
    self.characteristic = CharacteristicID(characteristic)
    self.instance = max(0, instance)
  }
}

extension DescriptorID: CustomStringConvertible {
  /// `2901 of 2A19 in 180F`, `2904 of 2A6E in 181A (1)` for the second one.
  public var description: String {
    "\(uuid) of \(characteristic)" + (instance == 0 ? "" : " (\(instance))")
  }
}

extension CharacteristicID<[UInt8]> {
  /// The same characteristic, with its value as bytes.
  init<Other>(_ id: CharacteristicID<Other>) {
    self = CharacteristicID(id.uuid, in: id.service).instance(id.instance)
  }
}
