import HaloBluetoothCore

/// An advertising report, in one form for the legacy, the directed and the extended report (Core Specification Vol 4,
/// Part E, 7.7.65.2, 7.7.65.11 and 7.7.65.13).
package struct AdvertisingReport: Hashable, Sendable {
  /// The properties of the advertisement: the bits of the extended report, into which legacy types are translated.
  package struct EventType: OptionSet, Hashable, Sendable {
    package var rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package static let connectable = EventType(rawValue: 1 << 0)
    package static let scannable = EventType(rawValue: 1 << 1)
    package static let directed = EventType(rawValue: 1 << 2)
    package static let scanResponse = EventType(rawValue: 1 << 3)
    /// Sent in a legacy PDU.
    package static let legacy = EventType(rawValue: 1 << 4)
  }

  /// The completeness of the data.
  package struct DataStatus: RawRepresentable, Hashable, Sendable {
    package let rawValue: UInt8

    /// - Parameter rawValue: two bits
    package init(rawValue: UInt8) {
      self.rawValue = rawValue & 3
    }

    package static let complete = DataStatus(rawValue: 0)
    /// A fragment; more data follows in the next report of this advertiser.
    package static let incomplete = DataStatus(rawValue: 1)
    /// The rest was lost, and will not follow.
    package static let truncated = DataStatus(rawValue: 2)
  }

  package var address: BluetoothAddress
  /// Without the bits of ``dataStatus``.
  package var eventType: EventType
  package var dataStatus: DataStatus
  /// The number of a legacy report's type that no specification has; nil for known types. Such a report is no advertisement.
  package internal(set) var reservedType: UInt8?
  /// In dBm; nil if unavailable.
  package var rssi: Int8?
  /// The transmit power stated by the advertiser, in dBm; nil if not stated.
  package var txPower: Int8?
  package var primaryPHY: LEPHY
  /// ``LEPHY/none`` if there are no packets on the secondary channels.
  package var secondaryPHY: LEPHY
  /// The advertising set identifier; nil if none.
  package var advertisingSID: UInt8?
  package var periodicAdvertisingInterval: PeriodicAdvertisingInterval
  /// The target of directed advertising; nil if undirected.
  package var directAddress: BluetoothAddress?
  /// AD structures; see ``AdvertisingData``.
  package var data: [UInt8]

  package init(
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

  /// A report in the layout of one of the three events.
  struct Layout: PacketFields {
    var form = AdvertisingReports.Form.legacy
    var report = AdvertisingReport(address: .zero, eventType: .legacy, rssi: nil, data: [])

    init() {}

    init(_ form: AdvertisingReports.Form, _ report: AdvertisingReport? = nil) {
      self.form = form
      if let report { self.report = report }
    }

    mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
      switch form {
      case .legacy: try report.visitLegacy(&fields)
      case .directed: try report.visitDirected(&fields)
      case .extended: try report.visitExtended(&fields)
      }
    }
  }

  /// The legacy PDU types, indexed by their number in a legacy report. A scan response does not show whether the device is
  /// connectable; the advertisement does.
  private static let legacyTypes: [(type: EventType, name: String)] = [
    ([.legacy, .connectable, .scannable], "connectable, undirected"),
    ([.legacy, .connectable, .directed], "connectable, directed"),
    ([.legacy, .scannable], "scannable, undirected"), ([.legacy], "not connectable, undirected"),
    ([.legacy, .scannable, .scanResponse], "scan response"),
  ]

  private static let legacyTypeNames = Dictionary(
    uniqueKeysWithValues: legacyTypes.enumerated().map { (UInt64($0.offset), $0.element.name) })

  private var legacyType: UInt8 {
    if let reservedType { return reservedType }
    if eventType.contains(.scanResponse) { return 4 }
    if eventType.contains(.directed) { return 1 }
    if eventType.contains(.connectable) { return 0 }
    return eventType.contains(.scannable) ? 2 : 3
  }

  private mutating func visitLegacy<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var type = legacyType
    try fields.value("event type", &type, .names(Self.legacyTypeNames))
    let isKnown = Int(type) < Self.legacyTypes.count
    eventType = isKnown ? Self.legacyTypes[Int(type)].type : .legacy
    reservedType = isKnown ? nil : type
    try fields.typedAddress("address", type: "address type", &address)
    try fields.advertisingData(&data, limit: AdvertisingReports.largestData)
    try fields.value("RSSI", &rssi, none: .max, .power)
  }

  private mutating func visitDirected<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var type = reservedType ?? 1
    try fields.value("event type", &type, .names(Self.legacyTypeNames))
    eventType = type == 1 ? Self.legacyTypes[1].type : .legacy
    reservedType = type == 1 ? nil : type
    try fields.typedAddress("address", type: "address type", &address)
    var direct = directAddress ?? .zero
    try fields.typedAddress("direct address", type: "direct address type", &direct)
    directAddress = direct
    try fields.value("RSSI", &rssi, none: .max, .power)
  }

  private mutating func visitExtended<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    var type = ExtendedEventType(eventType, dataStatus)
    try fields.value("event type", &type)
    eventType = type.eventType
    dataStatus = type.dataStatus
    try fields.typedAddress("address", type: "address type", &address)
    try fields.value("primary PHY", &primaryPHY)
    try fields.value("secondary PHY", &secondaryPHY)
    try fields.value("advertising SID", &advertisingSID, none: .max, .names([0xFF: "none"]))
    try fields.value("transmit power", &txPower, none: .max, .power)
    try fields.value("RSSI", &rssi, none: .max, .power)
    try fields.value("periodic advertising interval", &periodicAdvertisingInterval)
    var direct = directAddress ?? .zero
    let isDirected = eventType.contains(.directed)
    try fields.typedAddress(
      "direct address", type: "direct address type", &direct, isUsed: isDirected)
    directAddress = eventType.contains(.directed) ? direct : nil
    try fields.advertisingData(&data, limit: AdvertisingReports.largestData)
  }
}

/// The event type of an extended report: the kind of the advertisement, and the status of the data in bits 5 and 6.
private struct ExtendedEventType: HCICode {
  var rawValue: UInt16

  init(rawValue: UInt16) { self.rawValue = rawValue }

  init(_ type: AdvertisingReport.EventType, _ status: AdvertisingReport.DataStatus) {
    rawValue = type.rawValue & ~0x60 | UInt16(status.rawValue) << 5
  }

  var eventType: AdvertisingReport.EventType { .init(rawValue: rawValue & ~0x60) }
  var dataStatus: AdvertisingReport.DataStatus { .init(rawValue: UInt8(truncatingIfNeeded: rawValue >> 5)) }

  var description: String {
    let names = ["connectable", "scannable", "directed", "scan response", "legacy"]
    var words = names.indices.filter { rawValue & 1 << UInt16($0) != 0 }.map { names[$0] }
    switch dataStatus {
    case .complete: words.append("data complete")
    case .incomplete: words.append("more data follows")
    default: words.append("data truncated")
    }
    return words.joined(separator: ", ")
  }
}

/// The reports of one event. A damaged report hides the following ones, whose start is then unknown, but not the
/// preceding ones.
package struct AdvertisingReports: PacketFields {
  /// The event that carries the reports.
  package enum Form: Hashable, Sendable {
    /// LE Advertising Report (Core Specification Vol 4, Part E, 7.7.65.2).
    case legacy
    /// LE Directed Advertising Report (7.7.65.11).
    case directed
    /// LE Extended Advertising Report (7.7.65.13).
    case extended

    var subevent: LESubevent {
      switch self {
      case .legacy: .advertisingReport
      case .directed: .directedAdvertisingReport
      case .extended: .extendedAdvertisingReport
      }
    }
  }

  /// The maximum advertising data in a report: an event of 255 bytes without subevent, count and the fixed fields of an
  /// extended report.
  package static let largestData = 229

  package var form = Form.legacy
  package var reports: [AdvertisingReport] = []
  /// The number of reports stated in the event.
  package var claimed: UInt8 = 0
  /// Undecodable bytes, from the damaged report on; or bytes after the last report.
  package var unread: [UInt8] = []

  package init() {}

  package init(form: Form) { self.form = form }

  package init(_ form: Form, _ reports: [AdvertisingReport]) {
    self.form = form
    self.reports = reports
    claimed = UInt8(clamping: reports.count)
  }

  /// Whether the event does not match its stated contents.
  package var isDamaged: Bool { Int(claimed) != reports.count || !unread.isEmpty }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("reports", &claimed)
    let isReading = fields.bytesLeft != nil
    for index in 0..<Int(claimed) {
      guard isReading || index < reports.count else { break }
      var layout = AdvertisingReport.Layout(form, isReading ? nil : reports[index])
      guard try fields.tryGroup("report", number: index + 1, &layout) else { break }
      if isReading { reports.append(layout.report) }
    }
    try fields.rest("unread", &unread)
  }
}
