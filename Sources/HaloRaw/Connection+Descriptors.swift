import GAP
import HaloGATT
import HaloBluetoothCore

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
