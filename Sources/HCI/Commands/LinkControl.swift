import HaloBluetoothCore

/// Ends a link; Disconnection Complete follows.
package struct Disconnect: HCIStatusCommand, HCILinkFields {
  package static let info = HCICommandInfo(
    0x0406, "Disconnect", "7.1.6", octet: 0, bit: 5, endsWith: [.event(.disconnectionComplete)])

  package var handle = ConnectionHandle()
  /// The reason sent to the peer.
  package var reason = HCIErrorCode.remoteUserTerminatedConnection

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("reason", &reason)
  }
}

/// Reads the version and manufacturer of the peer's controller; Read Remote Version Information Complete follows.
package struct ReadRemoteVersionInformation: HCIStatusCommand, HCILinkFields {
  package static let info = HCICommandInfo(
    0x041D, "Read Remote Version Information", "7.1.23", octet: 2, bit: 7,
    endsWith: [.event(.readRemoteVersionInformationComplete)])

  package var handle = ConnectionHandle()

  package init() {}
}

/// Reads the RSSI of a link.
package struct ReadRSSI: HCICompletingCommand, HCILinkFields {
  package static let info = HCICommandInfo(0x1405, "Read RSSI", "7.5.4", octet: 15, bit: 5)

  package var handle = ConnectionHandle()

  package struct Response: HCILinkFields {
    package var handle = ConnectionHandle()
    /// In dBm; nil if unavailable.
    package var rssi: Int8?

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("RSSI", &rssi, none: .max, .power)
    }
  }

  package init() {}
}
