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
  let identity = Identity()
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
}

extension SecurityRequirement {
  init(_ level: SecurityLevel) {
    self =
      switch level {
      case .none: .none
      case .encrypted: .encrypted
      case .authenticated: .authenticated
      }
  }
}
