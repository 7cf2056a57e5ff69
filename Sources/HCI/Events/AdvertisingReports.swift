import BluetoothCore

/// The reports of one event. One that is damaged hides those behind it, as nobody knows where they begin; it
/// never hides those before.
public struct AdvertisingReports: Hashable, Sendable {
  public enum Form: Hashable, Sendable {
    /// LE Advertising Report (Core Specification Vol 4, Part E, 7.7.65.2).
    case legacy
    /// LE Directed Advertising Report (7.7.65.11).
    case directed
    /// LE Extended Advertising Report (7.7.65.13).
    case extended
  }

  /// The most advertising data that a report holds: an event of 255 bytes without subevent, count and the fixed
  /// fields of an extended report.
  static let largestData = 229

  public var form: Form
  public var reports: [AdvertisingReport]
  /// How many reports the event claims.
  public var claimed: UInt8
  /// What could not be read, from the damaged report on; or bytes behind the last report.
  public var unread: [UInt8]

  public init(_ form: Form, _ reports: [AdvertisingReport]) {
    self.form = form
    self.reports = reports
    claimed = UInt8(clamping: reports.count)
    unread = []
  }

  /// Whether the event was not what it claims to be.
  public var isDamaged: Bool { Int(claimed) != reports.count || !unread.isEmpty }

  init(parsing reader: inout ByteReader, form: Form) throws(DecodeError) {
    self.form = form
    reports = []
    claimed = try reader.readUInt8()
    unread = []
    while reports.count < claimed {
      let start = reader.offset
      guard let report = try? Self.report(parsing: &reader, form: form) else {
        unread = Array(reader.bytes.extracting(start..<reader.bytes.byteCount))
        return
      }
      reports.append(report)
    }
    unread = reader.readRemainingBytes()
  }

  private static func report(
    parsing reader: inout ByteReader, form: Form
  ) throws(DecodeError) -> AdvertisingReport {
    switch form {
    case .legacy: try AdvertisingReport(parsingLegacy: &reader)
    case .directed: try AdvertisingReport(parsingDirected: &reader)
    case .extended: try AdvertisingReport(parsingExtended: &reader)
    }
  }

  func write(into writer: inout ByteWriter) {
    writer.write(claimed)
    for report in reports {
      switch form {
      case .legacy: report.writeLegacy(into: &writer)
      case .directed: report.writeDirected(into: &writer)
      case .extended: report.writeExtended(into: &writer)
      }
    }
    writer.write(unread)
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
