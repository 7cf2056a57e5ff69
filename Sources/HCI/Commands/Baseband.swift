import HaloBluetoothCore

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

/// Sets the name of this device for BR/EDR.
package struct WriteLocalName: HCICompletingCommand {
  package static let info = HCICommandInfo(0x0C13, "Write Local Name", "7.3.11", octet: 7, bit: 0)

  /// UTF-8, up to 248 bytes.
  package var name: [UInt8] = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.bytes("name", &name, count: 248, .text)
  }
}

/// Reads the name of this device for BR/EDR.
package struct ReadLocalName: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(0x0C14, "Read Local Name", "7.3.12", octet: 7, bit: 1)

  package struct Response: PacketFields {
    /// UTF-8, up to 248 bytes.
    package var name: [UInt8] = []

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.rest("name", &name, .text)
    }
  }

  package init() {}
}

/// Makes this device discoverable and connectable for BR/EDR.
package struct WriteScanEnable: HCICompletingCommand {
  package static let info = HCICommandInfo(0x0C1A, "Write Scan Enable", "7.3.18", octet: 7, bit: 7)

  /// Bit 0 inquiry scan, bit 1 page scan.
  package var scans: UInt8 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("scans", &scans, .names([0: "none", 1: "inquiry", 2: "page", 3: "inquiry and page"]))
  }
}

/// Reads the class of this device.
package struct ReadClassOfDevice: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(0x0C23, "Read Class of Device", "7.3.25", octet: 9, bit: 0)

  package struct Response: PacketFields {
    /// Three bytes, the least significant first.
    package var classOfDevice: [UInt8] = []

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.bytes("class of device", &classOfDevice, count: 3)
    }
  }

  package init() {}
}

/// Sets the class of this device.
package struct WriteClassOfDevice: HCICompletingCommand {
  package static let info = HCICommandInfo(0x0C24, "Write Class of Device", "7.3.26", octet: 9, bit: 1)

  package var classOfDevice = UInt24()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var value = ClassOfDevice()
    value.bits = classOfDevice
    try fields.value("class of device", &value)
    classOfDevice = value.bits
  }
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

/// Sets the data buffer sizes of the host.
package struct HostBufferSize: HCICompletingCommand {
  package static let info = HCICommandInfo(0x0C33, "Host Buffer Size", "7.3.39", octet: 10, bit: 6)

  package var sizes = BufferSizes()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try sizes.visit(&fields)
  }
}

/// Enables or disables secure simple pairing.
package struct WriteSimplePairingMode: HCICompletingCommand, HCISwitch {
  package static let info = HCICommandInfo(0x0C56, "Write Simple Pairing Mode", "7.3.59", octet: 17, bit: 6)

  package var isEnabled = false

  package init() {}
}

/// Enables or disables secure connections on BR/EDR.
package struct WriteSecureConnectionsHostSupport: HCICompletingCommand, HCISwitch {
  package static let info = HCICommandInfo(
    0x0C7A, "Write Secure Connections Host Support", "7.3.92", octet: 32, bit: 3)

  package var isEnabled = false

  package init() {}
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
