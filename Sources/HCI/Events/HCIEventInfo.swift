import HaloBluetoothCore

/// The specification of an event: its name, section and parameters. A class, as it is looked up for each event: only its
/// reference is copied.
package final class HCIEventInfo: Sendable {
  /// The name in the specification.
  package let name: String
  /// The section of the Core Specification: `Vol 4, Part E, 7.7.5`; of a withdrawn event, `no longer specified`.
  package let reference: String
  /// The parameters, all zero, or the leading ones that are declared; nil if none are declared.
  package let parameters: (any PacketFields)?
  /// The offset of the status in the parameters.
  package let statusOffset: Int?
  /// The offset of the connection handle in the parameters.
  package let handleOffset: Int?

  /// Whether the specification no longer has the event.
  package let isWithdrawn: Bool
  /// How many bytes of the parameters are valid if the status is an error; nil if all are.
  package let validAfterFailure: Int?
  /// Whether the connection handle is valid if the status is an error.
  private let hasHandleAfterFailure: Bool

  private init(
    _ name: String, _ section: String?, _ parameters: (any PacketFields)?, validAfterFailure: Validity
  ) {
    self.name = name
    isWithdrawn = section == nil
    reference = section.map { "Vol 4, Part E, \($0)" } ?? "no longer specified"
    self.parameters = parameters
    let offsets = FieldOffsets(of: parameters)
    statusOffset = offsets.status
    handleOffset = offsets.handle
    switch validAfterFailure {
    case .asUsual:
      // Parameters behind a status alone are not declared: it is not known whether they are valid.
      self.validAfterFailure = offsets.status == 0 && offsets.offset > 1 ? offsets.validBytes(behind: 1) : nil
      hasHandleAfterFailure = true
    case .status:
      self.validAfterFailure = 1
      hasHandleAfterFailure = false
    case .all:
      self.validAfterFailure = nil
      hasHandleAfterFailure = false
    }
  }

  package static subscript(_ code: HCIEventCode) -> HCIEventInfo? { events[Int(code.rawValue)] }

  package static subscript(_ subevent: LESubevent) -> HCIEventInfo? { leEvents[Int(subevent.rawValue)] }

  /// The places of status and connection handle in the parameters of an event; nil for one that it does not have.
  package struct Offsets: Hashable, Sendable {
    package var status: Int?
    package var handle: Int?
    /// Whether the handle is valid if the status is an error.
    package var hasHandleAfterFailure = true
  }

  package static func offsets(of code: HCIEventCode) -> Offsets {
    offsets(events[Int(code.rawValue)])
  }

  package static func offsets(of subevent: LESubevent) -> Offsets {
    offsets(leEvents[Int(subevent.rawValue)])
  }

  private static func offsets(_ event: HCIEventInfo?) -> Offsets {
    Offsets(
      status: event?.statusOffset, handle: event?.handleOffset,
      hasHandleAfterFailure: event?.hasHandleAfterFailure ?? true)
  }

  /// Which parameters are valid if the status is an error.
  enum Validity {
    /// The status, and a connection handle or an address right behind it.
    case asUsual
    /// The status alone.
    case status
    /// All; the parameters themselves show which of them are invalid.
    case all
  }

  /// A row of the tables of events.
  struct Row<Code: HCICode> where Code.RawValue == UInt8 {
    var code: Code
    var name: String
    /// In Vol 4, Part E; nil if the specification no longer has the event.
    var section: String?
    var parameters: (any PacketFields)?
    var validAfterFailure = Validity.asUsual

    init(
      _ code: Code, _ name: String, _ section: String, _ parameters: (any PacketFields)? = nil,
      validAfterFailure: Validity = .asUsual
    ) {
      self.validAfterFailure = validAfterFailure
      self.code = code
      self.name = name
      self.section = section
      self.parameters = parameters
    }

    /// An event that the stack does not act on.
    init(
      _ code: Code, _ name: String, _ section: String, validAfterFailure: Validity = .asUsual,
      _ fields: [DecodedField]
    ) {
      self.init(code, name, section, DecodedFields(fields), validAfterFailure: validAfterFailure)
    }

    /// An event of older controllers.
    init(withdrawn code: Code, _ name: String) {
      self.code = code
      self.name = name
    }
  }

  private static func table<Code>(_ rows: [Row<Code>]) -> [HCIEventInfo?] {
    var table: [HCIEventInfo?] = Array(repeating: nil, count: 256)
    for row in rows {
      table[Int(row.code.rawValue)] = HCIEventInfo(
        row.name, row.section, row.parameters, validAfterFailure: row.validAfterFailure)
    }
    return table
  }

  private static let events = table(eventRows)

  private static let leEvents = table(leEventRows)
}
