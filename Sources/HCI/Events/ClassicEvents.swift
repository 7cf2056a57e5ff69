import HaloBluetoothCore

// Events of BR/EDR links. The stack does not use them; they are decoded for captures of phones.

/// A link to a BR/EDR device was established, or has failed (Core Specification Vol 4, Part E, 7.7.3).
package struct ConnectionComplete: HCILinkFields {
  package var status = HCIErrorCode.success
  package var handle = ConnectionHandle()
  package var peerAddress = BluetoothAddress.zero
  package var linkType = LinkType.acl
  package var encryption = LinkEncryption.off

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    let isThere = status == .success
    try fields.value("connection handle", &handle, isThere ? .plain : .words("not valid"))
    try fields.peerAddress(&peerAddress)
    try fields.value("link type", &linkType)
    try fields.value("encryption", &encryption, isThere ? .plain : .words("not valid"))
  }
}

/// A BR/EDR device requests a connection (7.7.4).
package struct ClassicConnectionRequest: PacketFields {
  package var peerAddress = BluetoothAddress.zero
  /// Three bytes, the least significant first.
  package var classOfDevice: [UInt8] = []
  package var linkType = LinkType.acl

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.bytes("class of device", &classOfDevice, count: 3)
    try fields.value("link type", &linkType)
  }
}

/// The name of a BR/EDR device (7.7.7).
package struct RemoteNameRequestComplete: PacketFields {
  package var status = HCIErrorCode.success
  package var peerAddress = BluetoothAddress.zero
  /// UTF-8; shorter names end with a zero.
  package var name: [UInt8] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.peerAddress(&peerAddress)
    try fields.rest("name", &name, .text)
  }
}

/// Central and peripheral have switched roles (7.7.18).
package struct RoleChange: PacketFields {
  package var status = HCIErrorCode.success
  package var peerAddress = BluetoothAddress.zero
  package var role = LERole.central

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.peerAddress(&peerAddress)
    try fields.value("new role", &role)
  }
}

/// An event that begins with a status and an address (7.7.42).
package struct AddressStatus: PacketFields {
  package var status = HCIErrorCode.success
  package var peerAddress = BluetoothAddress.zero

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.peerAddress(&peerAddress)
  }
}

/// The maximum packet length on a link, in slots (7.7.27).
package struct MaxSlotsChange: HCILinkFields {
  package var handle = ConnectionHandle()
  /// 1, 3 or 5.
  package var slots: UInt8 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("max slots", &slots)
  }
}

/// An event that begins with a status.
package struct StatusOnly: PacketFields {
  package var status = HCIErrorCode.success

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
  }
}

/// The type of a link (7.7.3).
package struct LinkType: HCICode {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package static let acl = LinkType(rawValue: 1)

  package static let names: [UInt8: String] = [0: "SCO", 1: "ACL", 2: "eSCO"]
}
