import HaloBluetoothCore

/// A request on the bulk characteristics, and its answer; or a bulk frame that a ring sends unsolicited.
package struct BulkQuery<Contents: BulkContents>: CommandRow {
  package let id: BulkID
  /// The id of the answer; most answers have the id of their request.
  package let replyID: BulkID
  package let entry: CommandEntry

  /// - Parameters:
  ///   - replyID: nil for the same as `id`
  ///   - isUnsolicited: whether there is no request for it
  init(
    _ id: BulkID, answeredBy replyID: BulkID? = nil, _ name: String, _ purpose: String,
    isUnsolicited: Bool = false,
    group: CommandEntry.Group = .history, families: Set<RingFamily> = .every, source: String
  ) {
    self.id = id
    self.replyID = replyID ?? id
    var entry = CommandEntry(
      subject: .bulk(id), name: name, purpose: purpose, group: group,
      shape: isUnsolicited ? .event : .bulk,
      requests: isUnsolicited ? [] : [FrameForm(Contents.Request.form)],
      replies: [FrameForm(Contents.form)], families: families, source: source)
    entry.loneContents = Contents.loneContents
    self.entry = entry
  }
}

/// The parameters of a bulk request.
package protocol BulkRequest: Hashable, Sendable {
  /// A description of the payload.
  static var form: String { get }

  /// The encoded payload.
  var payload: [UInt8] { get }

  /// Its values, for tools that show them.
  var explained: [BulkValue] { get }

  /// - Returns: nil if a ring would not understand it
  init?(payload: [UInt8])
}

/// The contents of a bulk frame.
package protocol BulkContents: PacketFields, Hashable {
  /// The type of its request.
  associatedtype Request: BulkRequest

  /// The contents that have one source alone, for the list of these.
  static var loneContents: [String: LoneSource] { get }

  /// Whether a payload of one byte means that there is no data, or is the reason for that.
  static var isNothingAByte: Bool { get }

  init(payload: [UInt8]) throws(BulkContentsError)

  /// Whether this is all that was requested, so that no other frame of the answer follows.
  func isAll(of request: Request) -> Bool

  /// The encoded payload of a ring.
  var payload: [UInt8] { get }
}

extension BulkRequest where Self: PacketFields {
  package var payload: [UInt8] { encoded() }

  package init?(payload: [UInt8]) {
    guard let request = try? Self(whole: payload) else { return nil }
    self = request
  }
}

extension BulkContents {
  package static var loneContents: [String: LoneSource] { [:] }

  /// Most answers give no sign of it.
  package func isAll(of request: Request) -> Bool { false }

  package init(payload: [UInt8]) throws(BulkContentsError) { try self.init(contents: payload) }

  /// A single byte 0 means no data; any other is a status.
  init(contents payload: [UInt8]) throws(BulkContentsError) {
    if payload.count <= 1, Self.isNothingAByte {
      if let status = payload.first, status != 0 { throw .status(status) }
      self.init()
      return
    }
    do throws(DecodeError) {
      try self.init(whole: payload)
    } catch {
      throw BulkContentsError(error)
    }
  }

  package static var isNothingAByte: Bool { true }

  /// One byte 0 if there is no data.
  package var payload: [UInt8] {
    let bytes = encoded()
    return bytes.isEmpty ? [0] : bytes
  }
}

/// Why the payload of a bulk frame cannot be parsed.
package enum BulkContentsError: Error, Hashable, Sendable, CustomStringConvertible {
  /// The payload ends within the item at `offset`.
  case truncated(offset: Int)
  /// The value at `offset` is invalid.
  case value(String, offset: Int)
  /// The ring answers with a status instead.
  case status(UInt8)

  init(_ error: DecodeError) {
    switch error.reason {
    case .truncated: self = .truncated(offset: error.offset)
    case .invalid(let what): self = .value(what, offset: error.offset)
    case .trailing(let count): self = .value("\(count) bytes too many", offset: error.offset)
    }
  }

  package var description: String {
    switch self {
    case .truncated(let offset): "truncated: the item at byte \(offset) is incomplete"
    case .value(let what, let offset): "\(what), at byte \(offset)"
    case .status(let status): "the ring answers with status \(status): \(Self.meaning(of: status))"
    }
  }

  /// The ring reference, 3.
  static func meaning(of status: UInt8) -> String {
    switch status {
    case 1: "wrong size"
    case 2: "wrong content or CRC"
    case 3: "wrong state"
    case 4: "wrong format"
    case 5: "internal error"
    case 6: "battery low"
    default: "unknown"
    }
  }
}

/// A value in the payload of a bulk frame, for tools that show it.
package struct BulkValue: Hashable, Sendable {
  /// `start`; of a record in a list `days 2`.
  package var name: String
  /// `1404 min`; empty for a record whose fields follow.
  package var text: String
  /// In the payload, in bytes.
  package var range: Range<Int>
  /// How many records it is in.
  package var depth: Int
}

/// The interpretation of a bulk frame: the counterpart of ``DecodedFrame``, from the same table.
package struct DecodedBulkFrame: Hashable, Sendable {
  package var id: BulkID
  /// `sleep`; `bulk frame, id 0x49` if the table does not have it.
  package var name: String
  /// `request`, `reply`, `status` or `event`; nil if its contents are not known.
  package var form: String?
  /// In the order of the payload; empty if its contents are not known.
  package var values: [BulkValue] = []

  fileprivate mutating func takeStatus(_ status: UInt8) {
    form = "status"
    let text = status == 0 ? "0" : "\(status): \(BulkContentsError.meaning(of: status))"
    values = [BulkValue(name: "status", text: text, range: 0..<1, depth: 0)]
  }
}

/// A row of the table that describes bulk frames, of any type.
protocol BulkRow: CommandRow {
  var id: BulkID { get }
  var replyID: BulkID { get }
  /// Nil if it is not a request.
  func explainRequest(_ payload: [UInt8]) -> [BulkValue]?
  /// Nil if it cannot be read.
  func explainReply(_ payload: [UInt8]) -> [BulkValue]?
}

extension BulkQuery: BulkRow {
  func explainRequest(_ payload: [UInt8]) -> [BulkValue]? {
    entry.requests.isEmpty ? nil : Contents.Request(payload: payload)?.explained
  }

  func explainReply(_ payload: [UInt8]) -> [BulkValue]? {
    guard let contents = try? Contents(payload: payload) else { return nil }
    // A byte that is not part of the layout.
    if payload.count <= 1, Contents.isNothingAByte {
      return [BulkValue(name: "status", text: "0: no data", range: 0..<payload.count, depth: 0)]
    }
    return contents.explained
  }
}

extension CommandTable {
  private static let bulkQueries = HistoryCommands.shared.bulkRows

  static func name(of id: BulkID) -> String? {
    entries(for: .bulk(id)).first?.name ?? bulkQueries.first { $0.replyID == id }?.entry.name
  }

  /// The meaning of a bulk frame.
  ///
  /// - Parameters:
  ///   - id: of the frame
  ///   - payload: after its CRC was checked
  ///   - isFromRing: requests and answers have the same ids
  package static func meaning(ofBulk id: BulkID, _ payload: [UInt8], isFromRing: Bool) -> DecodedBulkFrame {
    var meaning = DecodedBulkFrame(id: id, name: id.description)
    guard let row = bulkQueries.first(where: { isFromRing ? $0.replyID == id : $0.id == id }) else {
      if isFromRing, payload.count == 1, id.isFirmwareUpdate { meaning.takeStatus(payload[0]) }
      return meaning
    }
    let values = isFromRing ? row.explainReply(payload) : row.explainRequest(payload)
    if let values {
      meaning.values = values
      meaning.form = isFromRing ? row.entry.shape == .event ? "event" : "reply" : "request"
    } else if isFromRing, payload.count == 1 {
      meaning.takeStatus(payload[0])
    }
    return meaning
  }
}
