import ATT
import HaloBluetoothCore

/// The services that all devices have.
extension AttributeDatabase {
  /// Makes a message authentication code of 16 bytes, most significant first: AES-CMAC with a key of zeros.
  package typealias Hash = ([UInt8]) -> [UInt8]?

  /// Adds the service Generic Access (Core Specification Vol 3, Part C, 12).
  ///
  /// - Parameters:
  ///   - name: the name of the device, cut to 248 bytes (12.1)
  ///   - appearance: its external appearance; 0 for unknown
  ///   - preferred: the connection parameters for it; by default, those that the central chooses
  ///   - resolvesAddresses: whether bonded devices that call this one may use a private address of it (12.4)
  package func addGenericAccess(
    name: String, appearance: UInt16 = 0,
    preferred: PreferredConnectionParameters = .any, resolvesAddresses: Bool = false
  ) {
    addService(GATTUUID.genericAccess)
    addCharacteristic(GATTUUID.deviceName, .read, value: Array(name.encoded.prefix(248)))
    addCharacteristic(GATTUUID.appearance, .read, value: AppearanceValue(rawValue: appearance).encoded)
    addCharacteristic(GATTUUID.preferredConnectionParameters, .read, value: preferred.encoded)
    if resolvesAddresses { addCharacteristic(GATTUUID.centralAddressResolution, .read, value: [1]) }
  }

  /// Adds the service Generic Attribute (Part G, 7), by which clients learn that attributes have changed.
  ///
  /// A client that has turned robust caching on is kept from handles that it does not know to have changed (2.5.2.1).
  ///
  /// - Parameter hash: makes the Database Hash; nil for a service without it, and without robust caching
  package func addGenericAttribute(hash: Hash? = nil) {
    addService(GATTUUID.genericAttribute)
    addCharacteristic(GATTUUID.serviceChanged, .indicate)
    guard let hash, hash([]) != nil else { return }
    addCharacteristic(GATTUUID.clientSupportedFeatures, [.read, .write])
    addCharacteristic(GATTUUID.databaseHash, .read)
    addCharacteristic(GATTUUID.serverSupportedFeatures, .read)
    answerForGenericAttribute(hash: hash)
  }

  /// The characteristics whose values are made here, whatever is stored for them.
  static let madeHere: [BluetoothUUID] = [
    GATTUUID.clientSupportedFeatures, GATTUUID.databaseHash, GATTUUID.serverSupportedFeatures,
  ]

  /// Whether this server makes the value of an attribute, so that none can be given.
  package func makesValue(of handle: AttributeHandle) -> Bool {
    entry(handle).map {
      Self.madeHere.contains($0.attribute.type) || $0.attribute.type == GATTUUID.serviceChanged
    } ?? false
  }

  /// Gives the characteristics of Generic Attribute that are there their values: the features of each client, those of this
  /// server, and the hash of all attributes.
  func answerForGenericAttribute(hash: Hash?) {
    for handle in handles(of: GATTUUID.clientSupportedFeatures) {
      setHandlers(
        of: handle, read: { client, reply in reply(.success(client.caching.features)) },
        write: { value, client, reply in
          let refusal = client.caching.setFeatures(value)
          if refusal == nil { client.onRecordChange?() }
          reply(refusal)
        })
    }
    var known: (count: Int, bytes: [UInt8])?
    for handle in handles(of: GATTUUID.databaseHash) {
      setHandlers(
        of: handle,
        read: { [weak self] _, reply in
          guard let self else { return reply(.failure(.unlikelyError)) }
          if known?.count != changeCount, let code = hash?(hashedBytes) {
            // The least significant byte is the first one on the wire.
            known = (changeCount, code.reversed())
          }
          reply(known.map { .success($0.bytes) } ?? .failure(.unlikelyError))
        }, write: nil)
    }
    // No enhanced bearers.
    for handle in handles(of: GATTUUID.serverSupportedFeatures) {
      change(handle) { $0.attribute.value = [0] }
    }
  }

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
