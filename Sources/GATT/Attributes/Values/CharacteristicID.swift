import HaloBluetoothCore

/// A characteristic of a service, with the type of its value.
public struct CharacteristicID<Value: GATTValue>: Hashable, Sendable {
  /// The type of the characteristic.
  public let uuid: BluetoothUUID
  /// The type of the service that has it.
  public let service: BluetoothUUID
  /// Which one of several of that type: counted from 0 over all services of that type, in the order of their handles.
  public let instance: Int

  /// - Parameters:
  ///   - uuid: the type of the characteristic
  ///   - service: the type of the service that has it
  public init(_ uuid: BluetoothUUID, in service: BluetoothUUID) {
    self.init(uuid, service, instance: 0)
  }

  private init(_ uuid: BluetoothUUID, _ service: BluetoothUUID, instance: Int) {
    self.uuid = uuid
    self.service = service
    self.instance = instance
  }

  /// Another one of the same type, in a device that has several: the second temperature is `instance(1)`.
  ///
  /// - Parameter number: counted from 0
  public func instance(_ number: Int) -> Self { Self(uuid, service, instance: max(0, number)) }
}

extension CharacteristicID: CustomStringConvertible {
  /// Both UUIDs: `2A19 in 180F`, `2A6E in 181A (1)` for the second one.
  public var description: String { "\(uuid) in \(service)" + (instance == 0 ? "" : " (\(instance))") }
}

extension CharacteristicID where Value == Percent {
  /// How full the battery is (Battery Service 1.1, 3.1).
  public static var batteryLevel: Self { Self(GATTUUID.batteryLevel, in: 0x180F) }
}

extension CharacteristicID where Value == Celsius {
  /// A temperature of the surroundings (Environmental Sensing Service 1.0, 3.1).
  public static var temperature: Self { Self(0x2A6E, in: 0x181A) }
}

extension CharacteristicID where Value == HeartRateMeasurement {
  /// Heart rate and times between beats (Heart Rate Service 1.0, 3.1).
  public static var heartRateMeasurement: Self { Self(0x2A37, in: 0x180D) }
}

extension CharacteristicID where Value == String {
  /// The name of the device (Core Specification Vol 3, Part C, 12.1).
  public static var deviceName: Self { Self(GATTUUID.deviceName, in: GATTUUID.genericAccess) }
  /// The name of the maker (Device Information Service 1.2, 3.1).
  public static var manufacturerName: Self { Self(0x2A29, in: GATTUUID.deviceInformation) }
  /// The maker's number of the model (Device Information Service 1.2, 3.2).
  public static var modelNumber: Self { Self(0x2A24, in: GATTUUID.deviceInformation) }
  /// The number of this one device (Device Information Service 1.2, 3.3).
  public static var serialNumber: Self { Self(0x2A25, in: GATTUUID.deviceInformation) }
  /// The revision of the hardware (Device Information Service 1.2, 3.4).
  public static var hardwareRevision: Self { Self(0x2A27, in: GATTUUID.deviceInformation) }
  /// The revision of the firmware (Device Information Service 1.2, 3.5).
  public static var firmwareRevision: Self { Self(0x2A26, in: GATTUUID.deviceInformation) }
  /// The revision of the software (Device Information Service 1.2, 3.6).
  public static var softwareRevision: Self { Self(0x2A28, in: GATTUUID.deviceInformation) }
}

extension CharacteristicID where Value == AppearanceValue {
  /// The device's external appearance (Core Specification Vol 3, Part C, 12.2).
  public static var appearance: Self { Self(GATTUUID.appearance, in: GATTUUID.genericAccess) }
}

extension CharacteristicID where Value == PreferredConnectionParameters {
  /// The connection that the device prefers (Core Specification Vol 3, Part C, 12.3).
  public static var preferredConnectionParameters: Self {
    Self(GATTUUID.preferredConnectionParameters, in: GATTUUID.genericAccess)
  }
}

extension CharacteristicID where Value == PnPID {
  /// Who has made the device, and which it is (Device Information Service 1.2, 3.9).
  public static var pnpID: Self { Self(0x2A50, in: GATTUUID.deviceInformation) }
}

/// A value of an attribute with a meaning: it is parsed from bytes and written to bytes.
///
/// A value parsed from its written bytes is the same value.
public protocol GATTValue: Sendable {
  /// Reads a whole value.
  ///
  /// - Parameter bytes: the value of the attribute, least significant byte of each number first
  /// - Throws: bytes that are missing, left over, or not allowed
  init(parsing bytes: RawSpan) throws(DecodeError)

  /// The value of the attribute.
  var encoded: [UInt8] { get }
}

/// Bytes that only the program knows the meaning of.
extension [UInt8]: GATTValue {
  public init(parsing bytes: RawSpan) throws(DecodeError) { self.init(bytes) }

  public var encoded: [UInt8] { self }
}

/// Text in UTF-8 (Core Specification Vol 3, Part G, 3.3.3.2; Part C, 12.1).
///
/// Zeros at the end are left out, as firmware sends the strings of C with theirs. Bytes that are not UTF-8 are taken as
/// Latin-1, which some firmware sends.
extension String: GATTValue {
  /// - Throws: bytes that are no text. Read the value as `[UInt8]` then.
  public init(parsing bytes: RawSpan) throws(DecodeError) {
    guard let text = String(text: Array(bytes)) else {
      throw DecodeError(offset: 0, reason: .invalid("no text"))
    }
    self = text
  }

  public var encoded: [UInt8] { Array(utf8) }
}

/// A value that a reader reads from its start to its end.
protocol FixedValue: GATTValue {
  init(reading reader: inout ByteReader) throws(DecodeError)
}

extension FixedValue {
  // Swift 6.2 fails when it specializes a function with a span for each type.
  @_semantics("optimize.sil.specialize.generic.never")
  public init(parsing bytes: RawSpan) throws(DecodeError) {
    var reader = ByteReader(bytes)
    try self.init(reading: &reader)
    try reader.expectEnd()
  }
}
