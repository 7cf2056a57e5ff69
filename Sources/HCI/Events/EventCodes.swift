import HaloBluetoothCore

/// An event code (Core Specification Vol 4, Part E, 7.7).
@usableFromInline package struct HCIEventCode: HCICode, ExpressibleByIntegerLiteral {
  @usableFromInline package var rawValue: UInt8

  @usableFromInline package init(rawValue: UInt8) { self.rawValue = rawValue }
  @usableFromInline package init(integerLiteral rawValue: UInt8) { self.rawValue = rawValue }

  package static let inquiryComplete: HCIEventCode = 0x01
  package static let inquiryResult: HCIEventCode = 0x02
  package static let connectionComplete: HCIEventCode = 0x03
  package static let disconnectionComplete: HCIEventCode = 0x05
  package static let authenticationComplete: HCIEventCode = 0x06
  package static let remoteNameRequestComplete: HCIEventCode = 0x07
  package static let encryptionChange: HCIEventCode = 0x08
  package static let changeConnectionLinkKeyComplete: HCIEventCode = 0x09
  package static let linkKeyTypeChanged: HCIEventCode = 0x0A
  package static let readRemoteSupportedFeaturesComplete: HCIEventCode = 0x0B
  package static let readRemoteVersionInformationComplete: HCIEventCode = 0x0C
  package static let qosSetupComplete: HCIEventCode = 0x0D
  package static let commandComplete: HCIEventCode = 0x0E
  package static let commandStatus: HCIEventCode = 0x0F
  package static let hardwareError: HCIEventCode = 0x10
  package static let roleChange: HCIEventCode = 0x12
  package static let numberOfCompletedPackets: HCIEventCode = 0x13
  package static let modeChange: HCIEventCode = 0x14
  package static let readClockOffsetComplete: HCIEventCode = 0x1C
  package static let connectionPacketTypeChanged: HCIEventCode = 0x1D
  package static let flowSpecificationComplete: HCIEventCode = 0x21
  package static let inquiryResultWithRSSI: HCIEventCode = 0x22
  package static let readRemoteExtendedFeaturesComplete: HCIEventCode = 0x23
  package static let synchronousConnectionComplete: HCIEventCode = 0x2C
  package static let synchronousConnectionChanged: HCIEventCode = 0x2D
  package static let extendedInquiryResult: HCIEventCode = 0x2F
  package static let encryptionKeyRefreshComplete: HCIEventCode = 0x30
  package static let enhancedFlushComplete: HCIEventCode = 0x39
  package static let leMeta: HCIEventCode = 0x3E
  package static let truncatedPageComplete: HCIEventCode = 0x53
  package static let encryptionChangeV2: HCIEventCode = 0x59
  package static let vendorSpecific: HCIEventCode = 0xFF

  /// The event's name in the specification; nil if unknown.
  package var name: String? { HCIEventInfo[self]?.name }

  /// Name and number: `Command Complete (0x0e)`.
  @usableFromInline package var description: String { TextBuffer.string { writeField(to: &$0) } }

  @usableFromInline package func writeField(to text: inout TextBuffer) {
    text.write(name: name, rawValue, unnamed: "event ")
  }
}

/// An LE Meta subevent code: the first parameter of the event (7.7.65).
@usableFromInline package struct LESubevent: HCICode, ExpressibleByIntegerLiteral {
  @usableFromInline package var rawValue: UInt8

  @usableFromInline package init(rawValue: UInt8) { self.rawValue = rawValue }
  @usableFromInline package init(integerLiteral rawValue: UInt8) { self.rawValue = rawValue }

  package static let connectionComplete: LESubevent = 0x01
  package static let advertisingReport: LESubevent = 0x02
  package static let connectionUpdateComplete: LESubevent = 0x03
  package static let readRemoteFeaturesComplete: LESubevent = 0x04
  package static let longTermKeyRequest: LESubevent = 0x05
  package static let remoteConnectionParameterRequest: LESubevent = 0x06
  package static let dataLengthChange: LESubevent = 0x07
  package static let readLocalP256PublicKeyComplete: LESubevent = 0x08
  package static let generateDHKeyComplete: LESubevent = 0x09
  package static let enhancedConnectionComplete: LESubevent = 0x0A
  package static let directedAdvertisingReport: LESubevent = 0x0B
  package static let phyUpdateComplete: LESubevent = 0x0C
  package static let extendedAdvertisingReport: LESubevent = 0x0D
  package static let periodicAdvertisingSyncEstablished: LESubevent = 0x0E
  package static let scanTimeout: LESubevent = 0x11
  package static let advertisingSetTerminated: LESubevent = 0x12
  package static let channelSelectionAlgorithm: LESubevent = 0x14
  package static let cisEstablished: LESubevent = 0x19
  package static let cisRequest: LESubevent = 0x1A
  package static let createBIGComplete: LESubevent = 0x1B
  package static let terminateBIGComplete: LESubevent = 0x1C
  package static let bigSyncEstablished: LESubevent = 0x1D
  package static let requestPeerSCAComplete: LESubevent = 0x1F
  package static let transmitPowerReporting: LESubevent = 0x21
  package static let subrateChange: LESubevent = 0x23
  package static let periodicAdvertisingSyncEstablishedV2: LESubevent = 0x24
  package static let enhancedConnectionCompleteV2: LESubevent = 0x29
  package static let cisEstablishedV2: LESubevent = 0x2A

  /// The event's name in the specification; nil if unknown.
  package var name: String? { HCIEventInfo[self]?.name }

  /// Name and number: `LE Connection Complete (0x01)`.
  @usableFromInline package var description: String { TextBuffer.string { writeField(to: &$0) } }

  @usableFromInline package func writeField(to text: inout TextBuffer) {
    text.write(name: name, rawValue, unnamed: "LE event ")
  }
}

/// The events that a controller sends (Core Specification Vol 4, Part E, 7.3.1). Command Complete, Command Status and
/// Number Of Completed Packets cannot be masked, says the specification; some controllers mask them nevertheless.
package struct EventMask: OptionSet, HCICode {
  package var rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package static let disconnectionComplete = EventMask(rawValue: 1 << 4)
  package static let encryptionChange = EventMask(rawValue: 1 << 7)
  package static let readRemoteVersionInformationComplete = EventMask(rawValue: 1 << 11)
  package static let commandComplete = EventMask(rawValue: 1 << 13)
  package static let commandStatus = EventMask(rawValue: 1 << 14)
  package static let hardwareError = EventMask(rawValue: 1 << 15)
  package static let numberOfCompletedPackets = EventMask(rawValue: 1 << 18)
  package static let encryptionKeyRefreshComplete = EventMask(rawValue: 1 << 47)
  package static let leMeta = EventMask(rawValue: 1 << 61)

  /// The default after a reset: all events of the oldest version, none of LE.
  package static let afterReset = EventMask(rawValue: 0x0000_1FFF_FFFF_FFFF)
}

/// The LE events that a controller sends, if ``EventMask/leMeta`` is set as well (Core Specification Vol 4, Part E,
/// 7.8.1).
package struct LEEventMask: OptionSet, HCICode {
  package var rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package static let connectionComplete = LEEventMask(rawValue: 1 << 0)
  package static let advertisingReport = LEEventMask(rawValue: 1 << 1)
  package static let connectionUpdateComplete = LEEventMask(rawValue: 1 << 2)
  package static let readRemoteFeaturesComplete = LEEventMask(rawValue: 1 << 3)
  package static let longTermKeyRequest = LEEventMask(rawValue: 1 << 4)
  package static let remoteConnectionParameterRequest = LEEventMask(rawValue: 1 << 5)
  package static let dataLengthChange = LEEventMask(rawValue: 1 << 6)
  package static let enhancedConnectionComplete = LEEventMask(rawValue: 1 << 9)
  package static let directedAdvertisingReport = LEEventMask(rawValue: 1 << 10)
  package static let phyUpdateComplete = LEEventMask(rawValue: 1 << 11)
  package static let extendedAdvertisingReport = LEEventMask(rawValue: 1 << 12)
  package static let scanTimeout = LEEventMask(rawValue: 1 << 16)
  package static let advertisingSetTerminated = LEEventMask(rawValue: 1 << 17)
  package static let channelSelectionAlgorithm = LEEventMask(rawValue: 1 << 19)
  package static let enhancedConnectionCompleteV2 = LEEventMask(rawValue: 1 << 40)

  /// The default after a reset: the events of Core Specification 4.0.
  package static let afterReset = LEEventMask(rawValue: 0x1F)

  /// The mask bit of an LE Meta event.
  package init(subevent: LESubevent) {
    let bit = Int(subevent.rawValue) - 1
    self.init(rawValue: (0..<64).contains(bit) ? 1 << UInt64(bit) : 0)
  }
}
