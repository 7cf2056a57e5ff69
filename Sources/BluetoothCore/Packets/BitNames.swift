/// The names of the bits of a field, for ``FieldStyle/bits(_:)``.
///
/// A class, as each field of its kind refers to the same names.
@usableFromInline package final class BitNames: Sendable {
  /// Where the bits are counted from.
  package enum Numbering: Sendable {
    /// From the lowest bit of the field: `bit 12`.
    case ofField
    /// In each byte: `octet 5, bit 6`.
    case ofOctets
  }

  /// Texts with more names say only how many there are.
  private static let fewNames = 3
  /// The names of bits that are off are in lines of at most this length, in bytes.
  private static let lineLength = 110

  private let names: [Int: String]
  /// The bits to be listed where they are off, in order.
  private let expected: [Int]
  /// The noun for several bits: `events`.
  private let plural: StaticString
  private let numbering: Numbering

  /// - Parameters:
  ///   - names: the names by bit, the least significant bit of the first byte is 0
  ///   - plural: the noun for several bits
  ///   - expected: the bits whose absence is worth showing
  ///   - numbering: how bits are numbered
  package init(
    _ names: [Int: String], plural: StaticString = "bits",
    listingUnset expected: some Sequence<Int> = [Int](),
    numbering: Numbering = .ofField
  ) {
    self.names = names
    self.plural = plural
    self.expected = expected.sorted()
    self.numbering = numbering
  }

  /// The number of bits that are set.
  private static func count(in bytes: RawSpan) -> Int {
    var count = 0
    for index in 0..<bytes.byteCount {
      count += bytes.unsafeLoad(fromByteOffset: index, as: UInt8.self).nonzeroBitCount
    }
    return count
  }

  /// The bits that are set in a field, in order; little-endian.
  private static func set(in bytes: RawSpan) -> [Int] {
    (0..<bytes.byteCount * 8).filter { isSet($0, in: bytes) }
  }

  private static func isSet(_ bit: Int, in bytes: RawSpan) -> Bool {
    bytes.byte(at: bit / 8).map { $0 >> UInt8(bit % 8) & 1 == 1 } ?? false
  }

  private func name(_ bit: Int) -> String { names[bit] ?? "reserved" }

  /// Writes how many bits are set; the names, if they are few.
  func writeSummary(of bytes: RawSpan, to text: inout TextBuffer) {
    let count = Self.count(in: bytes)
    guard count <= Self.fewNames else {
      text.write(count)
      text.write(" ")
      return text.write(plural)
    }
    if count == 0 { return text.write("none") }
    for (index, bit) in Self.set(in: bytes).enumerated() {
      if index > 0 { text.write(" + ") }
      text.write(names[bit] ?? "bit \(bit)")
    }
  }

  /// Adds a field for each bit that is set, and fields with the names of those that should be known to be off.
  ///
  /// - Parameters:
  ///   - bytes: the field
  ///   - offset: where the field begins, in the bytes that ranges refer to
  ///   - list: receives the fields
  func list(_ bytes: RawSpan, at offset: Int, reference: Int, depth: Int, to list: FieldList) {
    for bit in Self.set(in: bytes) {
      let start = offset + bit / 8
      list.add(start..<start + 1, reference: reference, depth: depth) {
        $0.write(label(bit))
      } value: {
        $0.write(name(bit))
      }
    }
    for line in lines(expected.filter { !Self.isSet($0, in: bytes) }.map(name)) {
      list.add(offset..<offset, reference: reference, depth: depth) {
        $0.write("off")
      } value: {
        $0.write(line)
      }
    }
  }

  /// Names with commas between them, in lines that are not too long.
  private func lines(_ names: [String]) -> [String] {
    var lines: [String] = []
    for name in names {
      if let last = lines.last, last.utf8.count + 2 + name.utf8.count <= Self.lineLength {
        lines[lines.count - 1] = "\(last), \(name)"
      } else {
        lines.append(name)
      }
    }
    return lines
  }

  private func label(_ bit: Int) -> String {
    switch numbering {
    case .ofField: "bit \(bit)"
    case .ofOctets: "octet \(bit / 8), bit \(bit % 8)"
    }
  }
}
