import HaloBluetoothCore

/// Changes the parameters of a link. LE Connection Update Complete follows, with those in force.
package struct LEConnectionUpdate: HCIStatusCommand, HCILinkFields {
  package static let info = HCICommandInfo(
    0x2013, "LE Connection Update", "7.8.18", octet: 27, bit: 2,
    endsWith: [.leEvent(.connectionUpdateComplete)])

  package var handle = ConnectionHandle()
  package var parameters = ConnectionParameters()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try parameters.visit(&fields)
  }
}

/// Reads the channel map of a link.
package struct LEReadChannelMap: HCICompletingCommand, HCILinkFields {
  package static let info = HCICommandInfo(0x2015, "LE Read Channel Map", "7.8.20", octet: 27, bit: 4)

  package var handle = ConnectionHandle()

  package struct Response: HCILinkFields {
    package var handle = ConnectionHandle()
    package var channelMap = ChannelMap()

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try fields.value("channel map", &channelMap)
    }
  }

  package init() {}
}

/// Reads the features of the peer's link layer. LE Read Remote Features Complete follows.
package struct LEReadRemoteFeatures: HCIStatusCommand, HCILinkFields {
  package static let info = HCICommandInfo(
    0x2016, "LE Read Remote Features Page 0", "7.8.21", octet: 27, bit: 5,
    endsWith: [.leEvent(.readRemoteFeaturesComplete)])

  package var handle = ConnectionHandle()

  package init() {}
}

/// Accepts the parameters requested by the peer, or similar ones.
package struct LERemoteConnectionParameterRequestReply: HCICompletingCommand, HCILinkFields {
  package typealias Response = LinkOnly

  package static let info = HCICommandInfo(
    0x2020, "LE Remote Connection Parameter Request Reply", "7.8.31", octet: 33, bit: 4,
    endsWith: [.leEvent(.connectionUpdateComplete)])

  package var handle = ConnectionHandle()
  package var parameters = ConnectionParameters()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try parameters.visit(&fields)
  }
}

/// Rejects the parameters requested by the peer.
package struct LERemoteConnectionParameterRequestNegativeReply: HCICompletingCommand, HCILinkFields {
  package typealias Response = LinkOnly

  package static let info = HCICommandInfo(
    0x2021, "LE Remote Connection Parameter Request Negative Reply", "7.8.32", octet: 33, bit: 5)

  package var handle = ConnectionHandle()
  package var reason = HCIErrorCode.unacceptableConnectionParameters

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try fields.value("reason", &reason)
  }
}

/// The longest packets in one direction (7.8.33, 7.8.46).
package struct DataLength: PacketFields, Hashable {
  /// Payload: 27 to 251 bytes.
  package var octets: UInt16 = 0
  /// Time on air: 328 to 17040 microseconds.
  package var time: UInt16 = 0

  package init() {}

  package init(octets: UInt16, time: UInt16) {
    self.octets = octets
    self.time = time
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("max octets", &octets, .unit("bytes"))
    try fields.value("max time", &time, .unit("us"))
  }
}

/// The longest packets in both directions.
package struct DataLengths: PacketFields, Hashable {
  package var transmit = DataLength()
  package var receive = DataLength()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("TX max octets", &transmit.octets, .unit("bytes"))
    try fields.value("TX max time", &transmit.time, .unit("us"))
    try fields.value("RX max octets", &receive.octets, .unit("bytes"))
    try fields.value("RX max time", &receive.time, .unit("us"))
  }
}

/// Sets the longest packets to send on a link. LE Data Length Change follows if that changes them.
package struct LESetDataLength: HCICompletingCommand, HCILinkFields {
  package typealias Response = LinkOnly

  package static let info = HCICommandInfo(0x2022, "LE Set Data Length", "7.8.33", octet: 33, bit: 6)

  package var handle = ConnectionHandle()
  package var transmit = DataLength()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try transmit.visit(&fields)
  }
}

/// Reads the initial maximum packet length of new links.
package struct LEReadSuggestedDefaultDataLength: HCICompletingCommand, HCIEmpty {
  package typealias Response = DataLength

  package static let info = HCICommandInfo(
    0x2023, "LE Read Suggested Default Data Length", "7.8.34", octet: 33, bit: 7)

  package init() {}
}

/// Sets the initial maximum packet length of new links.
package struct LEWriteSuggestedDefaultDataLength: HCICompletingCommand {
  package static let info = HCICommandInfo(
    0x2024, "LE Write Suggested Default Data Length", "7.8.35", octet: 34, bit: 0)

  package var transmit = DataLength()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try transmit.visit(&fields)
  }
}

/// Reads the maximum packet length that the controller supports.
package struct LEReadMaximumDataLength: HCICompletingCommand, HCIEmpty {
  package typealias Response = DataLengths

  package static let info = HCICommandInfo(0x202F, "LE Read Maximum Data Length", "7.8.46", octet: 35, bit: 3)

  package init() {}
}

/// Reads the PHYs of a link.
package struct LEReadPHY: HCICompletingCommand, HCILinkFields {
  package static let info = HCICommandInfo(0x2030, "LE Read PHY", "7.8.47", octet: 35, bit: 4)

  package var handle = ConnectionHandle()

  package struct Response: HCILinkFields {
    package var handle = ConnectionHandle()
    package var phys = LinkPHYs()

    package init() {}

    package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      try fields.connectionHandle(&handle)
      try phys.visit(&fields)
    }
  }

  package init() {}
}

/// The PHYs of a link.
package struct LinkPHYs: PacketFields, Hashable {
  package var transmit = LEPHY.none
  package var receive = LEPHY.none

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("TX PHY", &transmit)
    try fields.value("RX PHY", &receive)
  }
}

/// The PHYs that a host prefers (7.8.48).
package struct PreferredPHYs: PacketFields {
  /// PHYs to transmit on; nil for no preference.
  package var transmit: LEPHYs?
  /// PHYs to receive on; nil for no preference.
  package var receive: LEPHYs?

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var noPreference = UInt8((transmit == nil ? 1 : 0) | (receive == nil ? 2 : 0))
    var transmit = self.transmit ?? []
    var receive = self.receive ?? []
    try fields.value("no preference", &noPreference, .bits(Self.noPreferenceBits))
    let preference = noPreference
    try fields.value("TX PHYs", &transmit, preference & 1 == 0 ? .bits(LEPHYs.bits) : .words("not used"))
    try fields.value("RX PHYs", &receive, preference & 2 == 0 ? .bits(LEPHYs.bits) : .words("not used"))
    self.transmit = noPreference & 1 == 0 ? transmit : nil
    self.receive = noPreference & 2 == 0 ? receive : nil
  }
}

/// Sets the preferred PHYs of new links.
package struct LESetDefaultPHY: HCICompletingCommand {
  package static let info = HCICommandInfo(0x2031, "LE Set Default PHY", "7.8.48", octet: 35, bit: 5)

  package var preferred = PreferredPHYs()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try preferred.visit(&fields)
  }
}

/// Sets the preferred PHYs of a link. LE PHY Update Complete follows.
package struct LESetPHY: HCIStatusCommand, HCILinkFields {
  package static let info = HCICommandInfo(
    0x2032, "LE Set PHY", "7.8.49", octet: 35, bit: 6, endsWith: [.leEvent(.phyUpdateComplete)])

  package var handle = ConnectionHandle()
  package var preferred = PreferredPHYs()
  /// The preferred coding on LE Coded: no preference (0), S=2 (1) or S=8 (2).
  package var codedOptions: UInt16 = 0

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
    try preferred.visit(&fields)
    try fields.value(
      "LE Coded options", &codedOptions,
      .names([
        0: "no preference", 1: "S=2 preferred", 2: "S=8 preferred", 3: "S=2 required", 4: "S=8 required",
      ]))
  }
}
