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

/// Reads the features of the peer's BR/EDR controller.
package struct ReadRemoteSupportedFeatures: HCIStatusCommand, HCILinkFields {
  package static let info = HCICommandInfo(
    0x041B, "Read Remote Supported Features", "7.1.21", octet: 2, bit: 5,
    endsWith: [.event(.readRemoteSupportedFeaturesComplete)])

  package var handle = ConnectionHandle()

  package init() {}
}

/// Connects to a BR/EDR device.
package struct CreateConnection: HCIStatusCommand {
  package static let info = HCICommandInfo(
    0x0405, "Create Connection", "7.1.5", octet: 0, bit: 4, endsWith: [.event(.connectionComplete)])

  package var peerAddress = BluetoothAddress.zero
  /// A mask of ACL packet types (7.1.5).
  package var packetTypes: UInt16 = 0
  package var page = PageParameters()
  package var allowsRoleSwitch = false

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try fields.value("packet types", &packetTypes, .bits(ClassicLinkBits.packetTypes))
    try page.visit(&fields)
    try fields.value("allow role switch", &allowsRoleSwitch)
  }
}

/// Asks a BR/EDR device for its name.
package struct RemoteNameRequest: HCIStatusCommand {
  package static let info = HCICommandInfo(
    0x0419, "Remote Name Request", "7.1.19", octet: 2, bit: 3, endsWith: [.event(.remoteNameRequestComplete)])

  package var peerAddress = BluetoothAddress.zero
  package var page = PageParameters()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.peerAddress(&peerAddress)
    try page.visit(&fields)
  }
}

/// How to page a BR/EDR device (7.1.5).
package struct PageParameters: PacketFields {
  /// 0 R0, 1 R1, 2 R2.
  package var scanRepetitionMode: UInt8 = 0
  package var reserved: UInt8 = 0
  /// In units of 1.25 ms; bit 15 says whether it is valid.
  package var clockOffset: UInt16 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("page scan repetition mode", &scanRepetitionMode, .names(Self.repetitionModes))
    try fields.value("reserved", &reserved)
    var offset = ClockOffset(rawValue: clockOffset)
    try fields.value("clock offset", &offset)
    clockOffset = offset.rawValue
  }

  static let repetitionModes: [UInt64: String] = [0: "R0", 1: "R1", 2: "R2"]

  /// Bits 16 to 2 of the difference of two clocks, in units of 1.25 ms; bit 15 says whether it is known (7.1.5).
  private struct ClockOffset: HCICode {
    var rawValue: UInt16

    var description: String { rawValue & 0x8000 == 0 ? "not valid" : Hex.string(rawValue & 0x7FFF) }
  }
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

/// Reads the length of a link's encryption key.
package struct ReadEncryptionKeySize: HCICompletingCommand, HCILinkFields {
  package static let info = HCICommandInfo(0x1408, "Read Encryption Key Size", "7.5.7", octet: 20, bit: 4)

  package var handle = ConnectionHandle()

  package struct Response: HCILinkFields {
    package var handle = ConnectionHandle()
    /// In bytes.
    package var keySize: UInt8 = 0

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("key size", &keySize, .unit("bytes"))
    }
  }

  package init() {}
}
