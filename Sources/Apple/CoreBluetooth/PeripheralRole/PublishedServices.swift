internal import ATT
internal import HaloGATT
internal import HaloStorage

/// The services of a manager in the table that centrals see.
struct PublishedServices {
  typealias Place = PeripheralRole.Place

  private struct Entry {
    var declaration: AttributeHandle
    /// The handles of the values.
    var handles: [AttributeHandle] = []
  }

  private var entries: [Int: Entry] = [:]
  private var places: [AttributeHandle: Place] = [:]

  /// The characteristic with its value at a handle; nil if it is not one of this manager.
  func place(of handle: AttributeHandle) -> Place? { places[handle] }

  func handle(of place: Place) -> AttributeHandle? {
    guard let handles = entries[place.service]?.handles, handles.indices.contains(place.index) else {
      return nil
    }
    return handles[place.index]
  }

  /// Adds a service behind all others, with one indication to clients.
  ///
  /// - Parameters:
  ///   - definition: the service
  ///   - database: the table
  ///   - handler: the program, which has the values that the definition does not give
  /// - Throws: if there are not enough handles; nothing is added then
  mutating func add(
    _ definition: ServiceDefinition, to database: AttributeDatabase, _ handler: LongValueHandler
  ) throws(CBError) {
    let added: Entry? = database.update { database in
      let declaration = database.addService(definition.uuid, isPrimary: definition.isPrimary)
      guard declaration.isValid else { return nil }
      var entry = Entry(declaration: declaration)
      let isWhole =
        definition.included.allSatisfy { include($0, in: database) }
        && definition.characteristics.allSatisfy { Self.add($0, to: database, handler, &entry) }
      guard isWhole else {
        database.removeService(at: declaration)
        return nil
      }
      return entry
    }
    guard let added else { throw CBError(.outOfSpace, "there are too many attributes") }
    entries[definition.number] = added
    for (index, handle) in added.handles.enumerated() {
      places[handle] = Place(service: definition.number, index: index)
    }
  }

  /// One that was removed meanwhile is left out.
  private func include(_ service: Int, in database: AttributeDatabase) -> Bool {
    guard let declaration = entries[service]?.declaration,
      let included = database.attributes.first(where: { $0.handle == declaration }),
      let uuid = ServiceDeclaration(type: included.type, parsing: included.value)?.uuid
    else { return true }
    return database.addInclude(HandleRange(declaration, included.groupEnd ?? declaration), uuid).isValid
  }

  private static func add(
    _ characteristic: PeripheralRestoration.Characteristic, to database: AttributeDatabase,
    _ handler: LongValueHandler, _ entry: inout Entry
  ) -> Bool {
    let properties = characteristic.propertySet
    let handle = database.addCharacteristic(
      characteristic.uuid, CharacteristicProperties(properties), value: characteristic.value ?? [])
    guard handle.isValid else { return false }
    entry.handles.append(handle)
    let permissions = characteristic.permissionSet
    database.setPermissions(
      of: handle, ServerAttribute.Access(permissions, properties),
      readSecurity: permissions.contains(.readEncryptionRequired) ? .encrypted : .none,
      writeSecurity: permissions.contains(.writeEncryptionRequired) ? .encrypted : .none)
    if characteristic.value == nil { database.setHandler(of: handle, handler) }
    if let configuration = database.configuration(of: handle) {
      let isProtected = !properties.isDisjoint(with: [.notifyEncryptionRequired, .indicateEncryptionRequired])
      database.setPermissions(
        of: configuration, [.read, .write], writeSecurity: isProtected ? .encrypted : .none)
    }
    if properties.contains(.extendedProperties) {
      // Reliable writes: values are prepared, and written all at once.
      guard database.addDescriptor(GATTUUID.characteristicExtendedProperties, value: [1, 0]).isValid else {
        return false
      }
    }
    return characteristic.descriptors.allSatisfy { database.addDescriptor($0.uuid, value: $0.value).isValid }
  }

  mutating func remove(_ service: Int, from database: AttributeDatabase) {
    guard let entry = entries.removeValue(forKey: service) else { return }
    for handle in entry.handles { places[handle] = nil }
    database.removeService(at: entry.declaration)
  }

  mutating func removeAll(from database: AttributeDatabase) {
    database.update { database in
      for service in entries.keys { remove(service, from: database) }
    }
  }
}

extension CharacteristicProperties {
  /// The properties of the declaration.
  fileprivate init(_ properties: CBCharacteristicProperties) {
    self.init(rawValue: UInt8(truncatingIfNeeded: properties.rawValue))
    if properties.contains(.notifyEncryptionRequired) { insert(.notify) }
    if properties.contains(.indicateEncryptionRequired) { insert(.indicate) }
  }
}

extension ServerAttribute.Access {
  fileprivate init(_ permissions: CBAttributePermissions, _ properties: CBCharacteristicProperties) {
    self = []
    if !permissions.isDisjoint(with: [.readable, .readEncryptionRequired]) { insert(.read) }
    guard !permissions.isDisjoint(with: [.writeable, .writeEncryptionRequired]) else { return }
    if properties.contains(.write) { insert(.write) }
    if properties.contains(.writeWithoutResponse) { insert(.writeCommand) }
    if properties.contains(.authenticatedSignedWrites) { insert(.signedWrite) }
  }
}
