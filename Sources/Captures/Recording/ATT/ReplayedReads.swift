import ATT
import GATTServer
import HaloBluetoothCore
import HaloGATT

/// Answers discoveries and reads as the recorded server did, or from the table of its attributes.
@BluetoothActor
final class ReplayedReads {
  private let context: ReplayContext
  private let table: UnlinkedServer
  private var matcher: ExchangeMatcher

  init(_ context: ReplayContext) {
    self.context = context
    matcher = ExchangeMatcher(context.dialogue)
    let mtu = context.dialogue.serverMTU.map(Int.init) ?? context.dialogue.longestPDU
    table = UnlinkedServer(AttributeDatabase(context.peripheral.attributes.attributes), mtu: mtu)
  }

  func exchangeMTU(_ bytes: RawSpan) {
    if let error = context.dialogue.mtuError, context.dialogue.serverMTU == nil {
      return context.refuse(.exchangeMTURequest, nil, error)
    }
    guard let answer = table.receive(bytes).first else { return }
    let recorded = context.dialogue.exchanges.firstIndex { $0.opcode == .exchangeMTURequest }
    if let recorded {
      context.note(context.dialogue.exchanges[recorded], isNew: true)
    } else {
      context.peripheral.matched += 1
    }
    context.reply(
      answer, .microseconds(recorded.map { context.dialogue.exchanges[$0].responseDelay } ?? 0))
  }

  /// Answers as recorded if the request was, else from the table.
  func discover(
    _ request: any ATTPDU, _ question: RecordedAttributes.Question, _ range: HandleRange, _ bytes: RawSpan
  ) {
    if replyAsRecorded(.exact(Array(bytes))) { return }
    guard let answer = table.receive(bytes).first else { return }
    let error = try? ATTErrorResponse(pdu: answer.span.bytes)
    if let error, error.code == .readNotPermitted, let type = question.type {
      context.miss(request.opcode, error.handle, type, "its value was not read")
    } else if let error, error.code == .attributeNotFound, !isForServiceChanged(request),
      !context.peripheral.attributes.covers(question, range)
    {
      context.miss(request.opcode, range.start, question.type, "\(question) in \(range) was not asked for")
    } else {
      context.peripheral.matched += 1
    }
    context.reply(answer)
  }

  /// Whether the service with Service Changed is looked for, which the stack does on each link that lasts, and others do not.
  private func isForServiceChanged(_ request: any ATTPDU) -> Bool {
    guard let value = (request as? ATTFindByTypeValueRequest)?.value else { return false }
    var reader = ByteReader(value.span.bytes)
    // A service that is not found is looked for in the long form, too.
    return (try? BluetoothUUID(parsing: &reader, length: value.count)) == GATTUUID.genericAttribute
  }

  func read(_ handle: AttributeHandle, _ opcode: ATTOpcode) {
    context.peripheral.meet(.read, at: handle)
    guard let value = nextValue(of: handle, opcode) else { return }
    context.reply(ATTReadResponse(Array(value.prefix(table.mtu - 1))).bytes, delay(of: .read(handle)))
  }

  func readBlob(_ handle: AttributeHandle, _ offset: Int) {
    guard
      let value = offset == 0
        ? nextValue(of: handle, .readBlobRequest)
        : context.values[handle]
          ?? nextValue(of: handle, .readBlobRequest)
    else { return }
    guard offset <= value.count else { return context.refuse(.readBlobRequest, handle, .invalidOffset) }
    context.reply(
      ATTReadBlobResponse(Array(value.dropFirst(offset).prefix(table.mtu - 1))).bytes,
      delay(of: .read(handle)))
  }

  func readSeveral(_ handles: [AttributeHandle], _ opcode: ATTOpcode, _ bytes: RawSpan) {
    if replyAsRecorded(.exact(Array(bytes))) { return }
    var all: [[UInt8]] = []
    for handle in handles {
      context.peripheral.meet(.read, at: handle)
      guard let value = nextValue(of: handle, opcode) else { return }
      all.append(value)
    }
    let answer = SeveralValues(hasLengths: opcode == .readMultipleVariableRequest, all)
    context.reply(answer.responseBytes(mtu: table.mtu))
  }

  /// The value that the recorded server gave next; without one, that of the table. Refuses the request otherwise.
  private func nextValue(of handle: AttributeHandle, _ request: ATTOpcode) -> [UInt8]? {
    if let exchange = context.taken(matcher.next(.read(handle))) {
      if let code = exchange.errorCode {
        context.refuse(request, handle, code)
        return nil
      }
      context.values[handle] = exchange.value
      return exchange.value
    }
    let attributes = context.peripheral.attributes
    if let value = context.values[handle] ?? (attributes.hasValue(handle) ? attributes[handle]?.value : nil) {
      context.peripheral.matched += 1
      context.values[handle] = value
      return value
    }
    if attributes.owner(ofConfiguration: handle) != nil {
      context.peripheral.matched += 1
      return [0, 0]
    }
    if attributes[handle] == nil {
      context.refuse(
        request, handle, .invalidHandle, because: "the capture has no attribute with this handle")
    } else if let properties = attributes.properties(of: handle), !properties.contains(.read) {
      context.peripheral.matched += 1
      context.refuse(request, handle, .readNotPermitted)
    } else {
      context.refuse(request, handle, .readNotPermitted, because: "its value was not read")
    }
    return nil
  }

  private func delay(of subject: RecordedDialogue.Subject) -> Duration {
    let last = context.dialogue.bySubject[subject]?.last.map { context.dialogue.exchanges[$0].responseDelay }
    return .microseconds(last ?? 0)
  }

  /// Sends the recorded answer if the same request was recorded, and if its answer fits.
  func replyAsRecorded(_ subject: RecordedDialogue.Subject) -> Bool {
    guard let all = context.dialogue.bySubject[subject], !all.isEmpty else { return false }
    let fits = all.allSatisfy { index in
      context.dialogue.exchanges[index].response.map { $0.bytes.count <= table.mtu } ?? false
    }
    guard fits, let exchange = context.taken(matcher.next(subject)), let response = exchange.response else {
      return false
    }
    context.reply(response.bytes, .microseconds(exchange.responseDelay))
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
