import HaloBluetoothCore

/// What to advertise, with the legacy PDUs that every scanner receives (Core Specification Vol 6, Part B, 2.3.1).
package struct Advertising: Hashable, Sendable {
  package let data: LegacyAdvertisingData
  /// What an active scanner gets besides.
  package let scanResponse: LegacyAdvertisingData
  /// Whether a central may connect.
  package var isConnectable = true
  /// The shortest time between two advertising events, before the random delay that the controller adds.
  package var intervalMin = AdvertisingInterval(.milliseconds(100))
  package var intervalMax = AdvertisingInterval(.milliseconds(150))

  /// - Parameters:
  ///   - data: at most 31 bytes when encoded
  ///   - scanResponse: the same
  /// - Returns: nil if one of them is longer
  package init?(_ data: [ADStructure], scanResponse: [ADStructure] = []) {
    let bytes = (AdvertisingData(data).bytes, AdvertisingData(scanResponse).bytes)
    guard max(bytes.0.count, bytes.1.count) <= LegacyAdvertisingData.capacity else { return nil }
    self.data = LegacyAdvertisingData(bytes.0)
    self.scanResponse = LegacyAdvertisingData(bytes.1)
  }
}
