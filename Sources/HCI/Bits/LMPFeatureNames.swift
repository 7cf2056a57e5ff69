import HaloBluetoothCore

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
