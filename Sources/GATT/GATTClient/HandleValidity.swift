import ATT

/// Tracks which handles are still valid since they were discovered (Core Specification Vol 3, Part G, 7.1).
///
/// Attributes discovered before a change of their range are not used again, even if another attribute was discovered
/// since at the same handle. Handles that a program passes as numbers are valid again once a service around them was
/// discovered after the change.
struct HandleValidity {
  private struct Change {
    var number: Int
    var range: HandleRange
  }

  /// Limits the memory used for a server that keeps changing.
  private static let maximumChanges = 32

  /// The number of changes that the server has indicated.
  private(set) var changeCount = 0
  private var changes: [Change] = []
  /// The changed ranges that have not been discovered since.
  private var unknown: [HandleRange] = []

  mutating func change(_ range: HandleRange) {
    changeCount += 1
    if changes.count == Self.maximumChanges { changes = [Change(number: changeCount, range: .all)] }
    changes.append(Change(number: changeCount, range: range))
    unknown = unknown.count < Self.maximumChanges ? unknown + [range] : [.all]
  }

  /// A service was discovered, by a procedure that began after `count` changes.
  mutating func discovered(_ range: HandleRange, after count: Int) {
    guard !hasChanged(range, since: count) else { return }
    let rest = unknown.flatMap { $0.subtracting(range) }
    if rest.count <= 2 * Self.maximumChanges { unknown = rest }
  }

  /// Whether a part of a range has changed since the first `count` changes.
  func hasChanged(_ range: HandleRange, since count: Int) -> Bool {
    changes.contains { $0.number > count && $0.range.overlaps(range) }
  }

  /// Whether a handle that was given as a number may not be used.
  func isUnknown(_ handle: AttributeHandle) -> Bool {
    unknown.contains { $0.contains(handle) }
  }
}

extension HandleRange {
  func overlaps(_ other: HandleRange) -> Bool { start <= other.end && other.start <= end }

  /// The rest of the range: none, one or two ranges.
  func subtracting(_ other: HandleRange) -> [HandleRange] {
    guard overlaps(other) else { return [self] }
    var rest: [HandleRange] = []
    if start < other.start {
      rest.append(HandleRange(start, AttributeHandle(other.start.rawValue - 1)))
    }
    if let next = other.end.next, next <= end { rest.append(HandleRange(next, end)) }
    return rest
  }
}
