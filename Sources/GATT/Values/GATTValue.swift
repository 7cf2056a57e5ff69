import HaloBluetoothCore

/// A value of an attribute with a meaning: it is parsed from bytes and written to bytes.
///
/// What was parsed from the bytes that were written is the same value.
public protocol GATTValue: Sendable {
  /// Reads a whole value.
  ///
  /// - Parameter bytes: the value of the attribute, least significant byte of each number first
  /// - Throws: bytes that are missing, left over, or not allowed
  init(parsing bytes: RawSpan) throws(DecodeError)

  /// The value of the attribute.
  var encoded: [UInt8] { get }
}

/// Bytes that only the program knows the meaning of.
extension [UInt8]: GATTValue {
  public init(parsing bytes: RawSpan) throws(DecodeError) { self.init(bytes) }

  public var encoded: [UInt8] { self }
}

/// Text in UTF-8, without a zero at its end (Core Specification Vol 3, Part G, 3.3.3.2; Part C, 12.1).
extension String: GATTValue {
  /// - Throws: bytes that are not UTF-8. For the text of a device that may send anything, `String(printable:)` repairs
  ///   it.
  public init(parsing bytes: RawSpan) throws(DecodeError) {
    guard let text = String(validating: Array(bytes), as: UTF8.self) else {
      throw DecodeError(offset: 0, reason: .invalid("not UTF-8"))
    }
    self = text
  }

  public var encoded: [UInt8] { Array(utf8) }
}

/// A value that a reader reads from its start to its end.
protocol FixedValue: GATTValue {
  init(reading reader: inout ByteReader) throws(DecodeError)
}

extension FixedValue {
  // Swift 6.2 fails when it specializes a function with a span for each type.
  @_semantics("optimize.sil.specialize.generic.never")
  public init(parsing bytes: RawSpan) throws(DecodeError) {
    var reader = ByteReader(bytes)
    try self.init(reading: &reader)
    try reader.expectEnd()
  }
}
