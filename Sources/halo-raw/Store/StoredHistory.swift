import RingLink
import RingStore

/// The stored data of the selected ring.
struct StoredHistory {
  private let store: RingStore
  private let ring: RingStore.RingID

  /// - Throws: if there is no such ring in the store, or several
  init(_ invocation: Invocation) throws(Failure) {
    let selector = invocation.positionals.first.map { RingSelector($0) } ?? .anyRing
    let store = try StoreFile.open(invocation, creates: false)
    let all = try storeFailure { () throws(StoreError) in try store.rings() }
    let meant = all.filter { selector.isMeant(name: $0.name, address: $0.address) }
    guard let ring = meant.first, meant.count == 1 else {
      let names = all.map { "\($0.name ?? "(no name)") \($0.address?.description ?? "")" }.joined(
        separator: ", ")
      throw Failure(
        .notFound,
        meant.isEmpty
          ? "no such ring in the store; it has \(names.isEmpty ? "none" : names)"
          : "the store has several rings: \(names); name one")
    }
    self.store = store
    self.ring = ring.id
  }

  /// - Parameter days: nil for all
  func records(_ kind: HistoryKind, in days: ClosedRange<RingDay>? = nil) throws(Failure) -> HistoryRecords {
    try storeFailure { () throws(StoreError) in try store.records(kind, of: ring, in: days) }
  }
}
