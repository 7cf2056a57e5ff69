/// The value of a Client Characteristic Configuration: the kinds of values that the server sends to a client unasked (Core
/// Specification Vol 3, Part G, 3.3.3.3). Each client has its own.
package struct ClientConfiguration: OptionSet, Hashable, Sendable {
  package var rawValue: UInt16

  package init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// The value is notified.
  package static let notify = ClientConfiguration(rawValue: 1)
  /// The value is indicated: the client confirms each.
  package static let indicate = ClientConfiguration(rawValue: 2)

  /// The one of the standard library looks for the conformances of this type, at each call.
  package func contains(_ other: ClientConfiguration) -> Bool { rawValue & other.rawValue == other.rawValue }

  /// The bits that a characteristic with these properties supports.
  package init(allowedBy properties: CharacteristicProperties) {
    self = []
    if properties.contains(.notify) { insert(.notify) }
    if properties.contains(.indicate) { insert(.indicate) }
  }

  /// Nil for another length than 2 bytes.
  package init?(parsing bytes: [UInt8]) {
    guard bytes.count == 2 else { return nil }
    self.init(rawValue: UInt16(bytes[1]) << 8 | UInt16(bytes[0]))
  }

  /// The value of the attribute: 2 bytes, little-endian.
  package var bytes: [UInt8] {
    [UInt8(truncatingIfNeeded: rawValue), UInt8(truncatingIfNeeded: rawValue >> 8)]
  }
}
