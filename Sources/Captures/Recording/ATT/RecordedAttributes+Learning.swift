import ATT
import HaloBluetoothCore
import HaloCaptureLinks
import HaloGATT

extension RecordedAttributes {
  /// What the traffic of a connection uses an attribute for.
  typealias Uses = [AttributeHandle: CharacteristicProperties]

  /// Adds what a connection shows in discoveries and reads.
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

  /// Adds what the answer to a request shows.
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

  /// Adds what connections show of attributes that were not discovered: subscriptions, and characteristics that were used.
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
