import HaloBluetoothCore

/// An event code (Core Specification Vol 4, Part E, 7.7).
public struct HCIEventCode: HCICode, ExpressibleByIntegerLiteral {
  public var rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public init(integerLiteral rawValue: UInt8) { self.rawValue = rawValue }

  public static let inquiryComplete: HCIEventCode = 0x01
  public static let inquiryResult: HCIEventCode = 0x02
  public static let connectionComplete: HCIEventCode = 0x03
  public static let disconnectionComplete: HCIEventCode = 0x05
  public static let authenticationComplete: HCIEventCode = 0x06
  public static let remoteNameRequestComplete: HCIEventCode = 0x07
  public static let encryptionChange: HCIEventCode = 0x08
  public static let changeConnectionLinkKeyComplete: HCIEventCode = 0x09
  public static let linkKeyTypeChanged: HCIEventCode = 0x0A
  public static let readRemoteSupportedFeaturesComplete: HCIEventCode = 0x0B
  public static let readRemoteVersionInformationComplete: HCIEventCode = 0x0C
  public static let qosSetupComplete: HCIEventCode = 0x0D
  public static let commandComplete: HCIEventCode = 0x0E
  public static let commandStatus: HCIEventCode = 0x0F
  public static let hardwareError: HCIEventCode = 0x10
  public static let roleChange: HCIEventCode = 0x12
  public static let numberOfCompletedPackets: HCIEventCode = 0x13
  public static let modeChange: HCIEventCode = 0x14
  public static let readClockOffsetComplete: HCIEventCode = 0x1C
  public static let connectionPacketTypeChanged: HCIEventCode = 0x1D
  public static let flowSpecificationComplete: HCIEventCode = 0x21
  public static let inquiryResultWithRSSI: HCIEventCode = 0x22
  public static let readRemoteExtendedFeaturesComplete: HCIEventCode = 0x23
  public static let synchronousConnectionComplete: HCIEventCode = 0x2C
  public static let synchronousConnectionChanged: HCIEventCode = 0x2D
  public static let extendedInquiryResult: HCIEventCode = 0x2F
  public static let encryptionKeyRefreshComplete: HCIEventCode = 0x30
  public static let enhancedFlushComplete: HCIEventCode = 0x39
  public static let leMeta: HCIEventCode = 0x3E
  public static let truncatedPageComplete: HCIEventCode = 0x53
  public static let encryptionChangeV2: HCIEventCode = 0x59
  public static let vendorSpecific: HCIEventCode = 0xFF

  /// The event's name in the specification; nil if unknown.
  public var name: String? { HCIEventInfo[self]?.name }

  /// Name and number: `Command Complete (0x0e)`.
  public var description: String { TextBuffer.string { writeField(to: &$0) } }

  public func writeField(to text: inout TextBuffer) { text.write(name: name, rawValue, unnamed: "event ") }
}

/// An LE Meta subevent code: the first parameter of the event (7.7.65).
public struct LESubevent: HCICode, ExpressibleByIntegerLiteral {
  public var rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public init(integerLiteral rawValue: UInt8) { self.rawValue = rawValue }

  public static let connectionComplete: LESubevent = 0x01
  public static let advertisingReport: LESubevent = 0x02
  public static let connectionUpdateComplete: LESubevent = 0x03
  public static let readRemoteFeaturesComplete: LESubevent = 0x04
  public static let longTermKeyRequest: LESubevent = 0x05
  public static let remoteConnectionParameterRequest: LESubevent = 0x06
  public static let dataLengthChange: LESubevent = 0x07
  public static let readLocalP256PublicKeyComplete: LESubevent = 0x08
  public static let generateDHKeyComplete: LESubevent = 0x09
  public static let enhancedConnectionComplete: LESubevent = 0x0A
  public static let directedAdvertisingReport: LESubevent = 0x0B
  public static let phyUpdateComplete: LESubevent = 0x0C
  public static let extendedAdvertisingReport: LESubevent = 0x0D
  public static let periodicAdvertisingSyncEstablished: LESubevent = 0x0E
  public static let scanTimeout: LESubevent = 0x11
  public static let advertisingSetTerminated: LESubevent = 0x12
  public static let channelSelectionAlgorithm: LESubevent = 0x14
  public static let cisEstablished: LESubevent = 0x19
  public static let cisRequest: LESubevent = 0x1A
  public static let createBIGComplete: LESubevent = 0x1B
  public static let terminateBIGComplete: LESubevent = 0x1C
  public static let bigSyncEstablished: LESubevent = 0x1D
  public static let requestPeerSCAComplete: LESubevent = 0x1F
  public static let transmitPowerReporting: LESubevent = 0x21
  public static let subrateChange: LESubevent = 0x23
  public static let periodicAdvertisingSyncEstablishedV2: LESubevent = 0x24
  public static let enhancedConnectionCompleteV2: LESubevent = 0x29
  public static let cisEstablishedV2: LESubevent = 0x2A

  /// The event's name in the specification; nil if unknown.
  public var name: String? { HCIEventInfo[self]?.name }

  /// Name and number: `LE Connection Complete (0x01)`.
  public var description: String { TextBuffer.string { writeField(to: &$0) } }

  public func writeField(to text: inout TextBuffer) { text.write(name: name, rawValue, unnamed: "LE event ") }
}

/// The events that a controller sends (Core Specification Vol 4, Part E, 7.3.1). Command Complete, Command Status and
/// Number Of Completed Packets cannot be masked.
public struct EventMask: OptionSet, HCICode {
  public var rawValue: UInt64

  public init(rawValue: UInt64) { self.rawValue = rawValue }

  public static let disconnectionComplete = EventMask(rawValue: 1 << 4)
  public static let encryptionChange = EventMask(rawValue: 1 << 7)
  public static let readRemoteVersionInformationComplete = EventMask(rawValue: 1 << 11)
  public static let hardwareError = EventMask(rawValue: 1 << 15)
  public static let encryptionKeyRefreshComplete = EventMask(rawValue: 1 << 47)
  public static let leMeta = EventMask(rawValue: 1 << 61)

  /// The default after a reset: all events of the oldest version, none of LE.
  public static let afterReset = EventMask(rawValue: 0x0000_1FFF_FFFF_FFFF)
}

/// The LE events that a controller sends, if ``EventMask/leMeta`` is set as well (Core Specification Vol 4, Part E,
/// 7.8.1).
public struct LEEventMask: OptionSet, HCICode {
  public var rawValue: UInt64

  public init(rawValue: UInt64) { self.rawValue = rawValue }

  public static let connectionComplete = LEEventMask(rawValue: 1 << 0)
  public static let advertisingReport = LEEventMask(rawValue: 1 << 1)
  public static let connectionUpdateComplete = LEEventMask(rawValue: 1 << 2)
  public static let readRemoteFeaturesComplete = LEEventMask(rawValue: 1 << 3)
  public static let longTermKeyRequest = LEEventMask(rawValue: 1 << 4)
  public static let remoteConnectionParameterRequest = LEEventMask(rawValue: 1 << 5)
  public static let dataLengthChange = LEEventMask(rawValue: 1 << 6)
  public static let enhancedConnectionComplete = LEEventMask(rawValue: 1 << 9)
  public static let directedAdvertisingReport = LEEventMask(rawValue: 1 << 10)
  public static let phyUpdateComplete = LEEventMask(rawValue: 1 << 11)
  public static let extendedAdvertisingReport = LEEventMask(rawValue: 1 << 12)
  public static let scanTimeout = LEEventMask(rawValue: 1 << 16)
  public static let advertisingSetTerminated = LEEventMask(rawValue: 1 << 17)
  public static let channelSelectionAlgorithm = LEEventMask(rawValue: 1 << 19)
  public static let enhancedConnectionCompleteV2 = LEEventMask(rawValue: 1 << 40)

  /// The default after a reset: the events of Core Specification 4.0.
  public static let afterReset = LEEventMask(rawValue: 0x1F)

  /// The mask bit of an LE Meta event.
  public init(subevent: LESubevent) {
    let bit = Int(subevent.rawValue) - 1
    self.init(rawValue: (0..<64).contains(bit) ? 1 << UInt64(bit) : 0)
  }
}
