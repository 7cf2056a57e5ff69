import ATT
import HaloGATT
import HaloBluetoothCore

/// The services and characteristics of a ring (ring reference, 1.2).
///
/// The command service is sometimes taken for the Nordic UART because its characteristics have the same
/// numbers. Its service UUID is another one.
package enum RingGATT {
  /// Primary service for the 16-byte frames.
  package static let commandService = BluetoothUUID(0x6E40_FFF0_B5A3_F393_E0A9_E50E_24DC_CA9E as UInt128)
  /// Host to ring: write, with or without response.
  package static let commandWrite = BluetoothUUID(0x6E40_0002_B5A3_F393_E0A9_E50E_24DC_CA9E as UInt128)
  /// Ring to host: notify, always 16 bytes.
  package static let commandNotify = BluetoothUUID(0x6E40_0003_B5A3_F393_E0A9_E50E_24DC_CA9E as UInt128)

  /// Primary service for ``BulkFrame``s, and for firmware updates, which this package never sends.
  package static let bulkService = BluetoothUUID(0xDE5B_F728_D711_4E47_AF26_65E3_012A_5DC7 as UInt128)
  /// Host to ring: write without response.
  package static let bulkWrite = BluetoothUUID(0xDE5B_F72A_D711_4E47_AF26_65E3_012A_5DC7 as UInt128)
  /// Ring to host: notify, in pieces.
  package static let bulkNotify = BluetoothUUID(0xDE5B_F729_D711_4E47_AF26_65E3_012A_5DC7 as UInt128)

  /// A service that rings have, and some advertise; its purpose is not known.
  package static let unknownService = BluetoothUUID(0x3802 as UInt16)

  /// Whether a write to a characteristic with this UUID makes a ring do something.
  package static func takesCommands(_ uuid: BluetoothUUID) -> Bool {
    uuid == commandWrite || uuid == bulkWrite
  }

  package static let deviceInformationService = GATTUUID.deviceInformation
  package static let systemID = BluetoothUUID(0x2A23 as UInt16)
  package static let modelNumber = BluetoothUUID(0x2A24 as UInt16)
  package static let serialNumber = BluetoothUUID(0x2A25 as UInt16)
  /// ASCII without a terminator; decides how the ring behaves, see ``RingFirmware``.
  package static let firmwareRevision = CharacteristicID.firmwareRevision.uuid
  package static let hardwareRevision = BluetoothUUID(0x2A27 as UInt16)
  package static let softwareRevision = BluetoothUUID(0x2A28 as UInt16)
}

/// The strings of the Device Information service; nil for those that a ring does not have.
package struct RingInformation: Hashable, Sendable {
  package var model: String?
  package var serialNumber: String?
  package var firmwareRevision: String?
  package var hardwareRevision: String?
  package var softwareRevision: String?

  package init() {}

  /// The properties that determine the ring's behaviour.
  package var revisions: RingFirmware {
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

/// The handles of a ring's attributes, as discovered on an earlier link, and the data that confirms them.
package struct RingLayout: Hashable, Sendable {
  package var commandWrite: Characteristic
  package var commandNotify: Characteristic
  /// The Client Characteristic Configuration of ``commandNotify``.
  package var configuration: AttributeHandle
  /// The firmware that had this layout.
  package var firmwareRevision: String?
  /// The Database Hash of the ring's server, 16 bytes; nil if it has none.
  package var databaseHash: [UInt8]?

  package init(
    commandWrite: Characteristic, commandNotify: Characteristic, configuration: AttributeHandle,
    firmwareRevision: String?, databaseHash: [UInt8]? = nil
  ) {
    self.commandWrite = commandWrite.forAnotherLink
    self.commandNotify = commandNotify.forAnotherLink
    self.configuration = configuration
    self.firmwareRevision = firmwareRevision
    self.databaseHash = databaseHash
  }
}

/// The discovery and the reads that open a ring.
extension GATTClient {
  /// The characteristics that take and send frames; nil if this is no ring.
  func commandCharacteristics() async throws(StackError) -> (write: Characteristic, notify: Characteristic)? {
    try await characteristics(RingGATT.commandService, RingGATT.commandWrite, RingGATT.commandNotify)
  }

  /// The same of a service; nil if it has not both.
  func characteristics(
    _ service: BluetoothUUID, _ write: BluetoothUUID, _ notify: BluetoothUUID
  ) async throws(StackError) -> (write: Characteristic, notify: Characteristic)? {
    guard let service = try await firstService(service) else { return nil }
    let all = try await discoverCharacteristics(of: service)
    guard let write = all.first(where: { $0.uuid == write }),
      let notify = all.first(where: { $0.uuid == notify })
    else { return nil }
    return (write, notify)
  }

  /// The text of the first characteristic with a UUID; nil if there is none, or none that can be read.
  func text(_ uuid: BluetoothUUID) async throws(StackError) -> String? {
    do throws(StackError) {
      return try await readFirst(uuid: uuid).map { String(printable: $0) }
    } catch let error where error.code == .refused {
      return nil
    }
  }

  /// The text of a characteristic; nil if the peer lists it and will not have it read, as some do.
  func text(of characteristic: Characteristic) async throws(StackError) -> String? {
    do throws(StackError) {
      return String(printable: try await read(characteristic))
    } catch let error where error.code == .refused {
      return nil
    }
  }

  /// Checks a layout of an earlier link with one request that changes nothing.
  func holds(_ layout: RingLayout) async throws(StackError) -> Bool {
    if let hash = layout.databaseHash { return try await databaseHash() == hash }
    return try await attributeTypeMatches(RingGATT.commandNotify, at: layout.commandNotify.valueHandle)
  }
}
