/// Invalid input: the offset and the reason.
public struct DecodeError: Error, Hashable, Sendable {
  /// Why the bytes can't be decoded.
  public enum Reason: Hashable, Sendable {
    /// A field needs `needed` bytes, but only `available` remain.
    case truncated(needed: Int, available: Int)
    /// A field has a value that the specification does not allow.
    case invalid(String)
    /// Bytes follow the last field.
    case trailing(count: Int)
  }

  /// Offset of the field from the start of the decoded bytes.
  public var offset: Int
  /// Why the field can't be decoded.
  public var reason: Reason

  public init(offset: Int, reason: Reason) {
    self.offset = offset
    self.reason = reason
  }
}

extension DecodeError: CustomStringConvertible {
  public var description: String {
    switch reason {
    case .truncated(let needed, let available):
      "cut off at byte \(offset): \(needed) bytes needed, \(available) left"
    case .invalid(let what):
      "byte \(offset): \(what)"
    case .trailing(let count):
      "\(count) bytes left over at byte \(offset)"
    }
  }
}
