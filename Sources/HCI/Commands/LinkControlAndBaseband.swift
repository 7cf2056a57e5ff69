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

/// Sets which events the controller sends.
package struct SetEventMask: HCICompletingCommand {
  package static let info = HCICommandInfo(0x0C01, "Set Event Mask", "7.3.1", octet: 5, bit: 6)

  package var mask: EventMask = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("events", &mask, .bits(EventMask.bits))
  }
}

/// Sets which further BR/EDR events the controller sends.
package struct SetEventMaskPage2: HCICompletingCommand {
  package static let info = HCICommandInfo(0x0C63, "Set Event Mask Page 2", "7.3.69", octet: 22, bit: 2)

  package var mask: UInt64 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("events of page 2", &mask, .bits(EventMask.page2Bits))
  }
}

/// Returns the controller to the state after power-on: no links, no scan, default masks.
package struct Reset: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(0x0C03, "Reset", "7.3.2", octet: 5, bit: 7)

  package init() {}
}

/// Reads the transmit power on a link.
package struct ReadTransmitPowerLevel: HCICompletingCommand, HCILinkFields {
  package static let info = HCICommandInfo(0x0C2D, "Read Transmit Power Level", "7.3.35", octet: 10, bit: 2)

  package var handle = ConnectionHandle()
  package var level: UInt8 = 0

  package struct Response: HCILinkFields {
    package var handle = ConnectionHandle()
    /// In dBm.
    package var power: Int8 = 0

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("transmit power", &power, .power)
    }
  }

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("level", &level, .names([0: "current", 1: "maximum"]))
  }
}

/// Sets whether the host of a BR/EDR/LE controller supports LE.
package struct WriteLEHostSupport: HCICompletingCommand {
  package static let info = HCICommandInfo(0x0C6D, "Write LE Host Support", "7.3.79", octet: 24, bit: 6)

  package var isSupported = false
  /// Reserved: zero.
  package var simultaneous: UInt8 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("LE supported by the host", &isSupported)
    try fields.value("unused", &simultaneous)
  }
}
