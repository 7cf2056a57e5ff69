import HaloBluetoothCore

/// The attributes of a table as offered to clients, with the permissions that their declarations promise (Core Specification
/// Vol 3, Part G, 3.3).
extension AttributeDatabase {
  /// Offers the attributes of another device to clients. A replay, which answers as that device did, has ``init(_:)``.
  ///
  /// A value may be used as the properties of its characteristic say. Descriptors are read-only, but for configurations, and
  /// for a description whose characteristic has Writable Auxiliaries. The values of Generic Attribute about clients, the server
  /// and the attributes are those of this server, and not those read from the device.
  ///
  /// - Parameters:
  ///   - attributes: those of the table, in any order; one without `.read` has no value that is known, and is not read
  ///   - hash: makes the Database Hash, if the table has one; with nil it can't be read
  package convenience init(offering attributes: [ServerAttribute], hash: Hash?) {
    var offered = Self.inOrder(attributes)
    var start = 0
    while start < offered.count {
      let end = offered[(start + 1)...].firstIndex { Self.isDeclaration($0.type) } ?? offered.count
      Self.offer(&offered[start..<end])
      start = end
    }
    self.init(offered)
    answerForGenericAttribute(hash: hash)
  }

  private static func isDeclaration(_ type: BluetoothUUID) -> Bool {
    ServiceDeclaration.isType(type) || type == GATTUUID.include || type == GATTUUID.characteristic
  }

  /// - Parameter group: a declaration and the attributes that belong to it
  private static func offer(_ group: inout ArraySlice<ServerAttribute>) {
    let declared = group.first.flatMap {
      $0.type == GATTUUID.characteristic ? CharacteristicDeclaration(parsing: $0.value) : nil
    }
    let properties = declared?.properties ?? []
    let extended = group.first { $0.type == GATTUUID.characteristicExtendedProperties }?.value.first ?? 0
    let hasWritableAuxiliaries = properties.contains(.extendedProperties) && extended & 2 != 0
    for place in group.indices {
      let isUnknown = !group[place].access.contains(.read)
      switch group[place].type {
      case let type where group[place].handle == declared?.valueHandle:
        group[place].access = ServerAttribute.Access(properties)
        if isUnknown, !madeHere.contains(type) { group[place].access.remove(.read) }
      case GATTUUID.clientCharacteristicConfiguration:
        group[place].access = [.read, .write]
        (group[place].value, group[place].capacity) = ([], 2)
        group[place].configuration = UInt8(ClientConfiguration(allowedBy: properties).rawValue)
      case GATTUUID.serverCharacteristicConfiguration:
        (group[place].access, group[place].capacity) = ([.read, .write], 2)
      case GATTUUID.characteristicUserDescription where hasWritableAuxiliaries:
        group[place].access = isUnknown ? .write : [.read, .write]
      default: group[place].access = isUnknown ? [] : .read
      }
    }
  }
}
