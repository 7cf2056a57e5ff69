import BluetoothCore

/// What a bulk frame is about. ``CommandTable`` knows what each is for.
public struct BulkID: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Comes by itself with the answer to a request for sleep.
  public static let nap: BulkID = 0x3E

  /// Ids 1 to 5 overwrite the ring's firmware, and can leave it dead.
  public var isFirmwareUpdate: Bool { (1...5).contains(rawValue) }
}

extension BulkID: ExpressibleByIntegerLiteral {
  public init(integerLiteral value: UInt8) {
    self.init(rawValue: value)
  }
}

extension BulkID: CustomStringConvertible {
  /// The name in the command table.
  public var description: String {
    CommandTable.entries(for: .bulk(self)).first?.name ?? "bulk id \(Hex.string(rawValue))"
  }
}
