import ATT
import HaloBluetoothCore

/// The target of a request: a service, a characteristic's value, a descriptor, or a handle that is known as a number.
package protocol AttributeReference: Sendable {
  /// The handle that the request has.
  var requestHandle: AttributeHandle { get }
  /// When it was discovered; nil if it was not.
  var stamp: DiscoveryGeneration? { get }
}

extension AttributeHandle: AttributeReference {
  package var requestHandle: AttributeHandle { self }
  package var stamp: DiscoveryGeneration? { nil }
}

/// A group of characteristics that belong together (Core Specification Vol 3, Part G, 2.6.1).
package struct Service: AttributeReference, Hashable {
  /// The type.
  package var uuid: BluetoothUUID
  /// The declaration and all that belongs to it.
  package var handles: HandleRange
  package var stamp: DiscoveryGeneration?

  package init(uuid: BluetoothUUID, handles: HandleRange) {
    self.uuid = uuid
    self.handles = handles
  }

  package var requestHandle: AttributeHandle { handles.start }
}

/// A service that another one refers to (2.6.3, 3.2).
package struct IncludedService: Hashable, Sendable {
  /// The handle of the include declaration.
  package var declaration: AttributeHandle
  /// The service that is referred to.
  package var service: Service
}

/// A value with its properties (2.6.4, 3.3).
package struct Characteristic: AttributeReference, Hashable {
  /// The type.
  package var uuid: BluetoothUUID
  /// The permitted uses of the value.
  package var properties: CharacteristicProperties
  /// The handle of the declaration.
  package var declaration: AttributeHandle
  /// The handle of the value, which is read, written and notified.
  package var valueHandle: AttributeHandle
  /// The last handle that can belong to it; the descriptors are between the value and this handle.
  package var end: AttributeHandle
  package var stamp: DiscoveryGeneration?

  package init(
    uuid: BluetoothUUID, properties: CharacteristicProperties, declaration: AttributeHandle,
    valueHandle: AttributeHandle, end: AttributeHandle
  ) {
    self.uuid = uuid
    self.properties = properties
    self.declaration = declaration
    self.valueHandle = valueHandle
    self.end = end
  }

  package var requestHandle: AttributeHandle { valueHandle }

  /// The same handles, to be tried on another link to the same device.
  package var forAnotherLink: Characteristic {
    var copy = self
    copy.stamp = nil
    return copy
  }

  /// The range of its descriptors; nil if it cannot have any.
  package var descriptorHandles: HandleRange? {
    guard let start = valueHandle.next, start <= end else { return nil }
    return HandleRange(start, end)
  }
}

/// Metadata of a characteristic (3.3.3).
package struct Descriptor: AttributeReference, Hashable {
  /// The type.
  package var uuid: BluetoothUUID
  /// The handle to read and write.
  package var handle: AttributeHandle
  package var stamp: DiscoveryGeneration?

  package init(uuid: BluetoothUUID, handle: AttributeHandle) {
    self.uuid = uuid
    self.handle = handle
  }

  package var requestHandle: AttributeHandle { handle }
}

/// The properties of a characteristic (3.3.1.1).
public struct CharacteristicProperties: OptionSet, Hashable, Sendable, CustomStringConvertible {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  public static let broadcast = CharacteristicProperties(rawValue: 0x01)
  public static let read = CharacteristicProperties(rawValue: 0x02)
  public static let writeWithoutResponse = CharacteristicProperties(rawValue: 0x04)
  public static let write = CharacteristicProperties(rawValue: 0x08)
  public static let notify = CharacteristicProperties(rawValue: 0x10)
  public static let indicate = CharacteristicProperties(rawValue: 0x20)
  public static let authenticatedSignedWrites = CharacteristicProperties(rawValue: 0x40)
  public static let extendedProperties = CharacteristicProperties(rawValue: 0x80)

  private static let all: [(property: CharacteristicProperties, name: String)] = [
    (.broadcast, "broadcast"), (.read, "read"), (.writeWithoutResponse, "write without response"),
    (.write, "write"), (.notify, "notify"), (.indicate, "indicate"),
    (.authenticatedSignedWrites, "signed write"), (.extendedProperties, "extended"),
  ]

  /// The names of the properties: `write without response`.
  package var names: [String] { Self.all.filter { contains($0.property) }.map(\.name) }

  /// The properties with these names; nil if one of them is no name.
  package init?(names: [String]) {
    self = []
    for name in names {
      guard let property = Self.all.first(where: { $0.name == name })?.property else { return nil }
      insert(property)
    }
  }

  /// The names, with commas: `read, notify`.
  public var description: String { names.joined(separator: ", ") }
}

/// When something was discovered, and by which client.
package struct DiscoveryGeneration: Hashable, Sendable {
  package var client: UInt64
  /// The number of changes that the server had indicated at that time.
  package var changeCount: Int
}
