import HCI
import HaloBluetoothCore
import HaloCapture

/// The type of an advertising physical channel PDU (Core Specification Vol 6, Part B, 2.3). Some types have other names
/// on the secondary channels and in periodic advertising.
package struct AdvertisingPDUType: RawRepresentable, Hashable, Sendable {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue & 0x0F }

  package static let scanRequest = AdvertisingPDUType(rawValue: 3)
  package static let scanResponse = AdvertisingPDUType(rawValue: 4)
  package static let connectRequest = AdvertisingPDUType(rawValue: 5)
  package static let extended = AdvertisingPDUType(rawValue: 7)

  private static let primary = [
    "ADV_IND", "ADV_DIRECT_IND", "ADV_NONCONN_IND", "SCAN_REQ", "SCAN_RSP", "CONNECT_IND", "ADV_SCAN_IND",
    "ADV_EXT_IND",
    "AUX_CONNECT_RSP",
  ]

  /// The name in the specification.
  ///
  /// - Parameters:
  ///   - isSecondary: whether it was sent on a secondary channel
  ///   - auxiliary: which extended advertising PDU it is; nil on the primary channels
  func name(isSecondary: Bool, _ auxiliary: AirReception.AuxiliaryType?) -> String? {
    switch self {
    case .scanRequest where isSecondary: "AUX_SCAN_REQ"
    case .connectRequest where isSecondary: "AUX_CONNECT_REQ"
    case .extended where isSecondary:
      switch auxiliary {
      case .chain?: "AUX_CHAIN_IND"
      case .synchronization?: "AUX_SYNC_IND"
      case .scanResponse?: "AUX_SCAN_RSP"
      default: "AUX_ADV_IND"
      }
    default: Self.primary.indices.contains(Int(rawValue)) ? Self.primary[Int(rawValue)] : nil
    }
  }

  /// The section that describes it.
  var reference: String {
    switch rawValue {
    case 0, 1, 2, 6: "Vol 6, Part B, 2.3.1"
    case 3, 4: "Vol 6, Part B, 2.3.2"
    case 5, 8: "Vol 6, Part B, 2.3.3"
    default: "Vol 6, Part B, 2.3.4"
    }
  }

  /// The fields of the payload; nil if the type is reserved.
  ///
  /// - Parameter header: the first byte of the PDU, which has the types of the addresses
  func fields(_ header: AdvertisingHeader) -> (any PacketFields)? {
    switch rawValue {
    // An advertiser with its data (2.3.1, 2.3.2.2).
    case 0, 2, 4, 6: DecodedFields([.address("AdvA", header.sender), .structures("data")])
    case 1: DecodedFields([.address("AdvA", header.sender), .address("TargetA", header.receiver)])
    case 3: DecodedFields([.address("ScanA", header.sender), .address("AdvA", header.receiver)])
    // Who connects to whom, and the parameters of the connection (2.3.3.1).
    case 5:
      DecodedFields([
        .address("InitA", header.sender), .address("AdvA", header.receiver),
        .fields(AirConnectionParameters()),
      ])
    case 7, 8: ExtendedAdvertisement(header)
    default: nil
    }
  }
}

/// The first byte of an advertising PDU: type (4 bits), RFU, ChSel, TxAdd, RxAdd (2.3).
struct AdvertisingHeader: HCICode {
  var rawValue: UInt8

  var type: AdvertisingPDUType { AdvertisingPDUType(rawValue: rawValue) }
  /// The kind of the sender's address.
  var sender: BluetoothAddress.Kind { rawValue & 0x40 == 0 ? .public : .random }
  /// The kind of the address that it is for.
  var receiver: BluetoothAddress.Kind { rawValue & 0x80 == 0 ? .public : .random }

  var description: String {
    let algorithm = rawValue & 0x20 == 0 ? "#1" : "#2"
    return "type \(type.rawValue), ChSel \(algorithm), TxAdd \(sender), RxAdd \(receiver)"
  }
}

/// LLData of CONNECT_IND (2.3.3.1).
struct AirConnectionParameters: PacketFields {
  var accessAddress = AccessAddress()
  var crcInit = UInt24()
  var windowSize: UInt8 = 0
  var windowOffset: UInt16 = 0
  var interval = ConnectionInterval()
  var latency: UInt16 = 0
  var timeout = SupervisionTimeout()
  var channels = ChannelMap()
  var hop = HopAndAccuracy()

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("access address", &accessAddress)
    try fields.value("CRC init", &crcInit, .hex)
    try fields.value("window size", &windowSize, .unit("x 1.25 ms"))
    try fields.value("window offset", &windowOffset, .unit("x 1.25 ms"))
    try fields.value("connection interval", &interval)
    try fields.value("latency", &latency, .unit("events"))
    try fields.value("supervision timeout", &timeout)
    try fields.value("channel map", &channels)
    try fields.value("hop and SCA", &hop)
  }
}
