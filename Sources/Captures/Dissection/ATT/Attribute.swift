import ATT
import HaloBluetoothCore
import HaloGATT
import RingLink

/// The discovered properties of one handle. A class, as packets have it: only its reference is copied, and its name is made
/// once.
package final class Attribute: Hashable, Sendable {
  package enum Kind: Hashable, Sendable {
    case service(HandleRange)
    case include
    case declaration
    case value
    case descriptor
  }

  package let kind: Kind
  /// The included service, if the declaration of the include was read.
  package let included: IncludeDeclaration?
  /// The UUID of a service or characteristic, or the type of a descriptor. An included service, or one whose UUID
  /// was not seen, has the type of the declaration.
  package let uuid: BluetoothUUID
  /// The characteristic that a descriptor belongs to.
  package let owner: BluetoothUUID?
  /// The UUID of the service that a characteristic or a descriptor is in, if the service was discovered before it.
  package let service: BluetoothUUID?
  /// What it is for, if it belongs to a ring.
  let ringRole: RingTracker.Role
  /// The properties of a characteristic.
  package let properties: CharacteristicProperties?
  /// Whether the attribute was not discovered, but recognized by the values that are written to it.
  package let isInferred: Bool
  /// The handle of the characteristic whose values followed an inferred configuration.
  package let subscribed: AttributeHandle?
  /// `Client Characteristic Configuration of Battery Level`.
  package let name: String

  /// - Parameters:
  ///   - service: the service that it is in, if that is known
  ///   - included: what an include declaration says, if it was read
  ///   - isOfGlasses: whether the device is no ring, though it has a ring's bulk service
  init(
    _ kind: Kind, _ uuid: BluetoothUUID, properties: CharacteristicProperties? = nil,
    owner: BluetoothUUID? = nil, in service: BluetoothUUID? = nil, included: IncludeDeclaration? = nil,
    isOfGlasses: Bool = false
  ) {
    self.kind = kind
    self.uuid = uuid
    self.properties = properties
    self.owner = owner
    self.service = service
    self.included = included
    ringRole = isOfGlasses ? .other : RingTracker.Role(uuid, in: service)
    isInferred = false
    subscribed = nil
    let own = UUIDName.ofAttribute(uuid, in: service)
    name =
      switch kind {
      case .service: "service \(UUIDName.short(uuid))"
      case .include: "include"
      case .declaration: "declaration of \(own)"
      case .value: own
      case .descriptor: own + (owner.map { " of \(UUIDName.ofAttribute($0, in: service))" } ?? "")
      }
  }

  /// A Client Characteristic Configuration that was not discovered.
  init(inferredFor subscribed: AttributeHandle?) {
    kind = .descriptor
    included = nil
    uuid = GATTUUID.clientCharacteristicConfiguration
    owner = nil
    properties = nil
    service = nil
    ringRole = .other
    isInferred = true
    self.subscribed = subscribed
    name = UUIDName.short(uuid) + (subscribed.map { " of \($0)" } ?? " (by its value)")
  }

  /// The type of its value, if the value is that of a characteristic or of a descriptor.
  var valueType: BluetoothUUID? { kind == .value || kind == .descriptor ? uuid : nil }

  /// Name and UUID: `Battery Level (2A19)`; of an include, `includes Battery (180F), 0x0010...0x0014`.
  package var longName: String {
    if let included {
      return "includes \(included.uuid.map(UUIDName.described) ?? "a service"), \(included.handles)"
    }
    if case .service = kind { return UUIDName.described(uuid) }
    return UUIDName.ofAttribute(uuid, in: service, isLong: true)
  }

  package static func == (left: Attribute, right: Attribute) -> Bool {
    left === right
      || left.kind == right.kind && left.uuid == right.uuid && left.owner == right.owner
        && left.properties == right.properties && left.isInferred == right.isInferred
        && left.subscribed == right.subscribed && left.service == right.service
        && left.included == right.included
  }

  package func hash(into hasher: inout Hasher) {
    hasher.combine(kind)
    hasher.combine(uuid)
  }
}
