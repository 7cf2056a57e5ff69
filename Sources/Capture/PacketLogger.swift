/// Apple's PacketLogger format (.pklg).
public enum PacketLogger {
  /// What a record is.
  public struct RecordType: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }
  }
}
