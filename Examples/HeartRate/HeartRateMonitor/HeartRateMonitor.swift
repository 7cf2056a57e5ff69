import HaloRaw

/// A heart rate sensor: a chest strap, for example. Any peripheral with the Heart Rate service of the Bluetooth SIG.
@BluetoothActor
public final class HeartRateMonitor {
  public static let service = BluetoothUUID(UInt16(0x180D))
  public static let measurement = BluetoothUUID(UInt16(0x2A37))
  public static let controlPoint = BluetoothUUID(UInt16(0x2A39))
  public static let batteryLevel = BluetoothUUID(UInt16(0x2A19))

  private let connection: GATTLink
  private let characteristics: [Characteristic]

  /// Connects to the device and discovers its service.
  public init(_ peer: BluetoothAddress, on central: Central) async throws {
    connection = try await central.connect(ConnectionRequest(peer: peer))
    guard let service = try await connection.gatt.firstService(Self.service) else {
      throw GATTError.notFound("Heart Rate service")
    }
    characteristics = try await connection.gatt.discoverCharacteristics(of: service)
  }

  /// In percent; nil if the device has no battery level.
  public func battery() async throws -> Int? {
    try await connection.gatt.readFirst(uuid: Self.batteryLevel)?.first.map { Int($0) }
  }

  /// Sets the energy that the device counts to 0 (Heart Rate Service, 3.3.1).
  public func resetEnergy() async throws {
    try await connection.gatt.write([1], to: try find(Self.controlPoint))
  }

  /// The next values, in beats per minute.
  public func heartRates(_ count: Int) async throws -> [Int] {
    var rates: [Int] = []
    let (notifications, _) = try await connection.gatt.notifications(of: try find(Self.measurement))
    for await notification in notifications {
      rates.append(Self.heartRate(notification.value))
      if rates.count == count { break }
    }
    return rates
  }

  /// Bit 0 of the flags: whether the value has 16 bits (Heart Rate Service, 3.1.1.1).
  private static func heartRate(_ value: [UInt8]) -> Int {
    guard value.count >= 3, value[0] & 1 == 1 else { return value.count >= 2 ? Int(value[1]) : 0 }
    return Int(value[1]) | Int(value[2]) << 8
  }

  private func find(_ uuid: BluetoothUUID) throws(GATTError) -> Characteristic {
    guard let found = characteristics.first(where: { $0.uuid == uuid }) else {
      throw .notFound("characteristic \(uuid)")
    }
    return found
  }
}
