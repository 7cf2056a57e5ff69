import HaloBluetoothCore

/// The contents of an advertising PDU, in the same form for all types.
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
      let type = header.type.rawValue
      guard type < 7 else {
        if type < 9 { try readExtended(&reader, header, payload) }
        return
      }
      let first = try BluetoothAddress(parsing: &reader, kind: header.sender)
      if [1, 3, 5].contains(type) {
        let second = try BluetoothAddress(parsing: &reader, kind: header.receiver)
        if type == 5 { request = try AirConnectionParameters(parsing: &reader) }
        receiver = second
      } else {
        hasData = true
        data = payload.lowerBound + reader.offset..<payload.upperBound
      }
      sender = first
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
