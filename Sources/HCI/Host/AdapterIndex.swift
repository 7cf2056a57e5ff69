/// The kernel's number for a Bluetooth adapter: 0 is `hci0`.
public struct AdapterIndex: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt16

  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// No adapter: the value for all adapters, or for none.
  public static let none = AdapterIndex(rawValue: 0xFFFF)

  /// Parses `hci0`; nil for any other form.
  public init?(_ text: some StringProtocol) {
    guard text.hasPrefix("hci"), let number = UInt16(text.dropFirst(3)), number != Self.none.rawValue,
      text.dropFirst(3) == "\(number)"
    else { return nil }
    self.init(rawValue: number)
  }
}

extension AdapterIndex: Comparable {
  public static func < (left: AdapterIndex, right: AdapterIndex) -> Bool { left.rawValue < right.rawValue }
}

extension AdapterIndex: CustomStringConvertible {
  public var description: String { "hci\(rawValue)" }
}
