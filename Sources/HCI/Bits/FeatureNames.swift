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

extension LMPFeatures {
  /// The names of page 0 (Core Specification Vol 2, Part C, 3.3).
  private static let page0: [Int: String] = [
    0: "3 slot packets", 1: "5 slot packets", 2: "Encryption", 3: "Slot offset", 4: "Timing accuracy",
    5: "Role switch", 6: "Hold mode", 7: "Sniff mode", 8: "Park state", 9: "Power control requests",
    10: "Channel quality driven data rate (CQDDR)", 11: "SCO link", 12: "HV2 packets", 13: "HV3 packets",
    14: "u-law log synchronous data", 15: "A-law log synchronous data", 16: "CVSD synchronous data",
    17: "Paging parameter negotiation", 18: "Power control", 19: "Transparent synchronous data",
    20: "Flow control lag (least significant bit)", 21: "Flow control lag (middle bit)",
    22: "Flow control lag (most significant bit)", 23: "Broadcast encryption",
    25: "Enhanced Data Rate ACL 2 Mb/s mode", 26: "Enhanced Data Rate ACL 3 Mb/s mode",
    27: "Enhanced inquiry scan", 28: "Interlaced inquiry scan", 29: "Interlaced page scan",
    30: "RSSI with inquiry results", 31: "Extended SCO link (EV3 packets)", 32: "EV4 packets",
    33: "EV5 packets", 35: "AFH capable Peripheral", 36: "AFH classification Peripheral",
    37: "BR/EDR Not Supported", 38: "LE Supported (Controller)",
    39: "3-slot Enhanced Data Rate ACL packets", 40: "5-slot Enhanced Data Rate ACL packets",
    41: "Sniff subrating", 42: "Pause encryption", 43: "AFH capable Central",
    44: "AFH classification Central", 45: "Enhanced Data Rate eSCO 2 Mb/s mode",
    46: "Enhanced Data Rate eSCO 3 Mb/s mode", 47: "3-slot Enhanced Data Rate eSCO packets",
    48: "Extended Inquiry Response",
    49: "Simultaneous LE and BR/EDR to Same Device Capable (Controller)",
    51: "Secure Simple Pairing (Controller Support)", 52: "Encapsulated PDU", 53: "Erroneous Data Reporting",
    54: "Non-flushable Packet Boundary Flag", 56: "HCI_Link_Supervision_Timeout_Changed event",
    57: "Variable Inquiry TX Power Level", 58: "Enhanced Power Control", 63: "Extended features",
  ]

  /// The names of page 1: the features that the host supports.
  private static let page1: [Int: String] = [
    0: "Secure Simple Pairing (Host Support)", 1: "LE Supported (Host)",
    2: "Simultaneous LE and BR/EDR to Same Device Capable (Host)", 3: "Secure Connections (Host Support)",
  ]

  /// The names of page 2.
  private static let page2: [Int: String] = [
    0: "Connectionless Peripheral Broadcast - Transmitter Operation",
    1: "Connectionless Peripheral Broadcast - Receiver Operation", 2: "Synchronization Train",
    3: "Synchronization Scan", 4: "HCI_Inquiry_Response_Notification event",
    5: "Generalized interlaced scan", 6: "Coarse Clock Adjustment",
    8: "Secure Connections (Controller Support)", 9: "Ping", 10: "Slot Availability Mask",
    11: "Train nudging",
  ]

  private static let bitsByPage = [page0, page1, page2].map { BitNames($0, plural: "features") }
  private static let unknownPage = BitNames([:], plural: "features")

  /// The bits of a page.
  static func bits(ofPage page: UInt8) -> BitNames {
    bitsByPage.indices.contains(Int(page)) ? bitsByPage[Int(page)] : unknownPage
  }
}
