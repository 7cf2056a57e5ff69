import BluetoothCore

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

extension LEFeatures {
  /// The names in the specification by bit (Vol 6, Part B, 4.6). Two bits form one feature where the specification says
  /// so.
  private static let namesByBit: [Int: String] = [
    0: "LE Encryption", 1: "Connection Parameters Request Procedure", 2: "Extended Reject Indication",
    3: "Peripheral-initiated Features Exchange", 4: "LE Ping", 5: "LE Data Packet Length Extension",
    6: "LL Privacy", 7: "Extended Scanning Filter Policies", 8: "LE 2M PHY",
    9: "Stable Modulation Index - Transmitter", 10: "Stable Modulation Index - Receiver", 11: "LE Coded PHY",
    12: "LE Extended Advertising", 13: "LE Periodic Advertising", 14: "Channel Selection Algorithm #2",
    15: "LE Power Class 1", 16: "Minimum Number of Used Channels Procedure", 17: "Connection CTE Request",
    18: "Connection CTE Response", 19: "Connectionless CTE Transmitter", 20: "Connectionless CTE Receiver",
    21: "Antenna Switching During CTE Transmission (AoD)", 22: "Antenna Switching During CTE Reception (AoA)",
    23: "Receiving Constant Tone Extensions", 24: "Periodic Advertising Sync Transfer - Sender",
    25: "Periodic Advertising Sync Transfer - Recipient", 26: "Sleep Clock Accuracy Updates",
    27: "Remote Public Key Validation", 28: "Connected Isochronous Stream - Central",
    29: "Connected Isochronous Stream - Peripheral", 30: "Isochronous Broadcaster",
    31: "Synchronized Receiver", 32: "Connected Isochronous Stream (Host Support)",
    33: "LE Power Control Request", 34: "LE Power Control Request", 35: "LE Path Loss Monitoring",
    36: "Periodic Advertising ADI Support", 37: "Connection Subrating",
    38: "Connection Subrating (Host Support)", 39: "Channel Classification",
    40: "Advertising Coding Selection", 41: "Advertising Coding Selection (Host Support)",
    42: "Decision-Based Advertising Filtering", 43: "Periodic Advertising with Responses - Advertiser",
    44: "Periodic Advertising with Responses - Scanner", 45: "Unsegmented Framed Mode",
    46: "Channel Sounding", 47: "Channel Sounding (Host Support)",
    48: "Channel Sounding Tone Quality Indication", 63: "LL Extended Feature Set",
  ]

  /// One name for each feature, ordered by bit; `bit 50` for an unknown one.
  public var names: [String] {
    var names: [String] = []
    for bit in 0..<64 where rawValue >> UInt64(bit) & 1 == 1 {
      let name = Self.namesByBit[bit] ?? "bit \(bit)"
      if names.last != name { names.append(name) }
    }
    return names
  }
}
