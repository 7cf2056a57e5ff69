import HaloBluetoothCore

extension LEFeatures {
  /// The names of all pages (Core Specification Vol 6, Part B, 4.6): page 0 has the bits from 0 to 63, page 1 those from 64 on.
  /// Two bits form one feature where the specification defines it so.
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
    64: "Monitoring Advertisers",
    65: "Frame Space Update", 66: "UTP OTA Mode", 67: "UTP HCI Mode", 68: "LL_OTA_UTP_IND Maximum Length",
    69: "LL_OTA_UTP_IND Maximum Length", 72: "Shorter Connection Intervals",
    73: "Shorter Connection Intervals (Host Support)", 74: "LE Flushable ACL Data",
  ]

  /// The bits of one page or of all of them, from page 0 on.
  package static let bits = BitNames(namesByBit, plural: "features")

  /// The bits of a page of 24 bytes, from page 1 on, as the link layer exchanges them (2.4.2.40).
  package static func bits(ofPage page: UInt8) -> BitNames {
    page == 1 ? page1Bits : BitNames([:], plural: "features")
  }

  private static let page1Bits = BitNames(
    Dictionary(uniqueKeysWithValues: namesByBit.filter { $0.key >= 64 }.map { ($0.key - 64, $0.value) }),
    plural: "features")

  /// One name for each feature of page 0, ordered by bit; `bit 50` for an unknown one.
  package var names: [String] {
    var names: [String] = []
    for bit in 0..<64 where rawValue >> UInt64(bit) & 1 == 1 {
      let name = Self.namesByBit[bit] ?? "bit \(bit)"
      if names.last != name { names.append(name) }
    }
    return names
  }
}
