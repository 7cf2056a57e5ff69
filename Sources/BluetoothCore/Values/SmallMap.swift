/// A dictionary of few entries, which are compared one by one: finding one of a few keys takes 20 instructions, where
/// hashing a key takes 190. For look-ups on the way of every packet.
@frozen
@usableFromInline package struct SmallMap<Key: Equatable, Value> {
  @usableFromInline var entries: [(key: Key, value: Value)] = []

  @inlinable
  package init() {}

  /// The value of a key; nil if there is none.
  @inlinable
  package subscript(key: Key) -> Value? {
    get {
      for index in entries.indices where entries[index].key == key { return entries[index].value }
      return nil
    }
    set {
      let index = entries.firstIndex { $0.key == key }
      switch (index, newValue) {
      case (let index?, let value?): entries[index].value = value
      case (let index?, nil): entries.remove(at: index)
      case (nil, let value?): entries.append((key, value))
      case (nil, nil): break
      }
    }
  }

  /// The keys, in the order in which they were added.
  package var keys: [Key] { entries.map(\.key) }

  /// The values, in the order in which their keys were added.
  package var values: [Value] { entries.map(\.value) }
}
