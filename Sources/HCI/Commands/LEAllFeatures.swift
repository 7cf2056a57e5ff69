import HaloBluetoothCore

/// Reads all features of the controller.
package struct LEReadAllLocalSupportedFeatures: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(
    0x2087, "LE Read All Local Supported Features", "7.8.128", octet: 47, bit: 2)

  package struct Response: PacketFields {
    /// The highest page that has a feature.
    package var maxPage: UInt8 = 0
    /// 248 bytes: page 0 with 64 bits, then pages of 192 bits.
    package var features: [UInt8] = []

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("max page", &maxPage)
      try fields.bytes("LE features", &features, count: 248, .bits(LEFeatures.bits))
    }
  }

  package init() {}
}

/// Reads the features of the peer, up to a page.
package struct LEReadAllRemoteFeatures: HCIStatusCommand, HCILinkFields {
  package static let info = HCICommandInfo(
    0x2088, "LE Read All Remote Features", "7.8.129", octet: 47, bit: 3)

  package var handle = ConnectionHandle()
  /// The highest page to ask for.
  package var pages: UInt8 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("pages requested", &pages)
  }
}

/// All features of the peer have been read (7.7.65.38).
package struct LEReadAllRemoteFeaturesComplete: HCILinkFields {
  package var status = HCIErrorCode.success
  package var handle = ConnectionHandle()
  /// The highest page in which the peer has a feature.
  package var maxRemotePage: UInt8 = 0
  /// The highest page that is valid in ``features``.
  package var maxValidPage: UInt8 = 0
  /// 248 bytes: page 0 with 64 bits, then pages of 192 bits.
  package var features: [UInt8] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.status(&status)
    try fields.connectionHandle(&handle)
    try fields.value("max remote page", &maxRemotePage)
    try fields.value("max valid page", &maxValidPage)
    try fields.bytes("features", &features, count: 248, .bits(LEFeatures.bits))
  }
}
