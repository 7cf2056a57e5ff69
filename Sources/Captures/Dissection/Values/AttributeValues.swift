import ATT
import HCI
import HaloBluetoothCore
import HaloCapture
import HaloGATT

/// Finds the values of attributes in the packets of a capture, in their order. Bounded for any input.
///
/// Values are those that clients write or read, and that servers notify and indicate. PDUs that only describe attributes are
/// left out: the answers to a discovery of services, characteristics and descriptors, and a server's echo of a prepared write.
package struct AttributeValues {
  /// The links whose requests and writes are kept.
  static let linkCapacity = 64
  /// The requests of a link that are kept: one for each bearer, as a client has one open at a time.
  static let requestCapacity = 16
  /// The handles of a request that are kept.
  static let handleCapacity = 1024

  /// A client on a link.
  private struct Client: Equatable {
    var adapter: UInt16
    /// The handle, or the access address.
    var link: UInt32
    /// Nil if the direction is unknown.
    var isHost: Bool?
  }

  /// The fields of a request that its response does not repeat.
  private struct Request {
    var packet: Int
    var offset: Int?
    var handles: [AttributeHandle]
  }

  private struct State {
    var requests: [Request] = []
    var writes = WriteHistory()
  }

  /// Few: a list is quicker than a dictionary.
  private var states: [(client: Client, state: State)] = []
  /// The values in the last packet that was taken. Its memory is used again.
  package private(set) var found: [AttributeValue] = []

  package init() {}

  /// Finds the values in the next packet of the capture, for ``found``; most packets have none.
  ///
  /// - Parameters:
  ///   - packet: the next packet
  ///   - dissector: the one that dissects the packets; with nil, values have no names and no words
  package mutating func take(_ packet: DissectedPacket, _ dissector: Dissector? = nil) {
    found.removeAll(keepingCapacity: true)
    guard let att = packet.att, let link = packet.link?.number else { return forgetLink(packet) }
    let isSent = packet.direction.map { $0 == .hostToController }
    let client = Client(
      adapter: packet.info.adapter ?? 0, link: link, isHost: isSent.map { $0 == att.isFromClient })
    let source = packet.source
    // A method of `self` would keep a second reference to the states, and each packet would copy them.
    Self.find(in: packet, att, source.span.bytes, &states[index(of: client)].state, &found)
    for index in found.indices {
      found[index].isLocal = client.isHost.map { !$0 }
      if let dissector { Self.name(&found[index], packet, dissector) }
    }
  }

  /// Where the state of a client is in ``states``.
  private mutating func index(of client: Client) -> Int {
    if let index = states.lastIndex(where: { $0.client == client }) { return index }
    if states.count >= Self.linkCapacity { states.removeAll() }
    states.append((client, State()))
    return states.count - 1
  }

  /// Adds the discovered names of the attribute.
  private static func name(_ value: inout AttributeValue, _ packet: DissectedPacket, _ dissector: Dissector) {
    var attribute = packet.gatt?.attribute
    if value.operation.carriesSeveralValues {
      attribute = value.handle.flatMap { dissector.attribute($0, of: packet, isLocal: value.isLocal == true) }
    }
    if let attribute {
      value.uuid = attribute.valueType ?? value.uuid
      value.name = attribute.name == attribute.uuid.description ? nil : attribute.name
    }
    value.words = packet.ring != nil && !value.isCut ? packet.summary(of: .ring) : words(value)
  }

  /// A link that begins or ends has no earlier writes.
  private mutating func forgetLink(_ packet: DissectedPacket) {
    guard packet.changesLinks else { return }
    let handle: ConnectionHandle?
    switch LinkChange(packet.bytes.span.bytes) {
    case .began(let link): handle = link.handle
    case .ended(let link, _): handle = link
    case .reset: handle = nil
    case .streams, nil: return
    }
    states.removeAll { client, _ in
      client.adapter == packet.info.adapter ?? 0 && handle.map { UInt32($0.rawValue) == client.link } ?? true
    }
  }

  private static func find(
    in packet: DissectedPacket, _ att: ATTLayer, _ source: RawSpan, _ state: inout State,
    _ found: inout [AttributeValue]
  ) {
    switch att.opcode {
    case .readBlobRequest, .readMultipleRequest, .readMultipleVariableRequest:
      note(packet, att, source, &state)
    case .readByTypeResponse, .readMultipleVariableResponse, .multipleHandleValueNotification:
      found = list(packet, att, source, state)
    case .writeRequest, .writeCommand, .signedWriteCommand, .prepareWriteRequest:
      guard let value = one(packet, att, source) else { return }
      state.writes.write(value, packet)
      found.append(value)
    case .handleValueNotification, .handleValueIndication:
      guard var value = one(packet, att, source) else { return }
      value.answers = state.writes.cause(of: value, packet)
      found.append(value)
    case .readResponse, .readBlobResponse, .readMultipleResponse:
      guard var value = one(packet, att, source) else { return }
      value.answers = packet.gatt?.request?.number
      switch att.opcode {
      case .readResponse: value.offset = 0
      case .readBlobResponse: value.offset = request(of: packet, state)?.offset
      default:
        value.offset = 0
        let handles = request(of: packet, state)?.handles ?? []
        value.handle = handles.count == 1 ? handles[0] : nil
      }
      found.append(value)
    default: break
    }
  }

  /// Keeps the fields that the response does not repeat.
  private static func note(
    _ packet: DissectedPacket, _ att: ATTLayer, _ source: RawSpan, _ state: inout State
  ) {
    var request = Request(packet: packet.info.number, handles: [])
    switch try? ATTReader.read(source.extracting(att.range.clamped(to: 0..<source.byteCount))) {
    case let pdu as ATTReadBlobRequest: request.offset = Int(pdu.offset)
    case let pdu as any ATTHandlesRequest: request.handles = Array(pdu.handles.prefix(handleCapacity))
    default: return
    }
    if state.requests.count >= requestCapacity { state.requests.removeFirst() }
    state.requests.append(request)
  }

  private static func request(of packet: DissectedPacket, _ state: State) -> Request? {
    guard let number = packet.gatt?.request?.number else { return nil }
    return state.requests.last { $0.packet == number }
  }

  /// The value of a PDU that carries one.
  private static func one(_ packet: DissectedPacket, _ att: ATTLayer, _ source: RawSpan) -> AttributeValue? {
    guard let range = att.value?.clamped(to: 0..<source.byteCount) else { return nil }
    // The offset of a part follows the handle.
    let start = att.parameters.lowerBound + 2
    let offset =
      att.opcode == .prepareWriteRequest
      ? Int(source.byte(at: start) ?? 0) | Int(source.byte(at: start + 1) ?? 0) << 8 : 0
    return AttributeValue(
      operation: att.opcode, handle: att.handle ?? packet.gatt?.handle, offset: offset,
      uuid: packet.gatt?.attribute?.valueType, bytes: Array(source.extracting(range)), isCut: packet.isCut)
  }

  private static func words(_ value: AttributeValue) -> String? {
    switch value.operation {
    // Parts, or several values.
    case .readBlobResponse, .prepareWriteRequest, .readMultipleResponse: return nil
    default:
      guard !value.isCut, let type = value.uuid?.short, !CharacteristicValue.isText(type) else { return nil }
      return CharacteristicValue.text(value.bytes, type: type)
    }
  }

  /// The values of a PDU that carries several.
  private static func list(
    _ packet: DissectedPacket, _ att: ATTLayer, _ source: RawSpan, _ state: State
  ) -> [AttributeValue] {
    let answers = packet.gatt?.request?.number
    func value(_ handle: AttributeHandle?, _ bytes: [UInt8], _ uuid: BluetoothUUID? = nil) -> AttributeValue {
      AttributeValue(
        operation: att.opcode, handle: handle, offset: 0, uuid: uuid, bytes: bytes, isCut: packet.isCut,
        answers: answers)
    }
    switch try? ATTReader.read(source.extracting(att.range.clamped(to: 0..<source.byteCount))) {
    case let pdu as ATTReadByTypeResponse:
      let type = packet.gatt?.type
      guard type != GATTUUID.characteristic, type != GATTUUID.include else { return [] }
      return pdu.entries.map { value($0.handle, $0.value, type) }
    case let pdu as ATTReadMultipleVariableResponse:
      let handles = request(of: packet, state)?.handles ?? []
      return pdu.values.indices.map { value($0 < handles.count ? handles[$0] : nil, pdu.values[$0]) }
    case let pdu as ATTMultipleHandleValueNotification:
      return pdu.entries.map { value($0.handle, $0.value) }
    default: return []
    }
  }
}

extension ATTOpcode {
  /// Whether the handles of its values are not that of its request.
  fileprivate var carriesSeveralValues: Bool {
    switch self {
    case .readByTypeResponse, .readMultipleVariableResponse, .multipleHandleValueNotification: true
    default: false
    }
  }
}

/// The value of an attribute, or a part of it, that a packet carries.
package struct AttributeValue: Hashable, Sendable {
  /// The PDU that carries it: a request or a command with a value, a response, a notification or an indication.
  package var operation: ATTOpcode
  /// Nil if the capture does not have the request that a response answers, and for the values of several attributes in
  /// one (`ATTOpcode.readMultipleResponse`).
  package var handle: AttributeHandle?
  /// Whether the server that has the attribute is the host's; nil if the direction of the packet is unknown.
  package var isLocal: Bool?
  /// Where the bytes are in the value: greater than 0 for a part that is read or written after another one. Nil if the
  /// capture does not have the request with it.
  package var offset: Int?
  /// The type of the attribute: the UUID of a characteristic or of a descriptor; nil if the capture does not show it.
  package var uuid: BluetoothUUID?
  /// The name of the attribute, or its UUID: `Client Characteristic Configuration of Battery Level`.
  package var name: String?
  /// In the byte order of the wire.
  package var bytes: [UInt8]
  /// Whether the capture has only the beginning of the packet.
  package var isCut: Bool
  /// The meaning of the value: that of a characteristic of the SIG, or a frame of a ring; nil if it is not known.
  package var words: String?
  /// The number of the packet that it answers: of a response, that of its request; of a notification or an indication, that of
  /// a write (see `WriteHistory`). Nil if it is not known, and for the PDUs of a client.
  package var answers: Int?
}
