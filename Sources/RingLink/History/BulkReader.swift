/// A cursor over the payload of a bulk frame.
struct BulkReader {
  private let bytes: [UInt8]
  private var offset = 0

  init(_ bytes: [UInt8]) {
    self.bytes = bytes
  }

  var isAtEnd: Bool { offset >= bytes.count }

  /// Whether the payload is empty, or the one byte that stands for nothing.
  ///
  /// - Throws: `.status` if it is a lonely byte of another kind
  func isNothing() throws(BulkContentsError) -> Bool {
    guard bytes.count <= 1 else { return false }
    if let status = bytes.first, status != 0 { throw .status(status) }
    return true
  }

  mutating func uint8() throws(BulkContentsError) -> UInt8 {
    guard offset < bytes.count else { throw .truncated(offset: offset) }
    defer { offset += 1 }
    return bytes[offset]
  }

  /// Little-endian.
  mutating func uint16() throws(BulkContentsError) -> UInt16 {
    guard offset + 1 < bytes.count else { throw .truncated(offset: offset) }
    return UInt16(try uint8()) | UInt16(try uint8()) << 8
  }

  mutating func take(_ count: Int) throws(BulkContentsError) -> [UInt8] {
    guard count >= 0, bytes.count - offset >= count else { throw .truncated(offset: offset) }
    defer { offset += count }
    return Array(bytes[offset..<offset + count])
  }

  func expectEnd() throws(BulkContentsError) {
    if !isAtEnd { throw invalid("\(bytes.count - offset) bytes too many") }
  }

  func invalid(_ what: String) -> BulkContentsError { .value(what, offset: offset) }

  static func bytes(_ number: UInt16) -> [UInt8] { [UInt8(truncatingIfNeeded: number), UInt8(number >> 8)] }
}
