import ATT
import BluetoothCore
import HaloGATT

extension RecordedAttributes {
  /// What the traffic of a connection uses an attribute for.
  typealias Uses = [AttributeHandle: CharacteristicProperties]

  /// Adds what a connection shows in discoveries and reads.
  mutating func learn(_ connection: RecordedConnection) {
    var open: ATTPDU?
    for pdu in connection.pdus {
      guard let first = pdu.bytes.first else { continue }
      let kind = ATTOpcode(rawValue: first).kind
      if !pdu.isFromServer, kind == .request {
        open = try? ATTPDU(pdu.bytes.span.bytes)
      } else if pdu.isFromServer, kind == .response, let request = open {
        open = nil
        if let response = try? ATTPDU(pdu.bytes.span.bytes) { learn(request, response) }
      }
    }
  }

  /// Adds what the answer to a request shows.
  mutating func learn(_ request: ATTPDU, _ response: ATTPDU) {
    let isEnd: Bool
    if case .errorResponse(let error) = response {
      isEnd = error.code == .attributeNotFound
    } else {
      isEnd = false
    }
    switch (request, response) {
    case (.findInformationRequest(let range), .findInformationResponse(let entries)):
      for entry in entries where self[entry.handle] == nil { insert(entry.handle, entry.type) }
      if let last = entries.last { cover(.information, HandleRange(range.start, last.handle)) }
    case (.findInformationRequest(let range), _) where isEnd: cover(.information, range)
    case (.readByGroupTypeRequest(let range, let type), .readByGroupTypeResponse(let entries)):
      for entry in entries { learnService(type, entry.group, entry.value) }
      if let last = entries.last { cover(.group(type), HandleRange(range.start, last.group.end)) }
    case (.readByGroupTypeRequest(let range, let type), _) where isEnd: cover(.group(type), range)
    case (.findByTypeValueRequest(_, let type, let value), .findByTypeValueResponse(let ranges)):
      for range in ranges { learnService(BluetoothUUID(type), range, value) }
    case (.readByTypeRequest(let range, let type), .readByTypeResponse(let entries)):
      for entry in entries { learn(entry, of: type) }
      if let last = entries.last { cover(.byType(type), HandleRange(range.start, last.handle)) }
    case (.readByTypeRequest(let range, let type), _) where isEnd: cover(.byType(type), range)
    case (.readRequest(let handle), .readResponse(let value)):
      if let known = self[handle] {
        if !hasValue(handle) { insert(handle, known.type, value) }
      } else if let range = included[handle] {
        // The UUID of an included service is read from its declaration, if it is long (Vol 3, Part G, 4.5.1).
        learnService(GATTUUID.secondaryService, range, value)
      }
    default: break
    }
  }

  mutating func learnService(_ type: BluetoothUUID, _ range: HandleRange, _ value: [UInt8]) {
    guard ServiceDeclaration.isType(type), range.isValid else { return }
    insert(range.start, type, value)
    end(range)
  }

  /// A service that is included, and was not found among the primary ones, is a secondary service.
  private mutating func learnInclude(_ value: [UInt8]) {
    guard let declared = IncludeDeclaration(parsing: value), declared.handles.isValid else { return }
    let range = declared.handles
    included[range.start] = range
    guard self[range.start] == nil, let uuid = declared.uuid else { return }
    let service = ServiceDeclaration(uuid, isPrimary: false)
    learnService(service.type, range, service.bytes)
  }

  private mutating func learn(_ entry: ATTHandleAndValue, of type: BluetoothUUID) {
    insert(entry.handle, type, entry.value)
    if type == GATTUUID.include { learnInclude(entry.value) }
    guard type == GATTUUID.characteristic, let declared = CharacteristicDeclaration(parsing: entry.value),
      declared.valueHandle.rawValue > 0
    else { return }
    insert(declared.valueHandle, declared.uuid)
    // The value follows its declaration, so a client may continue after it.
    cover(.byType(type), HandleRange(entry.handle, declared.valueHandle))
  }

  /// Adds what connections show of attributes that were not discovered: subscriptions, and characteristics that were used.
  mutating func learnUses(_ connections: [RecordedConnection]) {
    var uses: Uses = [:]
    var configured: Set<AttributeHandle> = []
    for connection in connections {
      for pdu in connection.pdus {
        guard let (handle, use) = pdu.use else { continue }
        uses[handle, default: []].formUnion(use)
        // A Client Characteristic Configuration: two bits of two bytes.
        if use == .write, pdu.bytes.count == 5, pdu.bytes[3] <= 3, pdu.bytes[4] == 0 {
          configured.insert(handle)
        }
      }
    }
    let notified = Set(uses.filter { $0.value.canNotify }.keys)
    for handle in configured.sorted() { learnConfiguration(handle, notified: notified) }
    addMissingCharacteristics(uses)
    addMissingServices()
    index()
  }
}

extension CharacteristicProperties {
  /// Whether the characteristic sends values on its own.
  var canNotify: Bool { !isDisjoint(with: [.notify, .indicate]) }
}

extension RecordedConnection.PDU {
  /// The attribute that it is about, and what is done with it; nil for a PDU of another kind.
  fileprivate var use: (AttributeHandle, CharacteristicProperties)? {
    guard let handle = leadingHandle else { return nil }
    switch (ATTOpcode(rawValue: bytes[0]), isFromServer) {
    case (.handleValueNotification, true): return (handle, .notify)
    case (.handleValueIndication, true): return (handle, .indicate)
    case (.readRequest, false), (.readBlobRequest, false): return (handle, .read)
    case (.writeRequest, false), (.prepareWriteRequest, false): return (handle, .write)
    case (.writeCommand, false): return (handle, .writeWithoutResponse)
    default: return nil
    }
  }
}
