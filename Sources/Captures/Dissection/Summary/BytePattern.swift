/// A pattern of several values: their first bytes, with those that vary.
package struct BytePattern: Hashable, Sendable {
  /// The first bytes of each value that are compared.
  static let capacity = 64

  /// The number of values.
  package private(set) var count = 0
  /// The first value, as far as all are as long and compared.
  package private(set) var bytes: [UInt8] = []
  /// The lengths of the values, in bytes.
  package private(set) var lengths = 0...0
  private var varying: UInt64 = 0

  package init() {}

  /// Adds a value that occurs `times`.
  mutating func add(_ value: RawSpan, length: Int, times: Int = 1) {
    if count == 0 {
      bytes = Array(value.extracting(first: Self.capacity))
      lengths = length...length
    } else {
      let common = min(bytes.count, value.byteCount)
      for place in 0..<common where bytes[place] != value.byte(at: place) {
        varying |= 1 << UInt64(place)
      }
      if bytes.count > common { bytes.removeLast(bytes.count - common) }
      lengths = min(lengths.lowerBound, length)...max(lengths.upperBound, length)
    }
    count += times
  }

  /// Adds the values of another one.
  mutating func add(_ other: BytePattern) {
    add(other.bytes.span.bytes, length: other.lengths.lowerBound, times: other.count)
    lengths = lengths.lowerBound...max(lengths.upperBound, other.lengths.upperBound)
    varying |= other.varying
  }

  /// Whether a byte differs among the values.
  package func varies(_ index: Int) -> Bool { index < Self.capacity && varying >> UInt64(index) & 1 == 1 }

  /// The places of the bytes that differ, from 0, of those that are compared.
  package var varyingBytes: [Int] { bytes.indices.filter(varies) }
}
