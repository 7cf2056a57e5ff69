import ATT
import BluetoothCore
import HaloGATT

/// A device's attributes, shared by all links to it: a later link needs no discovery.
final class Server {
  /// The most configurations that are inferred.
  private static let inferredCapacity = 64

  @exclusivity(unchecked) var table = AttributeTable() {
    didSet { named = [:] }
  }
  /// The attributes that packets have named since the table has changed.
  @exclusivity(unchecked) private var named: [AttributeHandle: Attribute] = [:]
  /// Attributes that were not discovered, but are written as Client Characteristic Configurations are; with the handle
  /// of the characteristic whose values followed.
  @exclusivity(unchecked) private var inferred: [AttributeHandle: AttributeHandle?] = [:]
  /// The number of those without such a handle.
  @exclusivity(unchecked) private var unconfirmed = 0

  subscript(handle: AttributeHandle) -> Attribute? {
    if let attribute = named[handle] { return attribute }
    if let attribute = table[handle] {
      named[handle] = attribute
      return attribute
    }
    guard !inferred.isEmpty, let subscribed = inferred[handle] else { return nil }
    return Attribute(inferredFor: subscribed)
  }

  /// Two bytes that switch notifications or indications on, written to an unknown attribute: a Client Characteristic
  /// Configuration (Core Specification Vol 3, Part G, 3.3.3.3).
  func noteWrite(_ handle: AttributeHandle?, _ value: RawSpan) {
    guard let handle, value.byteCount == 2, value.byte(at: 1) == 0, let bits = value.byte(at: 0),
      (1...3).contains(bits), !table.knows(handle), inferred[handle] == nil,
      inferred.count < Self.inferredCapacity
    else { return }
    inferred[handle] = .some(nil)
    unconfirmed += 1
  }

  /// A value is sent by the characteristic before the configuration: it was subscribed to.
  func noteValue(_ handle: AttributeHandle?) {
    guard unconfirmed > 0, let handle, !table.knows(handle) else { return }
    // Other descriptors may be between them.
    for distance in UInt16(1)...4 where handle.rawValue <= .max - distance {
      let descriptor = AttributeHandle(handle.rawValue + distance)
      guard case .some(nil) = inferred[descriptor] else { continue }
      inferred[descriptor] = handle
      unconfirmed -= 1
      return
    }
  }
}
