import HaloBluetoothCore

/// The features of a link layer: 64 bits (Core Specification Vol 6, Part B, 4.6).
public struct LEFeatures: OptionSet, HCICode {
  public var rawValue: UInt64

  public init(rawValue: UInt64) { self.rawValue = rawValue }

  public static let encryption = LEFeatures(rawValue: 1 << 0)
  public static let connectionParametersRequestProcedure = LEFeatures(rawValue: 1 << 1)
  public static let extendedRejectIndication = LEFeatures(rawValue: 1 << 2)
  public static let peripheralInitiatedFeaturesExchange = LEFeatures(rawValue: 1 << 3)
  public static let ping = LEFeatures(rawValue: 1 << 4)
  public static let dataPacketLengthExtension = LEFeatures(rawValue: 1 << 5)
  public static let llPrivacy = LEFeatures(rawValue: 1 << 6)
  public static let phy2M = LEFeatures(rawValue: 1 << 8)
  public static let phyCoded = LEFeatures(rawValue: 1 << 11)
  public static let extendedAdvertising = LEFeatures(rawValue: 1 << 12)
  public static let channelSelectionAlgorithm2 = LEFeatures(rawValue: 1 << 14)
  public static let connectionSubrating = LEFeatures(rawValue: 1 << 37)
}

/// The features of a BR/EDR, LE or dual-mode controller: page 0, 64 bits (Core Specification Vol 2, Part C, 3.3). Only
/// those relevant to an LE host are named.
public struct LMPFeatures: OptionSet, HCICode {
  public var rawValue: UInt64

  public init(rawValue: UInt64) { self.rawValue = rawValue }

  public static let encryption = LMPFeatures(rawValue: 1 << 2)
  public static let brEDRNotSupported = LMPFeatures(rawValue: 1 << 37)
  public static let leSupportedController = LMPFeatures(rawValue: 1 << 38)
  public static let simultaneousLEAndBREDR = LMPFeatures(rawValue: 1 << 49)
  public static let extendedFeatures = LMPFeatures(rawValue: 1 << 63)
}
