import ATT
import BluetoothCore
import GATTClient
import HaloGATT

/// A good GATT server: Generic Access with a name, Generic Attribute with Service Changed, Heart Rate, Battery.
struct Server {
  struct Attribute {
    var handle: AttributeHandle
    var type: BluetoothUUID
    var value: [UInt8]
  }

  static let heartRate = BluetoothUUID(UInt16(0x2A37))
  static let heartRateService = BluetoothUUID(UInt16(0x180D))
  static let batteryService = BluetoothUUID(UInt16(0x180F))
  static let battery = BluetoothUUID(UInt16(0x2A19))
  static let nameHandle: AttributeHandle = 0x0003

  var mtu: UInt16 = 23
  private(set) var agreedMTU = 23
  var attributes: [Attribute] = []
  /// What was written, by handle.
  var written: [AttributeHandle: [UInt8]] = [:]

  init(name: String = "honest") {
    addService(GATTUUID.genericAccess, at: 0x0001)
    addCharacteristic(uuid(0x2A00), .read, at: 0x0002, Array(name.utf8))
    addService(GATTUUID.genericAttribute, at: 0x0004)
    addCharacteristic(GATTUUID.serviceChanged, .indicate, at: 0x0005, [])
    addConfiguration(at: 0x0007)
    addService(Self.heartRateService, at: 0x0010)
    addCharacteristic(Self.heartRate, .notify, at: 0x0011, [])
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

  private func uuid(_ number: UInt16) -> BluetoothUUID { BluetoothUUID(number) }

  mutating func addService(_ uuid: BluetoothUUID, at handle: AttributeHandle) {
    attributes.append(Attribute(handle: handle, type: GATTUUID.primaryService, value: bytes(uuid)))
  }

  mutating func addCharacteristic(
    _ uuid: BluetoothUUID, _ properties: CharacteristicProperties, at handle: AttributeHandle,
    _ value: [UInt8]
  ) {
    let at = handle.rawValue + 1
    attributes.append(
      Attribute(
        handle: handle, type: GATTUUID.characteristic,
        value: [properties.rawValue, UInt8(at & 0xFF), UInt8(at >> 8)] + bytes(uuid)))
    attributes.append(Attribute(handle: AttributeHandle(at), type: uuid, value: value))
  }

  mutating func addConfiguration(at handle: AttributeHandle) {
    attributes.append(
      Attribute(handle: handle, type: GATTUUID.clientCharacteristicConfiguration, value: [0, 0]))
  }

  /// Moves everything in a range by as many handles, as a firmware update does.
  mutating func move(_ range: HandleRange, by distance: UInt16) {
    for index in attributes.indices where range.contains(attributes[index].handle) {
      attributes[index].handle.rawValue += distance
      if attributes[index].type == GATTUUID.characteristic {
        let at = UInt16(attributes[index].value[2]) << 8 | UInt16(attributes[index].value[1])
        let moved = at + distance
        attributes[index].value.replaceSubrange(1...2, with: [UInt8(moved & 0xFF), UInt8(moved >> 8)])
      }
      if attributes[index].type == GATTUUID.clientCharacteristicConfiguration {
        attributes[index].value = [0, 0]
      }
    }
    attributes.sort { $0.handle < $1.handle }
  }

  mutating func remove(_ range: HandleRange) {
    attributes.removeAll { range.contains($0.handle) }
  }

  private func bytes(_ uuid: BluetoothUUID) -> [UInt8] {
    var writer = ByteWriter()
    uuid.write(into: &writer)
    return writer.bytes
  }

  private func group(_ attribute: Attribute) -> HandleRange {
    let next = attributes.first { $0.handle > attribute.handle && $0.type == GATTUUID.primaryService }
    let last = attributes.last { next == nil || $0.handle < next?.handle ?? .last }
    return HandleRange(attribute.handle, last?.handle ?? attribute.handle)
  }

  mutating func answer(_ request: ATTPDU) -> ATTPDU {
    func refuse(_ code: ATTErrorCode, _ handle: AttributeHandle = 0) -> ATTPDU {
      .errorResponse(ATTErrorResponse(request: request.opcode, handle: handle, code: code))
    }
    func found(_ range: HandleRange, _ type: BluetoothUUID) -> [Attribute] {
      attributes.filter { range.contains($0.handle) && $0.type == type }
    }
    switch request {
    case .exchangeMTURequest(let theirs):
      agreedMTU = max(23, min(Int(theirs), Int(mtu)))
      return .exchangeMTUResponse(serverMTU: mtu)
    case .readByGroupTypeRequest(let range, let type):
      let all = found(range, type)
      guard let first = all.first else { return refuse(.attributeNotFound, range.start) }
      return .readByGroupTypeResponse(
        all.prefix { $0.value.count == first.value.count }.prefix(3).map {
          ATTGroupAndValue(group: group($0), value: $0.value)
        })
    case .findByTypeValueRequest(let range, let type, let value):
      let all = found(range, BluetoothUUID(type)).filter { $0.value == value }
      return all.isEmpty ? refuse(.attributeNotFound, range.start) : .findByTypeValueResponse(all.map(group))
    case .readByTypeRequest(let range, let type):
      guard let first = found(range, type).first else { return refuse(.attributeNotFound, range.start) }
      return .readByTypeResponse([
        ATTHandleAndValue(handle: first.handle, value: Array(first.value.prefix(min(agreedMTU - 4, 253))))
      ])
    case .findInformationRequest(let range):
      guard let first = attributes.first(where: { range.contains($0.handle) }) else {
        return refuse(.attributeNotFound, range.start)
      }
      return .findInformationResponse([ATTHandleAndType(handle: first.handle, type: first.type)])
    case .readRequest(let handle):
      guard let value = value(handle) else { return refuse(.invalidHandle, handle) }
      return .readResponse(Array(value.prefix(agreedMTU - 1)))
    case .readBlobRequest(let handle, let offset):
      guard let value = value(handle) else { return refuse(.invalidHandle, handle) }
      guard Int(offset) <= value.count else { return refuse(.invalidOffset, handle) }
      return .readBlobResponse(Array(value.dropFirst(Int(offset)).prefix(agreedMTU - 1)))
    case .writeRequest(let handle, let value):
      guard let index = attributes.firstIndex(where: { $0.handle == handle }) else {
        return refuse(.invalidHandle, handle)
      }
      attributes[index].value = value
      written[handle] = value
      return .writeResponse
    case .prepareWriteRequest(let part): return .prepareWriteResponse(part)
    case .executeWriteRequest: return .executeWriteResponse
    default: return refuse(.requestNotSupported)
    }
  }

  func value(_ handle: AttributeHandle) -> [UInt8]? { attributes.first { $0.handle == handle }?.value }
}
