import HaloBluetoothCore
import HaloGATT

/// A descriptor of a characteristic.
public struct DescriptorID: Hashable, Sendable, CustomStringConvertible {
  /// Its type: 0x2901 for a description in words.
  public let uuid: BluetoothUUID
  /// The characteristic that has it.
  public let characteristic: CharacteristicID<[UInt8]>
  let instance: Int

  /// - Parameters:
  ///   - uuid: its type
  ///   - characteristic: the one that has it
  ///   - instance: which one of several of that type, counted from 0
  public init<Value>(_ uuid: BluetoothUUID, of characteristic: CharacteristicID<Value>, instance: Int = 0) {
    self.uuid = uuid
    self.characteristic = CharacteristicID(characteristic)
    self.instance = max(0, instance)
  }

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

extension Connection {
  /// The descriptors of a characteristic, in the order of their handles.
  ///
  /// Errors are those of a read.
  public func descriptors<Value>(of id: CharacteristicID<Value>) async throws -> [DescriptorID] {
    let characteristic = CharacteristicID<[UInt8]>(id)
    let found = try await core.perform(repeats: { true }) { live throws(StackError) in
      try await live.gatt.discoverDescriptors(of: try await live.characteristic(Place(id)))
    }
    return found.enumerated().map { index, descriptor in
      let before = found[..<index].count { $0.uuid == descriptor.uuid }
      return DescriptorID(descriptor.uuid, of: characteristic, instance: before)
    }
  }

  /// Reads a descriptor of any length.
  ///
  /// Errors are those of a characteristic.
  public func read(_ id: DescriptorID) async throws -> [UInt8] {
    try await core.perform(repeats: { true }) { live throws(StackError) in
      try await live.gatt.read(try await live.descriptor(id))
    }
  }

  /// Writes a descriptor, and returns when the device has confirmed it.
  ///
  /// Errors are those of a characteristic. `.invalidValue` for a Client Characteristic Configuration, which is written by
  /// iterating over values.
  public func write(_ bytes: [UInt8], to id: DescriptorID) async throws {
    guard id.uuid != GATTUUID.clientCharacteristicConfiguration else {
      throw BluetoothError(
        .invalidValue, "iterate over the values of \(id.characteristic) to subscribe to it")
    }
    try await write(bytes) { live throws(StackError) in try await live.descriptor(id) }
  }
}
