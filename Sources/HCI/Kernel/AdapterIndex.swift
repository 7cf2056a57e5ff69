/// The kernel's number for a Bluetooth adapter: 0 is `hci0`.
public struct AdapterIndex: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt16

  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// Where an adapter is meant to be and there is none: all of them, or nobody's.
  public static let none = AdapterIndex(rawValue: 0xFFFF)

  /// Reads `hci0`; nil if it is written otherwise.
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
