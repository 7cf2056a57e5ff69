import ATT
import HaloGATT
import HaloBluetoothCore

/// A good GATT server: Generic Access with a name, Generic Attribute with Service Changed, Heart Rate, Battery.
struct Server {
  static let heartRate = BluetoothUUID(UInt16(0x2A37))
  static let heartRateService = BluetoothUUID(UInt16(0x180D))
  static let batteryService = BluetoothUUID(UInt16(0x180F))
  static let battery = BluetoothUUID(UInt16(0x2A19))
  static let nameHandle: AttributeHandle = 0x0003

  var mtu: UInt16 = 23 { didSet { running = nil } }
  var attributes: [ServerAttribute] = [] { didSet { running = nil } }
  /// What was written, by handle.
  var written: [AttributeHandle: [UInt8]] = [:]

  private var agreedMTU = ATTBearer.defaultMTU
  /// The server of the table as it is now.
  private var running: InMemoryServer?

  init(name: String = "honest") {
    addService(GATTUUID.genericAccess, at: 0x0001)
    addCharacteristic(GATTUUID.deviceName, .read, at: 0x0002, Array(name.utf8))
    addService(GATTUUID.genericAttribute, at: 0x0004)
    addCharacteristic(GATTUUID.serviceChanged, .indicate, at: 0x0005, [])
    addConfiguration(at: 0x0007)
    addService(Self.heartRateService, at: 0x0010)
    addCharacteristic(Self.heartRate, [.read, .notify], at: 0x0011, [])
    addConfiguration(at: 0x0013)
    addService(Self.batteryService, at: 0x0020)
    addCharacteristic(Self.battery, [.read, .notify], at: 0x0021, [77])
    addConfiguration(at: 0x0023)
  }

  /// A server without anything.
  static var empty: Server {
    var server = Server()
    server.attributes = []
    return server
  }

  // MARK: The table

  mutating func addService(_ uuid: BluetoothUUID, at handle: AttributeHandle) {
    attributes.append(ServerAttribute(handle: handle, type: GATTUUID.primaryService, value: uuid.wireBytes))
  }

  mutating func addCharacteristic(
    _ uuid: BluetoothUUID, _ properties: CharacteristicProperties, at handle: AttributeHandle,
    _ value: [UInt8]
  ) {
    let place = AttributeHandle(handle.rawValue + 1)
    let declaration = CharacteristicDeclaration(uuid, properties, at: place)
    attributes.append(
      ServerAttribute(handle: handle, type: GATTUUID.characteristic, value: declaration.bytes))
    attributes.append(
      ServerAttribute(handle: place, type: uuid, access: .init(properties), value: value, capacity: 512))
  }

  mutating func addConfiguration(at handle: AttributeHandle) {
    attributes.append(
      ServerAttribute(
        handle: handle, type: GATTUUID.clientCharacteristicConfiguration, access: [.read, .write],
        value: [0, 0], capacity: 2, configuration: 3))
  }

  /// Moves everything in a range by as many handles, as a firmware update does.
  mutating func move(_ range: HandleRange, by distance: UInt16) {
    attributes = attributes.map { attribute in
      guard range.contains(attribute.handle) else { return attribute }
      var moved = attribute
      moved.handle.rawValue += distance
      if attribute.type == GATTUUID.characteristic,
        var declaration = CharacteristicDeclaration(parsing: attribute.value)
      {
        declaration.valueHandle.rawValue += distance
        moved.value = declaration.bytes
      }
      return moved
    }
  }

  mutating func remove(_ range: HandleRange) {
    attributes.removeAll { range.contains($0.handle) }
  }

  // MARK: Answers

  /// A new link: its client has configured nothing, and has not exchanged the MTU.
  mutating func restart() {
    running = nil
    agreedMTU = ATTBearer.defaultMTU
  }

  mutating func answer(_ request: any ATTPDU) -> any ATTPDU {
    let server = running ?? start()
    running = server
    let answer = server.receive(request.bytes.span.bytes).first.flatMap { try? ATTReader.read($0.span.bytes) }
    agreedMTU = server.mtu
    if let write = request as? ATTWriteRequest, answer is ATTWriteResponse {
      written[write.handle] = write.value
    }
    return answer ?? ATTErrorResponse(request: request.opcode, handle: 0, code: .unlikelyError)
  }

  private func start() -> InMemoryServer {
    var table = attributes.sorted { $0.handle < $1.handle }
    for index in table.indices where table[index].type == GATTUUID.primaryService {
      let rest = table[(index + 1)...]
      table[index].groupEnd =
        (rest.prefix { $0.type != GATTUUID.primaryService }.last ?? table[index]).handle
    }
    let server = InMemoryServer(AttributeDatabase(table), mtu: Int(mtu))
    if agreedMTU > ATTBearer.defaultMTU {
      server.receive(ATTExchangeMTURequest(clientMTU: UInt16(agreedMTU)).bytes.span.bytes)
    }
    return server
  }
}
