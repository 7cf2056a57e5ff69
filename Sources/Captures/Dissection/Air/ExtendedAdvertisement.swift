import HCI
import HaloBluetoothCore

/// The Common Extended Advertising Payload: a header of optional fields, then advertising data (Core Specification
/// Vol 6, Part B, 2.3.4). ADV_EXT_IND, AUX_ADV_IND, AUX_SCAN_RSP, AUX_SYNC_IND, AUX_CHAIN_IND and AUX_CONNECT_RSP.
struct ExtendedAdvertisement: PacketFields {
  /// Length of the header and AdvMode.
  var start = ExtendedHeaderLength()
  var header = ExtendedHeader()
  var data: [UInt8] = []
  private var kinds = AdvertisingHeader(rawValue: 0)

  init() {}

  init(_ header: AdvertisingHeader) { kinds = header }

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("extended header length", &start)
    if start.length > 0 {
      header.kinds = kinds
      header.length = start.length
      try fields.group("extended header", number: nil, &header)
    }
    try fields.bytes("data", &data, count: fields.bytesLeft ?? data.count, as: ADFields.self)
  }
}

/// The extended header: flags, then the fields that they announce, then additional controller data (2.3.4).
struct ExtendedHeader: PacketFields {
  /// Which fields follow: a bit each.
  struct Flags: OptionSet, HCICode {
    var rawValue: UInt8

    static let advertiser = Flags(rawValue: 1)
    static let target = Flags(rawValue: 2)
    static let toneExtension = Flags(rawValue: 4)
    static let dataInfo = Flags(rawValue: 8)
    static let auxiliaryPointer = Flags(rawValue: 16)
    static let syncInfo = Flags(rawValue: 32)
    static let txPower = Flags(rawValue: 64)

    private static let words = ["AdvA", "TargetA", "CTEInfo", "ADI", "AuxPtr", "SyncInfo", "TxPower", "RFU"]

    var description: String {
      let words = Self.words.enumerated().filter { rawValue & UInt8(1) << $0.offset != 0 }.map(\.element)
      return words.isEmpty ? "no fields" : words.joined(separator: ", ")
    }
  }

  var flags: Flags = []
  var advertiser: BluetoothAddress?
  var target: BluetoothAddress?
  var toneExtension = ToneExtension()
  var dataInfo: AdvertisingDataInfo?
  var pointer: AuxiliaryPointer?
  var sync: SyncInfo?
  var txPower: Int8?
  var controllerData: [UInt8] = []

  /// From the PDU's header.
  fileprivate var kinds = AdvertisingHeader(rawValue: 0)
  /// In bytes, with the flags.
  fileprivate var length = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    let before = fields.bytesLeft
    try fields.value("flags", &flags)
    if flags.contains(.advertiser) {
      var address = advertiser ?? .zero
      try fields.address("AdvA", &address, kind: kinds.sender)
      advertiser = address
    }
    if flags.contains(.target) {
      var address = target ?? .zero
      try fields.address("TargetA", &address, kind: kinds.receiver)
      target = address
    }
    if flags.contains(.toneExtension) { try fields.value("CTEInfo", &toneExtension) }
    if flags.contains(.dataInfo) {
      var value = dataInfo ?? AdvertisingDataInfo()
      try fields.value("ADI", &value)
      dataInfo = value
    }
    if flags.contains(.auxiliaryPointer) {
      var value = pointer ?? AuxiliaryPointer()
      try fields.value("AuxPtr", &value)
      pointer = value
    }
    if flags.contains(.syncInfo) { try fields.group("SyncInfo", &sync, isPresent: true) }
    if flags.contains(.txPower) {
      var value = txPower ?? 0
      try fields.value("TxPower", &value, .power)
      txPower = value
    }
    let read = (before ?? 0) - (fields.bytesLeft ?? 0)
    let rest = before == nil ? controllerData.count : length - read
    try fields.check(rest >= 0, "the extended header has \(read) bytes, not \(length)")
    if rest > 0 { try fields.bytes("ACAD", &controllerData, count: rest) }
  }
}

/// Where periodic advertising is found (2.3.4.6).
struct SyncInfo: PacketFields {
  var offset = SyncOffset()
  var interval = PeriodicAdvertisingInterval()
  var channels = ChannelMapAndAccuracy()
  var accessAddress = AccessAddress()
  var crcInit = UInt24()
  var event: UInt16 = 0

  mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("sync packet offset", &offset)
    try fields.value("interval", &interval)
    try fields.value("channel map and SCA", &channels)
    try fields.value("access address", &accessAddress)
    try fields.value("CRC init", &crcInit, .hex)
    try fields.value("periodic event counter", &event)
  }
}

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
