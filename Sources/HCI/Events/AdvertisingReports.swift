import BluetoothCore

/// The reports of one event. A damaged report hides the following ones, whose start is then unknown, but not the
/// preceding ones.
public struct AdvertisingReports: PacketFields {
  /// The event that carries the reports.
  public enum Form: Hashable, Sendable {
    /// LE Advertising Report (Core Specification Vol 4, Part E, 7.7.65.2).
    case legacy
    /// LE Directed Advertising Report (7.7.65.11).
    case directed
    /// LE Extended Advertising Report (7.7.65.13).
    case extended
  }

  /// The maximum advertising data in a report: an event of 255 bytes without subevent, count and the fixed fields of an
  /// extended report.
  static let largestData = 229

  public var form = Form.legacy
  public var reports: [AdvertisingReport] = []
  /// The number of reports stated in the event.
  public var claimed: UInt8 = 0
  /// Undecodable bytes, from the damaged report on; or bytes after the last report.
  public var unread: [UInt8] = []

  public init() {}

  public init(form: Form) {
    self.form = form
  }

  public init(_ form: Form, _ reports: [AdvertisingReport]) {
    self.form = form
    self.reports = reports
    claimed = UInt8(clamping: reports.count)
  }

  /// Whether the event does not match its stated contents.
  public var isDamaged: Bool { Int(claimed) != reports.count || !unread.isEmpty }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
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

extension AdvertisingReports.Form {
  var subevent: LESubevent {
    switch self {
    case .legacy: .advertisingReport
    case .directed: .directedAdvertisingReport
    case .extended: .extendedAdvertisingReport
    }
  }
}
