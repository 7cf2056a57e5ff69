import HaloBluetoothCore

/// Sets which LE events the controller sends.
package struct LESetEventMask: HCICompletingCommand {
  package static let info = HCICommandInfo(0x2001, "LE Set Event Mask", "7.8.1", octet: 25, bit: 0)

  package var mask: LEEventMask = []

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("LE events", &mask, .bits(LEEventMask.bits))
  }
}

/// Reads the controller's buffers for data on LE links. All zero: LE links share those of Read Buffer Size.
package struct LEReadBufferSize: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(0x2002, "LE Read Buffer Size", "7.8.2", octet: 25, bit: 1)

  package struct Response: PacketFields {
    /// The maximum length of the data in an ACL packet, in bytes.
    package var aclDataLength: UInt16 = 0
    /// The number of ACL packet buffers.
    package var aclPackets: UInt8 = 0

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value(
        "LE ACL data length", &aclDataLength, .namesOrUnit([0: "that of BR/EDR"], "bytes"))
      try fields.value("LE ACL packets", &aclPackets)
    }
  }

  package init() {}
}

/// Version 2 of LE Read Buffer Size, with the buffers for isochronous data.
package struct LEReadBufferSizeV2: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(0x2060, "LE Read Buffer Size [v2]", "7.8.2", octet: 41, bit: 5)

  package struct Response: PacketFields {
    package var acl = LEReadBufferSize.Response()
    /// In bytes.
    package var isochronousDataLength: UInt16 = 0
    /// The number of packets that the controller can hold.
    package var isochronousPackets: UInt8 = 0

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try acl.visit(&fields)
      try fields.value(
        "isochronous data length", &isochronousDataLength, .namesOrUnit([0: "no buffers"], "bytes"))
      try fields.value("isochronous packets", &isochronousPackets)
    }
  }

  package init() {}
}

/// Reads the features of the controller's link layer.
package struct LEReadLocalSupportedFeatures: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(
    0x2003, "LE Read Local Supported Features Page 0", "7.8.3", octet: 25, bit: 2)

  package struct Response: PacketFields {
    package var features: LEFeatures = []

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("LE features", &features, .bits(LEFeatures.bits))
    }
  }

  package init() {}
}

/// Sets the address used with ``OwnAddressType/random``. Not allowed while the controller uses it to scan, advertise or
/// connect.
package struct LESetRandomAddress: HCICompletingCommand {
  package static let info = HCICommandInfo(0x2005, "LE Set Random Address", "7.8.4", octet: 25, bit: 4)

  package var address = BluetoothAddress(0, .random)

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.address("random address", &address, kind: .random)
  }
}

/// Reads how many devices the filter accept list can hold.
package struct LEReadFilterAcceptListSize: HCICompletingCommand, HCIEmpty {
  package typealias Response = ListSize

  package static let info = HCICommandInfo(
    0x200F, "LE Read Filter Accept List Size", "7.8.14", octet: 26, bit: 6)

  package init() {}
}

/// The size of a list in the controller (7.8.14, 7.8.41).
package struct ListSize: PacketFields {
  /// The number of entries.
  package var size: UInt8 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("max entries", &size)
  }
}

/// Empties the list of devices that filter policies accept.
package struct LEClearFilterAcceptList: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(0x2010, "LE Clear Filter Accept List", "7.8.15", octet: 26, bit: 7)

  package init() {}
}

/// Adds a device to the list that filter policies accept.
package struct LEAddDeviceToFilterAcceptList: HCICompletingCommand {
  package static let info = HCICommandInfo(
    0x2011, "LE Add Device To Filter Accept List", "7.8.16", octet: 27, bit: 0)

  package var address = BluetoothAddress.zero

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.typedAddress("address", type: "address type", &address)
  }
}

/// Removes a device from the list that filter policies accept.
package struct LERemoveDeviceFromFilterAcceptList: HCICompletingCommand {
  package static let info = HCICommandInfo(
    0x2012, "LE Remove Device From Filter Accept List", "7.8.17", octet: 27, bit: 1)

  package var address = BluetoothAddress.zero

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.typedAddress("address", type: "address type", &address)
  }
}

/// Sets which channels are bad because of interference.
package struct LESetHostChannelClassification: HCICompletingCommand {
  package static let info = HCICommandInfo(
    0x2014, "LE Set Host Channel Classification", "7.8.19", octet: 27, bit: 3)

  package var channelMap = ChannelMap()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("channel map", &channelMap)
  }
}

/// Reads the state combinations that the controller supports.
package struct LEReadSupportedStates: HCICompletingCommand, HCIEmpty {
  package static let info = HCICommandInfo(0x201C, "LE Read Supported States", "7.8.27", octet: 28, bit: 3)

  package struct Response: PacketFields {
    /// A bit for each combination of states (7.8.27).
    package var states: UInt64 = 0

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.value("states", &states, .bits(LEStateBits.names))
    }
  }

  package init() {}
}

/// A transmit power.
package struct TransmitPower: PacketFields {
  /// In dBm.
  package var power: Int8 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("transmit power", &power, .power)
  }
}

/// Reads the power of legacy advertising.
package struct LEReadAdvertisingPhysicalChannelTxPower: HCICompletingCommand, HCIEmpty {
  package typealias Response = TransmitPower

  package static let info = HCICommandInfo(
    0x2007, "LE Read Advertising Physical Channel Tx Power", "7.8.6", octet: 25, bit: 6)

  package init() {}
}
