import ATT
import HaloBluetoothCore

/// Attributes in the order of their handles, and the handles of each type. Every search takes a number of steps that is
/// the logarithm of the number of attributes.
struct AttributeIndex<Entry> {
  private(set) var handles: [AttributeHandle] = []
  private(set) var entries: [Entry] = []
  private var byType: [BluetoothUUID: [AttributeHandle]] = [:]

  /// Adds an attribute behind all others.
  ///
  /// - Returns: whether its handle was above those of all others; if not, nothing is added
  mutating func append(_ entry: Entry, _ handle: AttributeHandle, _ type: BluetoothUUID) -> Bool {
    guard handles.last.map({ $0 < handle }) ?? handle.isValid else { return false }
    handles.append(handle)
    entries.append(entry)
    byType[type, default: []].append(handle)
    return true
  }

  /// Removes all attributes in a range.
  mutating func remove(_ range: HandleRange) {
    let places = self.places(in: range)
    handles.removeSubrange(places)
    entries.removeSubrange(places)
    for type in byType.keys {
      guard let all = byType[type] else { continue }
      let places = all.places(in: range)
      if places.count == all.count { byType[type] = nil } else { byType[type]?.removeSubrange(places) }
    }
  }

  /// The attribute with a handle; nil if there is none.
  subscript(handle: AttributeHandle) -> Entry? {
    place(of: handle).map { entries[$0] }
  }

  /// Changes the attribute with a handle in its place; nothing if there is none.
  mutating func change(_ handle: AttributeHandle, _ body: (inout Entry) -> Void) {
    if let place = place(of: handle) { body(&entries[place]) }
  }

  /// A part of the attribute with a handle, without a copy of the rest; nil if there is none.
  func part<Part>(of handle: AttributeHandle, _ path: (borrowing Entry) -> Part) -> Part? {
    place(of: handle).map { path(entries[$0]) }
  }

  private func place(of handle: AttributeHandle) -> Int? {
    let place = handles.firstPlace { $0 >= handle }
    return place < handles.count && handles[place] == handle ? place : nil
  }

  /// The places of the attributes in a range of handles.
  func places(in range: HandleRange) -> Range<Int> { handles.places(in: range) }

  /// The attributes of a type in a range of handles.
  func handles(of type: BluetoothUUID, in range: HandleRange = .all) -> ArraySlice<AttributeHandle> {
    guard let all = byType[type] else { return [] }
    return all[all.places(in: range)]
  }
}

extension [AttributeHandle] {
  /// The first place, in a sorted list, for which a condition holds that holds for all behind it; the count if there is
  /// none.
  func firstPlace(where isBehind: (AttributeHandle) -> Bool) -> Int {
    var (low, high) = (0, count)
    while low < high {
      let middle = (low + high) / 2
      if isBehind(self[middle]) { high = middle } else { low = middle + 1 }
    }
    return low
  }

  /// The places, in a sorted list, of the handles in a range.
  func places(in range: HandleRange) -> Range<Int> {
    let start = firstPlace { $0 >= range.start }
    return start..<Swift.max(start, firstPlace { $0 > range.end })
  }
}
