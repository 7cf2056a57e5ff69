import HaloBluetoothCore

/// A part of a bulk payload that is a row of such parts: a night, a day, a session.
package protocol StoredItem: PacketFields, Hashable {
  associatedtype Request: BulkRequest

  /// The name of each.
  static var name: StaticString { get }

  /// The name of the byte with their number; nil if they go up to the end.
  static var countName: StaticString? { get }

  /// See ``BulkContents/loneContents``.
  static var loneContents: [String: LoneSource] { get }

  /// Whether these are all that was requested, so that no other frame of the answer follows.
  static func areAll(_ items: [Self], of request: Request) -> Bool
}

extension StoredItem {
  package static var name: StaticString { "days" }
  package static var countName: StaticString? { nil }
  package static var loneContents: [String: LoneSource] { [:] }

  /// Most answers give no sign of it.
  package static func areAll(_ items: [Self], of request: Request) -> Bool { false }
}

/// The items that a ring has stored.
package struct StoredLog<Item: StoredItem>: BulkContents {
  package typealias Request = Item.Request

  package var items: [Item] = []
  /// The bytes behind the last item that can be read.
  package var unread: [UInt8] = []

  package init() {}

  package init(_ items: [Item]) { self.items = items }

  package static var loneContents: [String: LoneSource] { Item.loneContents }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.items(Item.name, &items, counted: Item.countName, unread: &unread)
  }

  package func isAll(of request: Request) -> Bool { Item.areAll(items, of: request) }
}

extension RingClient {
  /// The stored items of all frames of an answer. The bytes that are no items are reported as an odd record.
  ///
  /// - Parameter reason: why these bytes are left out
  func stored<Item>(
    _ kind: HistoryKind, _ query: BulkQuery<StoredLog<Item>>, _ request: Item.Request,
    unread reason: String = "it is cut off", progress: ((Int, Int) -> Void)?
  ) async throws(RingError) -> [Item] {
    let logs = try await bulk(query, request, progress: progress)
    for log in logs where !log.unread.isEmpty { leaveOut(kind, reason, log.unread) }
    return logs.flatMap(\.items)
  }
}
