import ATT
import BluetoothCore
import GATTClient
import RingLink

/// The attribute table of a virtual ring. The handles of the ring's services are those of a real one (ring reference,
/// 1.2); they are followed by a service for tools that read and write any peripheral.
public struct RingAttributes {
  /// Not of any ring: long values, indications, includes and refusals to try out.
  public static let workbenchService = BluetoothUUID(0x7A1D_0001_5241_572D_4C41_422D_5249_4E47 as UInt128)
  /// Read and written, up to 512 bytes.
  public static let longValue = BluetoothUUID(0x7A1D_0002_5241_572D_4C41_422D_5249_4E47 as UInt128)
  /// A value written here is indicated.
  public static let mirror = BluetoothUUID(0x7A1D_0003_5241_572D_4C41_422D_5249_4E47 as UInt128)
  /// Cannot be read without pairing.
  public static let protectedValue = BluetoothUUID(0x7A1D_0004_5241_572D_4C41_422D_5249_4E47 as UInt128)
  /// A secondary service, included by the workbench.
  public static let annexService = BluetoothUUID(0x7A1D_0010_5241_572D_4C41_422D_5249_4E47 as UInt128)

  var attributes: [Attribute]
  var serviceChanged: AttributeHandle
  /// Nil for a look-alike without the ring's services.
  var commandWrite: AttributeHandle?
  var commandNotify: AttributeHandle?
  var bulkWrite: AttributeHandle?
  var bulkNotify: AttributeHandle?
  var mirrorValue: AttributeHandle

  init(_ options: VirtualRingOptions) {
    var table = AttributeTable()
    table.addService(BluetoothUUID(0x1801 as UInt16), at: 0x0001)
    serviceChanged = table.addCharacteristic(BluetoothUUID(0x2A05 as UInt16), .indicate)

    table.addService(BluetoothUUID(0x1800 as UInt16), at: 0x0005)
    table.addCharacteristic(BluetoothUUID(0x2A00 as UInt16), .read, value: Array(options.name.utf8))
    table.addCharacteristic(BluetoothUUID(0x2A01 as UInt16), .read, value: [0, 0])
    // 25 to 50 ms, latency 4, supervision timeout 5 s.
    table.addCharacteristic(
      BluetoothUUID(0x2A04 as UInt16), .read, value: [0x14, 0, 0x28, 0, 0x04, 0, 0xF4, 0x01])

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

    table.addService(RingGATT.deviceInformationService, at: 0x001A)
    let information = AttributeHandle(0x001A)
    table.addCharacteristic(BluetoothUUID(0x2A29 as UInt16), .read, value: Array("halo-raw".utf8))
    table.addCharacteristic(RingGATT.hardwareRevision, .read, value: Array(options.hardware.utf8))
    table.addCharacteristic(RingGATT.firmwareRevision, .read, value: Array(options.firmware.utf8))
    table.addCharacteristic(RingGATT.softwareRevision, .read, value: Self.longText)
    table.addCharacteristic(
      RingGATT.systemID, .read, value: [0x12, 0x34, 0x56, 0xFF, 0xFE, 0x9A, 0xBC, 0xDE])
    let informationEnd = table.attributes.last?.handle ?? information

    let annex = AttributeHandle(0x0050)
    table.addService(Self.workbenchService, at: 0x0030)
    table.include(HandleRange(information, informationEnd), RingGATT.deviceInformationService)
    table.include(HandleRange(annex, AttributeHandle(0x0052)), Self.annexService)
    table.addCharacteristic(Self.longValue, [.read, .write, .writeWithoutResponse], value: [1, 2, 3])
    table.addDescriptor(GATTUUID.characteristicUserDescription, value: Array("a long value".utf8))
    mirrorValue = table.addCharacteristic(Self.mirror, [.write, .indicate])
    table.addCharacteristic(Self.protectedValue, .read, value: [42], isProtected: true)
    table.addService(Self.annexService, at: annex.rawValue, isPrimary: false)
    table.addCharacteristic(BluetoothUUID(0x2A19 as UInt16), .read, value: [options.battery])
    attributes = table.attributes
  }

  /// 300 bytes: more than one PDU holds at any MTU that rings use, so that it takes a long read.
  private static let longText = Array(
    (0..<30).map { "part \(DecimalText.padded($0, 2)).. " }.joined().utf8.prefix(300))
}

/// An attribute of a server: its type, value and permissions (Core Specification Vol 3, Part F, 3.2).
struct Attribute {
  struct Access: OptionSet {
    let rawValue: UInt8
    static let read = Access(rawValue: 1)
    static let write = Access(rawValue: 2)
    static let writeCommand = Access(rawValue: 4)
    /// The client must be authenticated, which no client is here.
    static let authenticated = Access(rawValue: 8)
  }

  var handle: AttributeHandle
  var type: BluetoothUUID
  var access: Access = .read
  var value: [UInt8] = []
  /// The most bytes that may be written.
  var capacity = 0
  /// The last handle of the service that this attribute declares.
  var groupEnd: AttributeHandle?
  /// What this descriptor can enable, if it is a Client Characteristic Configuration: 1 notify, 2 indicate.
  var configuration: UInt8?
}

/// Builds a table of attributes, service by service, handles in rising order.
struct AttributeTable {
  private(set) var attributes: [Attribute] = []
  private var next: UInt16 = 1
  private var service: Int?

  /// Begins a service at the given handle, or after the last attribute.
  mutating func addService(_ uuid: BluetoothUUID, at handle: UInt16? = nil, isPrimary: Bool = true) {
    if let handle { next = max(next, handle) }
    service = attributes.count
    add(isPrimary ? GATTUUID.primaryService : GATTUUID.secondaryService, value: uuid.wireBytes)
  }

  /// Includes the service at these handles; only a 16-bit UUID is part of the declaration.
  mutating func include(_ range: HandleRange, _ uuid: BluetoothUUID) {
    var writer = ByteWriter()
    writer.write(range.start.rawValue)
    writer.write(range.end.rawValue)
    if let short = uuid.short { writer.write(short) }
    add(GATTUUID.include, value: writer.bytes)
  }

  /// Adds declaration, value and, for a value that is notified or indicated, configuration; returns the value's handle.
  @discardableResult
  mutating func addCharacteristic(
    _ uuid: BluetoothUUID, _ properties: CharacteristicProperties, value: [UInt8] = [], capacity: Int = 512,
    isProtected: Bool = false
  ) -> AttributeHandle {
    var writer = ByteWriter()
    writer.write(properties.rawValue)
    writer.write(next + 1)
    uuid.write(into: &writer)
    add(GATTUUID.characteristic, value: writer.bytes)
    var access: Attribute.Access = isProtected ? .authenticated : []
    if properties.contains(.read) { access.insert(.read) }
    if properties.contains(.write) { access.insert(.write) }
    if properties.contains(.writeWithoutResponse) { access.insert(.writeCommand) }
    let handle = add(uuid, access, value: value, capacity: capacity)
    let configuration = properties.rawValue >> 4 & 3
    if configuration != 0 {
      add(GATTUUID.clientCharacteristicConfiguration, [.read, .write], value: [0, 0], capacity: 2)
      attributes[attributes.count - 1].configuration = configuration
    }
    return handle
  }

  fileprivate mutating func addDescriptor(_ uuid: BluetoothUUID, value: [UInt8]) {
    add(uuid, value: value)
  }

  @discardableResult
  private mutating func add(
    _ type: BluetoothUUID, _ access: Attribute.Access = .read, value: [UInt8], capacity: Int = 0
  ) -> AttributeHandle {
    let handle = AttributeHandle(next)
    attributes.append(
      Attribute(handle: handle, type: type, access: access, value: value, capacity: capacity))
    if let service { attributes[service].groupEnd = handle }
    next += 1
    return handle
  }
}

extension BluetoothUUID {
  /// The bytes in the order of an attribute's value.
  fileprivate var wireBytes: [UInt8] {
    var writer = ByteWriter(capacity: 16)
    write(into: &writer)
    return writer.bytes
  }
}
