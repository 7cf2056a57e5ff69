import ATT

/// Values that wait to be sent to a client, in their order: bounded in number and in bytes.
struct ValueQueue {
  /// The most that wait.
  static let valueLimit = 16
  /// The most bytes that wait.
  static let byteLimit = 4096

  private var waiting: [(handle: AttributeHandle, value: [UInt8])] = []
  private var byteCount = 0

  var isEmpty: Bool { waiting.isEmpty }

  /// - Parameter replacing: whether it takes the place of a value of the same attribute that waits
  /// - Returns: whether there was room
  mutating func append(_ value: [UInt8], of handle: AttributeHandle, replacing: Bool = false) -> Bool {
    let place = replacing ? waiting.firstIndex { $0.handle == handle } : nil
    let others = byteCount - (place.map { waiting[$0].value.count } ?? 0)
    guard others + value.count <= Self.byteLimit else { return false }
    if let place {
      waiting[place].value = value
    } else {
      guard waiting.count < Self.valueLimit else { return false }
      waiting.append((handle, value))
    }
    byteCount = others + value.count
    return true
  }

  mutating func takeNext() -> (handle: AttributeHandle, value: [UInt8])? {
    guard !waiting.isEmpty else { return nil }
    let next = waiting.removeFirst()
    byteCount -= next.value.count
    return next
  }

  /// Drops the values of the other attributes.
  mutating func keep(_ isWanted: (AttributeHandle) -> Bool) {
    waiting.removeAll { !isWanted($0.handle) }
    byteCount = waiting.reduce(0) { $0 + $1.value.count }
  }
}
