import HaloBluetoothCore

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

extension DecodedBulkFrame {
  fileprivate mutating func takeStatus(_ status: UInt8) {
    form = "status"
    let text = status == 0 ? "0" : "\(status): \(BulkContentsError.meaning(of: status))"
    values = [BulkValue(name: "status", text: text, range: 0..<1, depth: 0)]
  }
}
