import ATT
import HaloBluetoothCore

/// Services are added in the order of their handles, each with its characteristics. Within
/// ``AttributeDatabase/update(_:)`` a service is indicated to clients when it is complete.
extension AttributeDatabase {
  /// Begins a service behind all attributes. Attributes that are added next belong to it.
  ///
  /// - Parameters:
  ///   - uuid: its type
  ///   - handle: the handle of its declaration, if that is not used; nil for the next one
  ///   - isPrimary: whether clients discover it directly; a secondary service is only included by others
  /// - Returns: the handle of its declaration; 0 if there is none left
  @discardableResult
  package func addService(
    _ uuid: BluetoothUUID, at handle: AttributeHandle? = nil, isPrimary: Bool = true
  ) -> AttributeHandle {
    open(ServiceDeclaration(uuid, isPrimary: isPrimary), at: handle)
  }

  /// Lets the service include another one.
  ///
  /// - Parameters:
  ///   - handles: those of the included service
  ///   - uuid: its type; only one of 16 bits is part of the declaration
  /// - Returns: the handle of the declaration; 0 if there is none left
  @discardableResult
  package func addInclude(_ handles: HandleRange, _ uuid: BluetoothUUID) -> AttributeHandle {
    let declaration = IncludeDeclaration(handles, uuid)
    return add(ServerAttribute(handle: 0, type: GATTUUID.include, value: declaration.bytes))
  }

  /// Adds a characteristic: its declaration, its value and, if it is notified or indicated, its configuration.
  ///
  /// - Parameters:
  ///   - uuid: its type
  ///   - properties: the uses permitted to clients
  ///   - value: the initial value, unless there is a handler; up to 512 bytes
  ///   - capacity: the most bytes that may be written, up to 512
  ///   - security: the requirements for reading, writing and subscribing
  ///   - read: answers reads in place of the stored value
  ///   - write: takes written values, which are otherwise stored
  /// - Returns: the handle of the value; 0 if there are not enough handles left, or ``checkLength(of:)`` refuses the value, and
  ///   then nothing is added
  @discardableResult
  package func addCharacteristic(
    _ uuid: BluetoothUUID, _ properties: CharacteristicProperties, value: [UInt8] = [],
    capacity: Int = ATTBearer.maximumValueLength,
    security: SecurityRequirement = .none, read: ReadHandler? = nil, write: WriteHandler? = nil
  ) -> AttributeHandle {
    let configuration = ClientConfiguration(allowedBy: properties)
    guard (try? Self.checkLength(of: value)) != nil, let valueHandle = nextHandle?.next,
      configuration.isEmpty || valueHandle.next != nil
    else {
      return 0
    }
    return update { database in
      let declaration = CharacteristicDeclaration(uuid, properties, at: valueHandle)
      _ = database.add(
        ServerAttribute(handle: 0, type: GATTUUID.characteristic, value: declaration.bytes))
      let handle = database.add(
        ServerAttribute(
          handle: 0, type: uuid, access: ServerAttribute.Access(properties), value: value,
          capacity: min(capacity, ATTBearer.maximumValueLength), readSecurity: security,
          writeSecurity: security), read: read,
        write: write)
      if !configuration.isEmpty {
        _ = database.add(
          ServerAttribute(
            handle: 0, type: GATTUUID.clientCharacteristicConfiguration, access: [.read, .write],
            capacity: 2, configuration: UInt8(configuration.rawValue), writeSecurity: security))
      }
      return handle
    }
  }

  /// Adds a descriptor to the characteristic that was added last.
  ///
  /// - Parameters:
  ///   - uuid: its type
  ///   - value: the initial value, up to 512 bytes
  ///   - access: the uses permitted to clients
  ///   - capacity: the most bytes that may be written, up to 512
  ///   - security: the requirements for reading and writing
  /// - Returns: its handle; 0 if there is none left, or ``checkLength(of:)`` refuses the value
  @discardableResult
  package func addDescriptor(
    _ uuid: BluetoothUUID, value: [UInt8], access: ServerAttribute.Access = .read,
    capacity: Int = ATTBearer.maximumValueLength,
    security: SecurityRequirement = .none
  ) -> AttributeHandle {
    guard (try? Self.checkLength(of: value)) != nil else { return 0 }
    return add(
      ServerAttribute(
        handle: 0, type: uuid, access: access, value: value,
        capacity: min(capacity, ATTBearer.maximumValueLength),
        readSecurity: security, writeSecurity: security))
  }
}

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
