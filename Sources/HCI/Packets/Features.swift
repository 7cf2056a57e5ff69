/// The features of a link layer: 64 bits (Core Specification Vol 6, Part B, 4.6).
package struct LEFeatures: OptionSet, HCICode {
  package var rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package static let encryption = LEFeatures(rawValue: 1 << 0)
  package static let connectionParametersRequestProcedure = LEFeatures(rawValue: 1 << 1)
  package static let extendedRejectIndication = LEFeatures(rawValue: 1 << 2)
  package static let peripheralInitiatedFeaturesExchange = LEFeatures(rawValue: 1 << 3)
  package static let ping = LEFeatures(rawValue: 1 << 4)
  package static let dataPacketLengthExtension = LEFeatures(rawValue: 1 << 5)
  package static let llPrivacy = LEFeatures(rawValue: 1 << 6)
  package static let phy2M = LEFeatures(rawValue: 1 << 8)
  package static let phyCoded = LEFeatures(rawValue: 1 << 11)
  package static let extendedAdvertising = LEFeatures(rawValue: 1 << 12)
  package static let channelSelectionAlgorithm2 = LEFeatures(rawValue: 1 << 14)
  package static let connectionSubrating = LEFeatures(rawValue: 1 << 37)
}

/// The features of a BR/EDR, LE or dual-mode controller: page 0, 64 bits (Core Specification Vol 2, Part C, 3.3). Only
/// those relevant to an LE host are named.
package struct LMPFeatures: OptionSet, HCICode {
  package var rawValue: UInt64

  package init(rawValue: UInt64) { self.rawValue = rawValue }

  package static let brEDRNotSupported = LMPFeatures(rawValue: 1 << 37)
  package static let leSupportedController = LMPFeatures(rawValue: 1 << 38)
  package static let extendedFeatures = LMPFeatures(rawValue: 1 << 63)
}
