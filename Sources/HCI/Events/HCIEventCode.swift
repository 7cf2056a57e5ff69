import BluetoothCore

/// An event code (Core Specification Vol 4, Part E, 7.7).
public struct HCIEventCode: HCICode, ExpressibleByIntegerLiteral {
  public var rawValue: UInt8

  public init(rawValue: UInt8) { self.rawValue = rawValue }
  public init(integerLiteral rawValue: UInt8) { self.rawValue = rawValue }

  public static let disconnectionComplete: HCIEventCode = 0x05
  public static let encryptionChange: HCIEventCode = 0x08
  public static let readRemoteVersionInformationComplete: HCIEventCode = 0x0C
  public static let commandComplete: HCIEventCode = 0x0E
  public static let commandStatus: HCIEventCode = 0x0F
  public static let hardwareError: HCIEventCode = 0x10
  public static let numberOfCompletedPackets: HCIEventCode = 0x13
  public static let encryptionKeyRefreshComplete: HCIEventCode = 0x30
  public static let leMeta: HCIEventCode = 0x3E
  public static let vendorSpecific: HCIEventCode = 0xFF

  /// The event's name in the specification; nil if unknown.
  public var name: String? { HCIEventInfo[self]?.name }
}

extension HCIEventCode {
  /// Name and number: `Command Complete (0x0e)`.
  public var description: String {
    let number = Hex.string(rawValue)
    return name.map { "\($0) (\(number))" } ?? "event \(number)"
  }
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
  public static let enhancedConnectionComplete: LESubevent = 0x0A
  public static let directedAdvertisingReport: LESubevent = 0x0B
  public static let phyUpdateComplete: LESubevent = 0x0C
  public static let extendedAdvertisingReport: LESubevent = 0x0D
  public static let scanTimeout: LESubevent = 0x11
  public static let channelSelectionAlgorithm: LESubevent = 0x14
  public static let enhancedConnectionCompleteV2: LESubevent = 0x29

  /// The event's name in the specification; nil if unknown.
  public var name: String? { HCIEventInfo[self]?.name }
}

extension LESubevent {
  /// Name and number: `LE Connection Complete (0x01)`.
  public var description: String {
    let number = Hex.string(rawValue)
    return name.map { "\($0) (\(number))" } ?? "LE event \(number)"
  }
}
