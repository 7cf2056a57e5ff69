/// The kernel's number for a Bluetooth adapter: 0 is `hci0`.
package struct AdapterIndex: RawRepresentable, Hashable, Sendable, Comparable, CustomStringConvertible {
  package var rawValue: UInt16

  package init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// No adapter: the value for all adapters, or for none.
  package static let none = AdapterIndex(rawValue: 0xFFFF)

  /// Parses `hci0`; nil for any other form.
  package init?(_ text: some StringProtocol) {
    guard text.hasPrefix("hci"), let number = UInt16(text.dropFirst(3)), number != Self.none.rawValue,
      text.dropFirst(3) == "\(number)"
    else { return nil }
    self.init(rawValue: number)
  }

  package static func < (left: AdapterIndex, right: AdapterIndex) -> Bool { left.rawValue < right.rawValue }

  package var description: String { "hci\(rawValue)" }
}
