import HaloBluetoothCore

extension AttributeDatabase {
  /// The input of the Database Hash (Core Specification Vol 3, Part G, 7.3.1): the declarations with their values, and the
  /// places of the descriptors.
  package var hashedBytes: [UInt8] {
    var writer = ByteWriter()
    for attribute in attributes {
      let isDescriptor = DatabaseHash.descriptors.contains(attribute.type)
      guard isDescriptor || DatabaseHash.declarations.contains(attribute.type) else { continue }
      writer.write(attribute.handle.rawValue)
      attribute.type.write(into: &writer)
      if !isDescriptor { writer.write(attribute.value) }
    }
    return writer.bytes
  }
}

/// Which attributes the hash is about.
private enum DatabaseHash {
  /// The attributes whose value counts.
  static let declarations: Set<BluetoothUUID> = [
    GATTUUID.primaryService, GATTUUID.secondaryService, GATTUUID.include, GATTUUID.characteristic,
    GATTUUID.characteristicExtendedProperties,
  ]
  /// The attributes whose place alone counts.
  static let descriptors: Set<BluetoothUUID> = [
    GATTUUID.characteristicUserDescription, GATTUUID.clientCharacteristicConfiguration,
    GATTUUID.serverCharacteristicConfiguration, GATTUUID.characteristicPresentationFormat,
    GATTUUID.characteristicAggregateFormat,
  ]
}
