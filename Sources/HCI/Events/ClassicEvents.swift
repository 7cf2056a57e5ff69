import HaloBluetoothCore

// Events of BR/EDR links. The stack does not use them; they are decoded for captures of phones.

/// A link to a BR/EDR device was established, or has failed (Core Specification Vol 4, Part E, 7.7.3).
public struct ConnectionComplete: HCILinkFields {
  public var status = HCIErrorCode.success
  public var handle = ConnectionHandle()
  public var peerAddress = BluetoothAddress.zero
  public var linkType = LinkType.acl
  public var encryption = LinkEncryption.off

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    let isThere = status == .success
    try fields.value("connection handle", &handle, isThere ? .plain : .words("not valid"))
    try fields.peerAddress(&peerAddress)
    try fields.value("link type", &linkType)
    try fields.value("encryption", &encryption, isThere ? .plain : .words("not valid"))
  }
}

/// A BR/EDR device requests a connection (7.7.4).
public struct ClassicConnectionRequest: PacketFields {
  public var peerAddress = BluetoothAddress.zero
  /// Three bytes, the least significant first.
  public var classOfDevice: [UInt8] = []
  public var linkType = LinkType.acl

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.bytes("class of device", &classOfDevice, count: 3)
    try fields.value("link type", &linkType)
  }
}

/// The name of a BR/EDR device (7.7.7).
public struct RemoteNameRequestComplete: PacketFields {
  public var status = HCIErrorCode.success
  public var peerAddress = BluetoothAddress.zero
  /// UTF-8; shorter names end with a zero.
  public var name: [UInt8] = []

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.peerAddress(&peerAddress)
    try fields.rest("name", &name, .text)
  }
}

/// Central and peripheral have switched roles (7.7.18).
public struct RoleChange: PacketFields {
  public var status = HCIErrorCode.success
  public var peerAddress = BluetoothAddress.zero
  public var role = LERole.central

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.peerAddress(&peerAddress)
    try fields.value("new role", &role)
  }
}

/// An event that begins with a status and an address (7.7.42).
public struct AddressStatus: PacketFields {
  public var status = HCIErrorCode.success
  public var peerAddress = BluetoothAddress.zero

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.peerAddress(&peerAddress)
  }
}

/// The maximum packet length on a link, in slots (7.7.27).
public struct MaxSlotsChange: HCILinkFields {
  public var handle = ConnectionHandle()
  /// 1, 3 or 5.
  public var slots: UInt8 = 0

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("max slots", &slots)
  }
}

/// An event that begins with a status.
public struct StatusOnly: PacketFields {
  public var status = HCIErrorCode.success

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
  }
}

/// The type of a link (7.7.3).
public struct LinkType: HCICode {
  public var rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }

  public static let acl = LinkType(rawValue: 1)

  public static let names: [UInt8: String] = [0: "SCO", 1: "ACL", 2: "eSCO"]
}
