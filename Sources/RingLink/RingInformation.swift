import BluetoothCore

/// The strings of the Device Information service; nil for those that a ring does not have.
public struct RingInformation: Hashable, Sendable {
  public var model: String?
  public var serialNumber: String?
  public var firmwareRevision: String?
  public var hardwareRevision: String?
  public var softwareRevision: String?

  public init() {}

  /// What decides how the ring behaves.
  public var revisions: RingFirmware {
    RingFirmware(firmwareRevision: firmwareRevision, hardwareRevision: hardwareRevision)
  }

  static var fields: [BluetoothUUID: WritableKeyPath<RingInformation, String?>] {
    [
      RingGATT.modelNumber: \.model, RingGATT.serialNumber: \.serialNumber,
      RingGATT.firmwareRevision: \.firmwareRevision, RingGATT.hardwareRevision: \.hardwareRevision,
      RingGATT.softwareRevision: \.softwareRevision,
    ]
  }
}
