import BluetoothCore

/// One advertisement as the controller heard it: the same value for the legacy, the directed and the extended
/// report (Core Specification Vol 4, Part E, 7.7.65.2, 7.7.65.11 and 7.7.65.13).
public struct AdvertisingReport: Hashable, Sendable {
  /// What the advertiser lets others do: the bits of the extended report, into which the legacy kinds are
  /// translated.
  public struct EventType: OptionSet, Hashable, Sendable {
    public var rawValue: UInt16

    public init(rawValue: UInt16) {
      self.rawValue = rawValue
    }

    public static let connectable = EventType(rawValue: 1 << 0)
    public static let scannable = EventType(rawValue: 1 << 1)
    public static let directed = EventType(rawValue: 1 << 2)
    public static let scanResponse = EventType(rawValue: 1 << 3)
    /// Sent in a PDU of Core Specification 4.
    public static let legacy = EventType(rawValue: 1 << 4)
  }

  /// Whether the data is all there is.
  public struct DataStatus: RawRepresentable, Hashable, Sendable {
    public let rawValue: UInt8

    /// - Parameter rawValue: two bits
    public init(rawValue: UInt8) {
      self.rawValue = rawValue & 3
    }

    public static let complete = DataStatus(rawValue: 0)
    /// A piece; the next report of this advertiser goes on.
    public static let incomplete = DataStatus(rawValue: 1)
    /// The rest was lost, and will not come.
    public static let truncated = DataStatus(rawValue: 2)
  }

  public var address: BluetoothAddress
  /// Without the bits of ``dataStatus``.
  public var eventType: EventType
  public var dataStatus: DataStatus
  /// In dBm; nil if the controller does not know.
  public var rssi: Int8?
  /// The power with which the advertiser says that it sends, in dBm; nil if it does not say.
  public var txPower: Int8?
  public var primaryPHY: LEPHY
  /// ``LEPHY/none`` if nothing was sent on the secondary channels.
  public var secondaryPHY: LEPHY
  /// The number that tells an advertiser's sets apart; nil if there is none.
  public var advertisingSID: UInt8?
  public var periodicAdvertisingInterval: PeriodicAdvertisingInterval
  /// Whom the advertisement calls; nil unless it is directed.
  public var directAddress: BluetoothAddress?
  /// AD structures; see ``AdvertisingData``.
  public var data: [UInt8]

  public init(
    address: BluetoothAddress, eventType: EventType, dataStatus: DataStatus = .complete, rssi: Int8?,
    txPower: Int8? = nil, primaryPHY: LEPHY = .le1M, secondaryPHY: LEPHY = .none,
    advertisingSID: UInt8? = nil,
    periodicAdvertisingInterval: PeriodicAdvertisingInterval = .init(rawValue: 0),
    directAddress: BluetoothAddress? = nil, data: [UInt8]
  ) {
    self.address = address
    self.eventType = eventType
    self.dataStatus = dataStatus
    self.rssi = rssi
    self.txPower = txPower
    self.primaryPHY = primaryPHY
    self.secondaryPHY = secondaryPHY
    self.advertisingSID = advertisingSID
    self.periodicAdvertisingInterval = periodicAdvertisingInterval
    self.directAddress = directAddress
    self.data = data
  }
}

extension AdvertisingReport {
  /// The PDUs of Core Specification 4, at the place of their number in a legacy report. Nobody tells whether
  /// the device behind a scan response is connectable: the advertisement does.
  private static let legacyTypes: [EventType] = [
    [.legacy, .connectable, .scannable], [.legacy, .connectable, .directed], [.legacy, .scannable], [.legacy],
    [.legacy, .scannable, .scanResponse],
  ]

  private var legacyType: UInt8 {
    if eventType.contains(.scanResponse) { return 4 }
    if eventType.contains(.directed) { return 1 }
    if eventType.contains(.connectable) { return 0 }
    return eventType.contains(.scannable) ? 2 : 3
  }

  init(parsingLegacy reader: inout ByteReader) throws(DecodeError) {
    let type = Int(try reader.readUInt8())
    guard Self.legacyTypes.indices.contains(type) else {
      throw reader.invalid("no kind of advertisement: \(type)")
    }
    let address = try reader.readAddress()
    let data = try reader.readBytes(Int(try reader.readUInt8()))
    self.init(address: address, eventType: Self.legacyTypes[type], rssi: try reader.readPower(), data: data)
  }

  func writeLegacy(into writer: inout ByteWriter) {
    writer.write(legacyType)
    writer.writeAddress(address)
    writeData(into: &writer)
    writer.writePower(rssi)
  }

  init(parsingDirected reader: inout ByteReader) throws(DecodeError) {
    let type = try reader.readUInt8()
    guard type == 1 else { throw reader.invalid("no kind of directed advertisement: \(type)") }
    let address = try reader.readAddress()
    let direct = try reader.readAddress()
    self.init(
      address: address, eventType: Self.legacyTypes[1], rssi: try reader.readPower(), directAddress: direct,
      data: [])
  }

  func writeDirected(into writer: inout ByteWriter) {
    writer.write(UInt8(1))
    writer.writeAddress(address)
    writer.writeAddress(directAddress ?? BluetoothAddress(0, .public))
    writer.writePower(rssi)
  }

  init(parsingExtended reader: inout ByteReader) throws(DecodeError) {
    let type = try reader.readUInt16()
    eventType = EventType(rawValue: type & ~0x60)
    dataStatus = DataStatus(rawValue: UInt8(truncatingIfNeeded: type >> 5))
    address = try reader.readAddress()
    primaryPHY = try LEPHY(parsing: &reader)
    secondaryPHY = try LEPHY(parsing: &reader)
    let sid = try reader.readUInt8()
    advertisingSID = sid == .max ? nil : sid
    txPower = try reader.readPower()
    rssi = try reader.readPower()
    periodicAdvertisingInterval = try PeriodicAdvertisingInterval(parsing: &reader)
    let direct = try reader.readAddress()
    directAddress = eventType.contains(.directed) ? direct : nil
    data = try reader.readBytes(Int(try reader.readUInt8()))
  }

  func writeExtended(into writer: inout ByteWriter) {
    writer.write(eventType.rawValue & ~0x60 | UInt16(dataStatus.rawValue) << 5)
    writer.writeAddress(address)
    primaryPHY.write(into: &writer)
    secondaryPHY.write(into: &writer)
    writer.write(advertisingSID ?? .max)
    writer.writePower(txPower)
    writer.writePower(rssi)
    periodicAdvertisingInterval.write(into: &writer)
    writer.writeAddress(directAddress ?? BluetoothAddress(0, .public))
    writeData(into: &writer)
  }

  /// A length, and no more bytes than fit into an event beside the other fields of an extended report.
  private func writeData(into writer: inout ByteWriter) {
    let data = data.prefix(AdvertisingReports.largestData)
    writer.write(UInt8(truncatingIfNeeded: data.count))
    writer.write(data)
  }
}
