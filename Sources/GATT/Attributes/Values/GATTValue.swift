import HaloBluetoothCore

/// A value of an attribute with a meaning: it is parsed from bytes and written to bytes.
///
/// A value parsed from its written bytes is the same value.
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

/// Text in UTF-8 (Core Specification Vol 3, Part G, 3.3.3.2; Part C, 12.1).
///
/// Zeros at the end are left out, as firmware sends the strings of C with theirs. Bytes that are not UTF-8 are taken as
/// Latin-1, which some firmware sends.
extension String: GATTValue {
  /// - Throws: bytes that are no text. Read the value as `[UInt8]` then.
  public init(parsing bytes: RawSpan) throws(DecodeError) {
    guard let text = String(text: Array(bytes)) else {
      throw DecodeError(offset: 0, reason: .invalid("no text"))
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
