import ATT
import HaloBluetoothCore
import HaloCapture
import HaloGATT

extension RecordedAttributes {
  /// The uses of attributes in the traffic of a connection.
  typealias Uses = [AttributeHandle: CharacteristicProperties]

  /// Adds the attributes that a connection shows in discoveries and reads.
  mutating func learn(_ connection: RecordedConnection) {
    var open: (any ATTPDU)?
    for pdu in connection.pdus {
      guard let first = pdu.bytes.first else { continue }
      let kind = ATTOpcode(rawValue: first).kind
      if !pdu.isFromServer, kind == .request {
        open = try? ATTReader.read(pdu.bytes.span.bytes)
      } else if pdu.isFromServer, kind == .response, let request = open,
        let response = try? ATTReader.read(pdu.bytes.span.bytes), response.answers(request)
      {
        open = nil
        learn(request, response)
      }
    }
    learned.addIncludedServices()
  }

  /// Adds the attributes that the answer to a request shows.
  mutating func learn(_ request: any ATTPDU, _ response: any ATTPDU) {
    learned.learn(request, response)
    guard let question = Question(request), let range = request.target.range else { return }
    if let error = response as? ATTErrorResponse {
      if error.code == .attributeNotFound { cover(question, range) }
    } else if let last = response.lastFound {
      cover(question, HandleRange(range.start, last))
    }
    guard question == .byType(GATTUUID.characteristic), let list = response as? ATTReadByTypeResponse else {
      return
    }
    // The value follows its declaration, so a client may continue after it.
    for entry in list.entries {
      let declared = CharacteristicDeclaration(parsing: entry.value)
      if let declared { cover(question, HandleRange(entry.handle, declared.valueHandle)) }
    }
  }

  /// Adds attributes that connections use without having discovered them: subscriptions, and characteristics.
  mutating func learnUses(_ connections: [RecordedConnection]) {
    var uses: Uses = [:]
    var inferred = InferredConfigurations()
    for connection in connections {
      for pdu in connection.pdus {
        guard let (handle, use) = pdu.use else { continue }
        uses[handle, default: []].formUnion(use)
        if use == .write, learned[handle] == nil {
          inferred.noteWrite(handle, pdu.bytes.span.bytes.extracting(3...))
        }
        if use.canNotify { inferred.noteValue(handle) }
      }
    }
    for handle in inferred.handles {
      if let owner = inferred.sender(before: handle) { addConfiguration(handle, of: owner) }
    }
    addMissingCharacteristics(uses)
    addMissingServices()
  }
}

extension RecordedAttributes.Question {
  /// The question of a request; nil for another one.
  init?(_ request: any ATTPDU) {
    switch request {
    case is ATTFindInformationRequest: self = .information
    case let request as ATTReadByGroupTypeRequest: self = .group(request.type)
    case let request as ATTReadByTypeRequest: self = .byType(request.type)
    default: return nil
    }
  }
}

extension CharacteristicProperties {
  /// Whether the characteristic sends values on its own.
  var canNotify: Bool { !isDisjoint(with: [.notify, .indicate]) }
}

extension RecordedConnection.PDU {
  /// The attribute that it is about, and the use of it; nil for a PDU of another kind.
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

/// The declarations that a client needs to use an attribute that was discovered before the capture: a characteristic, and a
/// service around it. Their UUIDs are made up.
extension RecordedAttributes {
  /// The UUID of services that are made up, `68616C6F-2D72-4177-A072-65706C610000`. That of a characteristic ends with the
  /// handle of its value.
  package static let madeUpUUID = BluetoothUUID(0x6861_6C6F_2D72_4177_A072_6570_6C61_0000)

  /// The UUID of the characteristic that is made up for a value.
  package static func madeUpUUID(_ handle: AttributeHandle) -> BluetoothUUID {
    BluetoothUUID(madeUpUUID.value | UInt128(handle.rawValue))
  }

  /// Adds a characteristic for each attribute that was used and is unknown, where its declaration has a place: at the
  /// handle before the value, as in the tables of all known servers.
  mutating func addMissingCharacteristics(_ uses: Uses) {
    for (handle, properties) in uses.sorted(by: { $0.key < $1.key }) where learned[handle] == nil {
      let declaration = AttributeHandle(handle.rawValue &- 1)
      guard declaration.isValid, hasRoom, learned[declaration] == nil, uses[declaration] == nil else {
        continue
      }
      let uuid = Self.madeUpUUID(handle)
      learned.insert(
        declaration, GATTUUID.characteristic, CharacteristicDeclaration(uuid, properties, at: handle).bytes)
      learned.insert(handle, uuid)
      madeUp.append(handle)
      guard properties.canNotify, !hasConfiguration(handle),
        let configuration = handle.next, learned[configuration] == nil, uses[configuration] == nil
      else { continue }
      addConfiguration(configuration, of: handle)
    }
  }

  /// Puts the characteristics whose service the capture does not show into a service that is made up, declared at the
  /// last free handle before them: one service, or as many as there are others between them.
  mutating func addMissingServices() {
    let service = ServiceDeclaration(Self.madeUpUUID)
    let all = learned.handles
    guard let last = all.last else { return }
    let services = learned.serviceRanges
    var (next, covered) = (0, AttributeHandle(0))
    for first in all where learned[first]?.type == GATTUUID.characteristic {
      while next < services.count, services[next].start <= first {
        covered = max(covered, services[next].end)
        next += 1
      }
      guard first > covered,
        let handle = (1..<first.rawValue).last(where: { learned[AttributeHandle($0)] == nil })
      else { continue }
      let end = next < services.count ? AttributeHandle(services[next].start.rawValue - 1) : last
      let range = HandleRange(AttributeHandle(handle), end)
      learned.insertService(service.type, range, service.bytes)
      for type in [GATTUUID.characteristic, GATTUUID.include] { cover(.byType(type), range) }
      cover(.information, range)
      cover(.group(GATTUUID.primaryService), .all)
      covered = end
    }
  }
}
