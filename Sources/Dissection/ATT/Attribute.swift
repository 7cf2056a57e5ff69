import ATT
import BluetoothCore
import GATTClient

/// The discovered properties of one handle.
public struct Attribute: Hashable, Sendable {
  public enum Kind: Hashable, Sendable {
    case service(HandleRange)
    case include
    case declaration
    case value
    case descriptor
  }

  public var kind: Kind
  /// Of a service or characteristic its own UUID, of a descriptor its type. An included service, or one whose UUID
  /// was not seen, has the type of the declaration.
  public var uuid: BluetoothUUID
  /// Of a descriptor, the characteristic that it belongs to.
  public var owner: BluetoothUUID?
  /// Of a characteristic.
  public var properties: CharacteristicProperties?

  init(_ kind: Kind, _ uuid: BluetoothUUID, properties: CharacteristicProperties? = nil) {
    self.kind = kind
    self.uuid = uuid
    self.properties = properties
  }

  /// Name and UUID: `Battery Level (2A19)`.
  public var longName: String { UUIDName.described(uuid) }

  /// `Client Characteristic Configuration of Battery Level`.
  public var name: String {
    let own = UUIDName.short(uuid)
    switch kind {
    case .service: return "service \(own)"
    case .include: return "include"
    case .declaration: return "declaration of \(own)"
    case .value: return own
    case .descriptor: return own + (owner.map { " of \(UUIDName.short($0))" } ?? "")
    }
  }
}
