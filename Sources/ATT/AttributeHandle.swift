import HaloBluetoothCore

/// An attribute handle: 0x0001 to 0xFFFF; 0x0000 is reserved (Core Specification Vol 3, Part F, 3.2.2).
public struct AttributeHandle: RawRepresentable, Hashable, Sendable, Comparable {
  public var rawValue: UInt16

  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  public init(_ rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// The smallest valid handle.
  public static let first = AttributeHandle(0x0001)
  /// The largest valid handle.
  public static let last = AttributeHandle(0xFFFF)

  /// Whether it is not zero, which the specification reserves (Core Specification Vol 3, Part F, 3.2.2).
  public var isValid: Bool { rawValue != 0 }

  /// The next handle; nil after the last. Discovery continues from it, so it must not wrap.
  public var next: AttributeHandle? {
    rawValue == .max ? nil : AttributeHandle(rawValue + 1)
  }

  public static func < (left: AttributeHandle, right: AttributeHandle) -> Bool {
    left.rawValue < right.rawValue
  }
}

extension AttributeHandle: FieldCode, TextWritable, ExpressibleByIntegerLiteral {
  public init(integerLiteral value: UInt16) {
    self.init(value)
  }

  public func write(to text: inout TextBuffer) { text.writeHex(rawValue) }
  public func writeField(to text: inout TextBuffer) { write(to: &text) }
}

/// A range of attribute handles, both ends included.
public struct HandleRange: Hashable, Sendable {
  /// The first handle.
  public var start: AttributeHandle
  /// The last handle.
  public var end: AttributeHandle

  public init(_ start: AttributeHandle, _ end: AttributeHandle) {
    self.start = start
    self.end = end
  }

  /// All valid handles.
  public static let all = HandleRange(.first, .last)

  /// Whether a request may carry it: the start is not zero and not greater than the end (Vol 3, Part F, 3.4.3.1).
  public var isValid: Bool { start.isValid && start <= end }

  /// Whether the range has the handle.
  public func contains(_ handle: AttributeHandle) -> Bool {
    start <= handle && handle <= end
  }
}

extension HandleRange: TextWritable {
  public func write(to text: inout TextBuffer) {
    text.write(start)
    text.write("...")
    text.write(end)
  }
}
