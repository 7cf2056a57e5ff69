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
