import HCI
import HaloBluetoothCore
import HaloCapture

/// What an advertising PDU says, in the same form for all types.
struct AirAdvertisement {
  private(set) var sender: BluetoothAddress?
  private(set) var receiver: BluetoothAddress?
  /// The parameters of CONNECT_IND and AUX_CONNECT_REQ.
  private(set) var request: AirConnectionParameters?
  /// Where the next PDU of an extended advertisement is.
  private(set) var pointer: AuxiliaryPointer?
  private(set) var sync: SyncInfo?
  private(set) var dataInfo: AdvertisingDataInfo?
  /// Advertising data, in the packet's bytes.
  private(set) var data = 0..<0
  /// Whether the type of the PDU has advertising data.
  private(set) var hasData = false
  /// Whether its fields do not fit into it.
  private(set) var isDamaged = false

  /// Whether it is an advertisement or a scan response of ``sender``.
  var isReport: Bool { hasData && sender != nil && request == nil }

  /// - Parameters:
  ///   - layer: of an advertising PDU
  ///   - bytes: of the packet
  init(_ layer: AirLayer, _ bytes: RawSpan) {
    let payload = layer.payload(in: bytes)
    let header = AdvertisingHeader(rawValue: layer.header)
    var reader = ByteReader(bytes.extracting(payload))
    do throws(DecodeError) {
      switch header.type.rawValue {
      case 0, 2, 4, 6:
        sender = try BluetoothAddress(parsing: &reader, kind: header.sender)
        hasData = true
        data = payload.lowerBound + reader.offset..<payload.upperBound
      case 1, 3:
        var pair = AddressPair(header, "", "")
        try pair.visit(&reader)
        (sender, receiver) = (pair.sender, pair.receiver)
      case 5:
        var connection = AirConnectionRequest(header)
        try connection.visit(&reader)
        (sender, receiver) = (connection.initiator, connection.advertiser)
        request = connection.parameters
      case 7, 8: try readExtended(&reader, header, payload)
      default: break
      }
    } catch {
      isDamaged = true
    }
  }

  private mutating func readExtended(
    _ reader: inout ByteReader, _ header: AdvertisingHeader, _ payload: Range<Int>
  ) throws(DecodeError) {
    var extended = ExtendedAdvertisement(header)
    try extended.visit(&reader)
    sender = extended.header.advertiser
    receiver = extended.header.target
    pointer = extended.header.pointer
    sync = extended.header.sync
    dataInfo = extended.header.dataInfo
    data = payload.upperBound - extended.data.count..<payload.upperBound
    hasData = !data.isEmpty || header.type == .extended && sender != nil
  }
}
