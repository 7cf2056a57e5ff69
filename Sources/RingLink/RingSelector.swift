import BluetoothCore
import HCI

/// Which device is meant.
public enum RingSelector: Hashable, Sendable {
  /// The ring that is near, if it is one.
  case anyRing
  /// The device with this name; upper and lower case are the same.
  case name(String)
  /// The device with this address. The type is nil where the user did not say it: then the advertisement does.
  case address(UInt64, BluetoothAddress.Kind?)

  /// Reads what a person has written: an address with or without its type, else a name.
  public init(_ text: String) {
    if let address = BluetoothAddress(text), text.contains(":") || text.contains("-") {
      self = .address(address.value, text.contains("/") ? address.kind : nil)
    } else {
      self = .name(text)
    }
  }

  /// How well an advertisement fits; nil if it does not. For devices that are named, nothing but the name counts:
  /// whether they are rings is found out later.
  public func fit(_ advertisement: Advertisement) -> RingIdentity? {
    switch self {
    case .anyRing:
      RingIdentity.matches(name: advertisement.localName, services: advertisement.serviceUUIDs)
    case .name(let name):
      advertisement.localName?.lowercased() == name.lowercased() ? .service : nil
    case .address(let value, let kind):
      advertisement.address.value == value && (kind == nil || kind == advertisement.address.kind)
        ? .service : nil
    }
  }

  var whatIsMissing: String {
    switch self {
    case .anyRing: "no ring was found"
    case .name(let name): "no device named \(name.printable) was found"
    case .address(let value, let kind):
      "no device with the address \(BluetoothAddress(value, .public))\(kind.map { " (\($0))" } ?? "") was found"
    }
  }
}

extension RingSelector {
  /// Whether a ring that is remembered is meant.
  public func isMeant(name: String?, address: BluetoothAddress?) -> Bool {
    switch self {
    case .anyRing: true
    case .name(let wanted): wanted.lowercased() == name?.lowercased()
    case .address(let value, let kind):
      address.map { $0.value == value && (kind == nil || kind == $0.kind) } ?? false
    }
  }
}
