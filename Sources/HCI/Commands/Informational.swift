import HaloBluetoothCore

/// Reads the versions that the controller implements, and its manufacturer.
package struct ReadLocalVersionInformation: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(
    0x1001, "Read Local Version Information", "7.4.1", octet: 14, bit: 3)

  package struct Response: PacketFields, Hashable {
    package var hciVersion = CoreVersion()
    /// Vendor-specific.
    package var hciSubversion: UInt16 = 0
    /// The version of the link manager or link layer.
    package var lmpVersion = CoreVersion()
    package var manufacturer = CompanyIdentifier()
    /// Vendor-specific.
    package var lmpSubversion: UInt16 = 0

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("HCI version", &hciVersion)
      try fields.value("HCI subversion", &hciSubversion, .hex)
      try fields.value("LMP version", &lmpVersion)
      try fields.value("manufacturer", &manufacturer)
      try fields.value("LMP subversion", &lmpSubversion, .hex)
    }
  }

  package init() {}
}

/// Reads the commands that the controller supports.
package struct ReadLocalSupportedCommands: HCICompletingCommand, HCIEmpty {
  package typealias Response = SupportedCommands

  package static let info = HCICommandInfo(
    0x1002, "Read Local Supported Commands", "7.4.2", octet: 14, bit: 4)

  package init() {}
}

/// Reads page 0 of the controller's features.
package struct ReadLocalSupportedFeatures: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(
    0x1003, "Read Local Supported Features", "7.4.3", octet: 14, bit: 5)

  package struct Response: PacketFields {
    package var features: LMPFeatures = []

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("features", &features, .bits(LMPFeatures.bits(ofPage: 0)))
    }
  }

  package init() {}
}

/// Reads the controller's buffers for data from the host. LE links share the ACL buffers if LE Read Buffer Size reports
/// none.
package struct ReadBufferSize: HCICompletingCommand, HCIEmpty {
  package typealias Response = BufferSizes

  package static let info = HCICommandInfo(0x1005, "Read Buffer Size", "7.4.5", octet: 14, bit: 7)

  package init() {}
}

/// Buffers for data, of the controller (7.4.5) or of the host (7.3.39).
package struct BufferSizes: PacketFields {
  /// The maximum length of the data in an ACL packet, in bytes.
  package var aclDataLength: UInt16 = 0
  /// The maximum length of the data in a synchronous packet, in bytes.
  package var synchronousDataLength: UInt8 = 0
  /// The number of ACL packet buffers.
  package var aclPackets: UInt16 = 0
  /// The number of synchronous packet buffers.
  package var synchronousPackets: UInt16 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("ACL data length", &aclDataLength, .unit("bytes"))
    try fields.value("synchronous data length", &synchronousDataLength, .unit("bytes"))
    try fields.value("ACL packets", &aclPackets)
    try fields.value("synchronous packets", &synchronousPackets)
  }
}

/// Reads the controller's public address; all zero if it has none.
package struct ReadBDADDR: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(0x1009, "Read BD_ADDR", "7.4.6", octet: 15, bit: 1)

  package struct Response: PacketFields {
    package var address = BluetoothAddress.zero

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.address("address", &address, kind: .public)
    }
  }

  package init() {}
}
