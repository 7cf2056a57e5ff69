import ATT
import HaloGATT
import HaloBluetoothCore
import RingLink

/// The attribute table of a virtual ring. The handles of the ring's services are those of a real one (ring reference,
/// 1.2); they are followed by a service for tools that read and write any peripheral.
package struct RingAttributes {
  /// Not of any ring: long values, indications, includes and refusals to try out.
  package static let workbenchService = BluetoothUUID(0x7A1D_0001_5241_572D_4C41_422D_5249_4E47 as UInt128)
  /// Read and written, up to 512 bytes.
  package static let longValue = BluetoothUUID(0x7A1D_0002_5241_572D_4C41_422D_5249_4E47 as UInt128)
  /// A value written here is indicated.
  package static let mirror = BluetoothUUID(0x7A1D_0003_5241_572D_4C41_422D_5249_4E47 as UInt128)
  /// Cannot be read without pairing.
  package static let protectedValue = BluetoothUUID(0x7A1D_0004_5241_572D_4C41_422D_5249_4E47 as UInt128)
  /// A secondary service, included by the workbench.
  package static let annexService = BluetoothUUID(0x7A1D_0010_5241_572D_4C41_422D_5249_4E47 as UInt128)

  /// All of them, for each link.
  let database: AttributeDatabase
  var serviceChanged: AttributeHandle
  /// Nil for a look-alike without the ring's services.
  var commandWrite: AttributeHandle?
  var commandNotify: AttributeHandle?
  var bulkWrite: AttributeHandle?
  var bulkNotify: AttributeHandle?
  var mirrorValue: AttributeHandle

  init(_ options: VirtualRingOptions) {
    let table = AttributeDatabase()
    table.addService(GATTUUID.genericAttribute, at: 0x0001)
    serviceChanged = table.addCharacteristic(GATTUUID.serviceChanged, .indicate)

    table.addService(GATTUUID.genericAccess, at: 0x0005)
    table.addCharacteristic(GATTUUID.deviceName, .read, value: Array(options.name.utf8))
    table.addCharacteristic(GATTUUID.appearance, .read, value: [0, 0])
    // 25 to 50 ms, latency 4, supervision timeout 5 s.
    let preferred = PreferredConnectionParameters(
      shortestInterval: 20, longestInterval: 40, latency: 4, timeout: 500)
    table.addCharacteristic(GATTUUID.preferredConnectionParameters, .read, value: preferred.encoded)

    if !options.faults.omitsRingService {
      table.addService(RingGATT.commandService, at: 0x000E)
      commandWrite = table.addCharacteristic(RingGATT.commandWrite, [.write, .writeWithoutResponse])
      commandNotify = table.addCharacteristic(RingGATT.commandNotify, .notify)
    }
    if !options.faults.omitsRingService, options.hasBulkService {
      table.addService(RingGATT.bulkService, at: 0x0014)
      bulkWrite = table.addCharacteristic(RingGATT.bulkWrite, .writeWithoutResponse)
      bulkNotify = table.addCharacteristic(RingGATT.bulkNotify, .notify)
    }

    let information = table.addService(RingGATT.deviceInformationService, at: 0x001A)
    table.addCharacteristic(BluetoothUUID(0x2A29 as UInt16), .read, value: Array("halo-raw".utf8))
    table.addCharacteristic(RingGATT.hardwareRevision, .read, value: Array(options.hardware.utf8))
    table.addCharacteristic(RingGATT.firmwareRevision, .read, value: Array(options.firmware.utf8))
    table.addCharacteristic(RingGATT.softwareRevision, .read, value: Self.longText)
    let informationEnd = table.addCharacteristic(
      RingGATT.systemID, .read, value: [0x12, 0x34, 0x56, 0xFF, 0xFE, 0x9A, 0xBC, 0xDE])

    let annex = AttributeHandle(0x0050)
    table.addService(Self.workbenchService, at: 0x0030)
    table.addInclude(HandleRange(information, informationEnd), RingGATT.deviceInformationService)
    table.addInclude(HandleRange(annex, AttributeHandle(0x0052)), Self.annexService)
    table.addCharacteristic(Self.longValue, [.read, .write, .writeWithoutResponse], value: [1, 2, 3])
    table.addDescriptor(GATTUUID.characteristicUserDescription, value: Array("a long value".utf8))
    mirrorValue = table.addCharacteristic(Self.mirror, [.write, .indicate])
    table.addCharacteristic(Self.protectedValue, .read, value: [42], security: .authenticated)
    table.addService(Self.annexService, at: annex, isPrimary: false)
    table.addCharacteristic(GATTUUID.batteryLevel, .read, value: [options.battery])
    database = table
  }

  /// 300 bytes: more than one PDU holds at any MTU that rings use, so that it takes a long read.
  private static let longText = Array(
    (0..<30).map { "part \(DecimalText.padded($0, 2)).. " }.joined().utf8.prefix(300))
}
