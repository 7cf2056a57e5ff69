import HaloBluetoothCore

/// What to advertise, with the legacy PDUs that every scanner receives (Core Specification Vol 6, Part B, 2.3.1).
public struct Advertising: Hashable, Sendable {
  public let data: LegacyAdvertisingData
  /// What an active scanner gets besides.
  public let scanResponse: LegacyAdvertisingData
  /// Whether a central may connect.
  public var isConnectable = true
  /// The shortest time between two advertising events, before the random delay that the controller adds.
  public var intervalMin = AdvertisingInterval(.milliseconds(100))
  public var intervalMax = AdvertisingInterval(.milliseconds(150))

  /// - Parameters:
  ///   - data: at most 31 bytes when encoded
  ///   - scanResponse: the same
  /// - Returns: nil if one of them is longer
  public init?(_ data: [ADStructure], scanResponse: [ADStructure] = []) {
    let bytes = (AdvertisingData(data).bytes, AdvertisingData(scanResponse).bytes)
    guard max(bytes.0.count, bytes.1.count) <= LegacyAdvertisingData.capacity else { return nil }
    self.data = LegacyAdvertisingData(bytes.0)
    self.scanResponse = LegacyAdvertisingData(bytes.1)
  }
}
