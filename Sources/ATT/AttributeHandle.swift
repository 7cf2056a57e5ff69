import HaloBluetoothCore

/// An attribute handle: 0x0001 to 0xFFFF; 0x0000 is reserved (Core Specification Vol 3, Part F, 3.2.2).
@usableFromInline
package struct AttributeHandle: RawRepresentable, Hashable, Sendable, Comparable, FieldCode, TextWritable,
  ExpressibleByIntegerLiteral
{
  @usableFromInline package var rawValue: UInt16

  @usableFromInline package init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  @usableFromInline package init(_ rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// The smallest valid handle.
  package static let first = AttributeHandle(0x0001)
  /// The largest valid handle.
  package static let last = AttributeHandle(0xFFFF)

  /// Whether it is not zero, which the specification reserves (Core Specification Vol 3, Part F, 3.2.2).
  package var isValid: Bool { rawValue != 0 }

  /// The next handle; nil after the last. Discovery continues from it, so it must not wrap.
  package var next: AttributeHandle? {
    rawValue == .max ? nil : AttributeHandle(rawValue + 1)
  }

  @usableFromInline package static func < (left: AttributeHandle, right: AttributeHandle) -> Bool {
    left.rawValue < right.rawValue
  }

  @usableFromInline package init(integerLiteral value: UInt16) {
    self.init(value)
  }

  @usableFromInline package func write(to text: inout TextBuffer) { text.writeHex(rawValue) }
  @usableFromInline package func writeField(to text: inout TextBuffer) { write(to: &text) }
}

/// A range of attribute handles, both ends included.
package struct HandleRange: Hashable, Sendable, TextWritable {
  /// The first handle.
  package var start: AttributeHandle
  /// The last handle.
  package var end: AttributeHandle

  package init(_ start: AttributeHandle, _ end: AttributeHandle) {
    self.start = start
    self.end = end
  }

  /// All valid handles.
  package static let all = HandleRange(.first, .last)

  /// Whether a request may carry it: the start is not zero and not greater than the end (Vol 3, Part F, 3.4.3.1).
  package var isValid: Bool { start.isValid && start <= end }

  package func contains(_ handle: AttributeHandle) -> Bool {
    start <= handle && handle <= end
  }

  package func write(to text: inout TextBuffer) {
    text.write(start)
    text.write("...")
    text.write(end)
  }
}
