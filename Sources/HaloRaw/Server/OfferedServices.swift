import ATT
import HaloBluetoothCore
import HaloGATT

/// A service that a program offers to other devices.
///
/// ```swift
/// let temperature = LocalCharacteristic(.temperature, 20.5)
/// let service = LocalService("181A", temperature)
/// ```
public struct LocalService: Sendable {
  /// Distinguishes two services of one type.
  final class Identity: Sendable {}

  /// Its type.
  public let uuid: BluetoothUUID
  /// Whether the advertisement contains it, so that clients find it that look for it.
  public let isAdvertised: Bool
  let isPrimary: Bool
  let included: [LocalService]
  fileprivate let identity = Identity()
  private(set) var characteristics: [any ServedCharacteristic] = []

  /// - Parameters:
  ///   - uuid: its type
  ///   - isAdvertised: whether the advertisement has it
  ///   - isPrimary: whether clients discover it directly; others are found through the services that include them
  ///   - included: services that it refers to, which are served before it
  ///   - characteristics: its characteristics, in the order of their handles
  public init<each Value: GATTValue>(
    _ uuid: BluetoothUUID, isAdvertised: Bool = true, isPrimary: Bool = true,
    including included: [LocalService] = [],
    _ characteristics: repeat LocalCharacteristic<each Value>
  ) {
    self.uuid = uuid
    self.isAdvertised = isAdvertised && isPrimary
    self.isPrimary = isPrimary
    self.included = included
    repeat add(each characteristics)
  }

  /// Adds a characteristic behind the others, before the service is served: for a service that is made at run time.
  public mutating func add<Value>(_ characteristic: LocalCharacteristic<Value>) {
    characteristics.append(characteristic)
  }
}

/// A descriptor of a characteristic that a program offers: clients read it.
public struct LocalDescriptor: Sendable {
  let uuid: BluetoothUUID
  let value: [UInt8]

  /// - Parameters:
  ///   - uuid: its type: `0x2901` for a description in words
  ///   - value: its value: a `String` is one
  public init(_ uuid: BluetoothUUID, _ value: some GATTValue) {
    self.uuid = uuid
    self.value = value.encoded
  }
}

/// The security that a link needs before a value is read, written or subscribed to. A client whose link has less gets an error,
/// after which phones begin to pair.
public enum SecurityLevel: Hashable, Sendable {
  case none
  /// Encryption.
  case encrypted
  /// Encryption, with a key from a pairing that is protected against an attacker in the middle.
  case authenticated
  /// Encryption, or a write with the signature of a client with a bond: the characteristic has `.authenticatedSignedWrites`.
  case encryptedOrSigned
}

extension SecurityRequirement {
  init(_ level: SecurityLevel) {
    self =
      switch level {
      case .none: .none
      case .encrypted: .encrypted
      case .authenticated: .authenticated
      case .encryptedOrSigned: .encryptedOrSigned
      }
  }
}

/// The services of a server, in the order of their handles, and the attributes that they are.
@BluetoothActor
final class OfferedServices {
  private struct Entry {
    let service: LocalService
    let declaration: AttributeHandle
  }

  let database = AttributeDatabase()
  private var entries: [Entry] = []

  static let tooManyAttributes = BluetoothError(.invalidValue, "there are too many attributes")
  /// Descriptors that belong to the properties of a characteristic.
  static let ownDescriptors: Set = [
    GATTUUID.clientCharacteristicConfiguration, GATTUUID.serverCharacteristicConfiguration,
    GATTUUID.characteristicExtendedProperties,
  ]

  nonisolated init() {}

  var services: [LocalService] { entries.map(\.service) }

  private func index(of service: LocalService) -> Int? {
    entries.firstIndex { $0.service.identity === service.identity }
  }

  /// - Throws: `.invalidValue`; nothing is added then
  func add(_ service: LocalService, to server: Server) throws(BluetoothError) {
    guard index(of: service) == nil else {
      throw BluetoothError(.invalidValue, "the service \(service.uuid) is served already")
    }
    let result = database.update { _ in
      Result { () throws(BluetoothError) in try insert(service, server) }
    }
    try result.get()
  }

  private func insert(_ service: LocalService, _ server: Server) throws(BluetoothError) {
    let declaration = database.addService(service.uuid, isPrimary: service.isPrimary)
    guard declaration.isValid else { throw Self.tooManyAttributes }
    var added: [any ServedCharacteristic] = []
    do throws(BluetoothError) {
      for included in service.included {
        guard
          let handles = index(of: included).flatMap({ database.handles(ofServiceAt: entries[$0].declaration) }
          )
        else {
          throw BluetoothError(
            .invalidValue,
            "the service \(service.uuid) includes \(included.uuid), which is not served before it")
        }
        guard database.addInclude(handles, included.uuid).isValid else { throw Self.tooManyAttributes }
      }
      for characteristic in service.characteristics {
        try characteristic.add(to: server)
        added.append(characteristic)
      }
    } catch {
      // A characteristic that is refused may be one of a service that is there, and stays with it.
      withdraw(added, at: declaration, server)
      throw error
    }
    entries.append(Entry(service: service, declaration: declaration))
  }

  /// - Throws: `.invalidValue` for a service that is not there, or that another one includes
  func remove(_ service: LocalService, from server: Server) throws(BluetoothError) {
    guard let index = index(of: service) else {
      throw BluetoothError(.invalidValue, "the service \(service.uuid) is not served")
    }
    guard !entries.flatMap(\.service.included).contains(where: { $0.identity === service.identity }) else {
      throw BluetoothError(.invalidValue, "another service includes the service \(service.uuid)")
    }
    let entry = entries.remove(at: index)
    withdraw(entry.service.characteristics, at: entry.declaration, server)
  }

  func removeAll(from server: Server) {
    for entry in entries { withdraw(entry.service.characteristics, at: entry.declaration, server) }
    entries = []
  }

  private func withdraw(
    _ characteristics: [any ServedCharacteristic], at declaration: AttributeHandle, _ server: Server
  ) {
    for characteristic in characteristics { characteristic.remove(from: server) }
    database.removeService(at: declaration)
  }
}
