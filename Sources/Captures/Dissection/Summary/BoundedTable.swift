/// Values by key, in the order in which the keys came. Bounded: a key that there is no room for is counted only.
struct BoundedTable<Key: Hashable & Sendable, Value: Sendable>: Sendable {
  struct Entry: Sendable {
    let key: Key
    var value: Value
  }

  /// The first entries are compared with a key, which costs less than a hash: most packets of a capture are of few kinds.
  private static var compared: Int { 6 }

  private let capacity: Int
  private(set) var entries: [Entry] = []
  /// The places of the entries that are not compared.
  private var indexes: [Key: Int] = [:]
  /// How often there was no room for a key.
  private(set) var overflow = 0

  init(capacity: Int = CaptureSummary.capacity) { self.capacity = capacity }

  /// The place of a key in ``entries``.
  func index(of key: Key) -> Int? {
    for index in entries.indices.prefix(Self.compared) where entries[index].key == key { return index }
    return entries.count > Self.compared ? indexes[key] : nil
  }

  /// The place of a key in ``entries``; an unknown one gets a value as far as there is room.
  ///
  /// - Returns: nil if there is no room
  mutating func index(of key: Key, default value: @autoclosure () -> Value) -> Int? {
    if let index = index(of: key) { return index }
    guard entries.count < capacity else {
      overflow += 1
      return nil
    }
    if entries.count >= Self.compared { indexes[key] = entries.count }
    entries.append(Entry(key: key, value: value()))
    return entries.count - 1
  }

  subscript(key: Key) -> Value? { index(of: key).map { entries[$0].value } }

  /// The value at a place.
  subscript(at index: Int) -> Value {
    get { entries[index].value }
    _modify { yield &entries[index].value }
  }
}

extension BoundedTable where Value == Int {
  /// Counts a key.
  mutating func count(_ key: Key) {
    if let index = index(of: key, default: 0) { self[at: index] += 1 }
  }

  /// The numbers by the texts of the keys.
  func counts(_ text: (Key) -> String) -> [String: Int] {
    Dictionary(entries.map { (text($0.key), $0.value) }, uniquingKeysWith: +)
  }
}
