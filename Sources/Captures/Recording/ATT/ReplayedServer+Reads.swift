import ATT
import HaloGATT
import HaloBluetoothCore

/// Answers discoveries and reads as the recorded server did, or from the table of its attributes.
extension ReplayedServer {
  func exchangeMTU(_ bytes: RawSpan) {
    if let error = dialogue.mtuError, dialogue.serverMTU == nil {
      return refuse(.exchangeMTURequest, nil, error)
    }
    guard let answer = table.receive(bytes).first else { return }
    let recorded = dialogue.exchanges.first { $0.opcode == .exchangeMTURequest }
    if let recorded { note(recorded, isNew: true) } else { peripheral.matched += 1 }
    reply(answer, .microseconds(recorded?.responseDelay ?? 0))
  }

  /// Answers as recorded if the request was, else from the table.
  func discover(
    _ request: any ATTPDU, _ question: RecordedAttributes.Question, _ range: HandleRange, _ bytes: RawSpan
  ) {
    if replyAsRecorded(.exact(Array(bytes))) { return }
    guard let answer = table.receive(bytes).first else { return }
    let error = try? ATTErrorResponse(pdu: answer.span.bytes)
    if let error, error.code == .readNotPermitted, let type = question.type {
      miss(request.opcode, error.handle, type, "its value was not read")
    } else if let error, error.code == .attributeNotFound, !isForServiceChanged(request),
      !peripheral.attributes.covers(question, range)
    {
      miss(request.opcode, range.start, question.type, "\(question) in \(range) was not asked for")
    } else {
      peripheral.matched += 1
    }
    reply(answer)
  }

  /// Whether the service with Service Changed is looked for, which the stack does on each link that lasts, and others do not.
  private func isForServiceChanged(_ request: any ATTPDU) -> Bool {
    guard let value = (request as? ATTFindByTypeValueRequest)?.value else { return false }
    var reader = ByteReader(value.span.bytes)
    // A service that is not found is looked for in the long form, too.
    return (try? BluetoothUUID(parsing: &reader, length: value.count)) == GATTUUID.genericAttribute
  }

  func read(_ handle: AttributeHandle, _ opcode: ATTOpcode) {
    peripheral.meet(.read, at: handle)
    guard let value = nextValue(of: handle, opcode) else { return }
    reply(ATTReadResponse(Array(value.prefix(table.mtu - 1))).bytes, delay(of: handle))
  }

  func readBlob(_ handle: AttributeHandle, _ offset: Int) {
    let known = offset == 0 ? nil : values[handle]
    guard let value = known ?? nextValue(of: handle, .readBlobRequest) else { return }
    guard offset <= value.count else { return refuse(.readBlobRequest, handle, .invalidOffset) }
    let part = Array(value.dropFirst(offset).prefix(table.mtu - 1))
    reply(ATTReadBlobResponse(part).bytes, delay(of: handle))
  }

  func readSeveral(_ handles: [AttributeHandle], _ opcode: ATTOpcode, _ bytes: RawSpan) {
    if replyAsRecorded(.exact(Array(bytes))) { return }
    var all: [[UInt8]] = []
    for handle in handles {
      peripheral.meet(.read, at: handle)
      guard let value = nextValue(of: handle, opcode) else { return }
      all.append(value)
    }
    let answer = SeveralValues(hasLengths: opcode == .readMultipleVariableRequest, all)
    reply(answer.responseBytes(mtu: table.mtu))
  }

  /// The value that the recorded server gave next; without one, that of the table. Refuses the request otherwise.
  private func nextValue(of handle: AttributeHandle, _ request: ATTOpcode) -> [UInt8]? {
    if let exchange = taken(matcher.next(.read(handle))) {
      if let code = exchange.errorCode {
        refuse(request, handle, code)
        return nil
      }
      values[handle] = exchange.value
      return exchange.value
    }
    let attributes = peripheral.attributes
    if let value = values[handle] ?? (attributes.hasValue(handle) ? attributes[handle]?.value : nil) {
      peripheral.matched += 1
      values[handle] = value
      return value
    }
    if attributes.owner(ofConfiguration: handle) != nil {
      peripheral.matched += 1
      return [0, 0]
    }
    if attributes[handle] == nil {
      refuse(request, handle, .invalidHandle, because: "the capture has no attribute with this handle")
    } else if let properties = attributes.properties(of: handle), !properties.contains(.read) {
      peripheral.matched += 1
      refuse(request, handle, .readNotPermitted)
    } else {
      refuse(request, handle, .readNotPermitted, because: "its value was not read")
    }
    return nil
  }

  /// The time that the last recorded read took.
  private func delay(of handle: AttributeHandle) -> Duration {
    let last = dialogue.bySubject[.read(handle)]?.last.map { dialogue.exchanges[$0].responseDelay }
    return .microseconds(last ?? 0)
  }

  /// Sends the recorded answer if the same request was recorded, and if its answer fits.
  func replyAsRecorded(_ subject: RecordedDialogue.Subject) -> Bool {
    guard let all = dialogue.bySubject[subject], !all.isEmpty else { return false }
    let fits = all.allSatisfy { index in
      dialogue.exchanges[index].response.map { $0.bytes.count <= table.mtu } ?? false
    }
    guard fits, let exchange = taken(matcher.next(subject)), let response = exchange.response else {
      return false
    }
    reply(response.bytes, .microseconds(exchange.responseDelay))
    return true
  }
}

extension RecordedAttributes.Question: CustomStringConvertible {
  /// The type that is asked for; nil for all.
  var type: BluetoothUUID? {
    switch self {
    case .information: nil
    case .group(let type), .byType(let type): type
    }
  }

  var description: String {
    switch self {
    case .information: "what is"
    case .group(let type), .byType(let type): GATTUUID.name(of: type) ?? "type \(type)"
    }
  }
}
