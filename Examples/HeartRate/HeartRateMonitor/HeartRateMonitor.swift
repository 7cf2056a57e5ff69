import HaloRaw

/// A heart rate sensor: a chest strap, for example. Any peripheral with the Heart Rate service of the Bluetooth SIG.
public struct HeartRateMonitor: Sendable {
  public static let service = BluetoothUUID(UInt16(0x180D))
  public static let measurement = CharacteristicID<HeartRateMeasurement>.heartRateMeasurement
  public static let controlPoint = CharacteristicID<[UInt8]>(0x2A39, in: service)

  private let connection: Connection

  public init(_ connection: Connection) {
    self.connection = connection
  }

  /// In percent; nil if the device has no battery level.
  public func battery() async throws -> Int? {
    do {
      return Int(try await connection.read(.batteryLevel).value)
    } catch BluetoothError.Code.notFound {
      return nil
    }
  }

  /// Sets the energy that the device counts to 0 (Heart Rate Service, 3.3.1).
  public func resetEnergy() async throws {
    try await connection.write([1], to: Self.controlPoint)
  }

  /// The next values, in beats per minute.
  public func heartRates(_ count: Int) async throws -> [Int] {
    var rates: [Int] = []
    for try await beat in connection.values(of: Self.measurement) {
      rates.append(Int(beat.value.beatsPerMinute))
      if rates.count == count { break }
    }
    return rates
  }
}
