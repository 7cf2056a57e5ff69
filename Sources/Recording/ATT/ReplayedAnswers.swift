import ATT
import BluetoothCore
import GATTClient
import GATTServer

/// Finds the recorded answers to the requests of a client, by their meaning. What follows from a request is returned: it
/// keeps no time, and sends nothing.
@BluetoothActor
final class ReplayedAnswers {
  /// What follows from a PDU of the client.
  enum Effect {
    /// A response, after some time.
    case reply([UInt8], Duration)
    /// A recorded request was made; whether it was not made before.
    case match(RecordedDialogue.Exchange, isNew: Bool)
    /// The client has written something that is no subscription.
    case ask
    /// The client has subscribed to the characteristic with its value at this handle, as in a recorded exchange.
    case subscribe(AttributeHandle, RecordedDialogue.Exchange?)
    case unsubscribe(AttributeHandle)
    /// A made-up notification.
    case notify(AttributeHandle, [UInt8])
    /// A request that the capture has no answer for.
    case miss
  }

  private let peripheral: ReplayedPeripheral
  private let dialogue: RecordedDialogue
  private var table: AttributeServer
  private var matcher: ExchangeMatcher
  private var values: [AttributeHandle: [UInt8]] = [:]
  private var prepared: [ATTPreparedWrite] = []
  private static let preparedLimit = 1024
  /// The last recorded packet that matched.
  private var lastPacket = 0
  private var effects: [Effect] = []

  init(_ peripheral: ReplayedPeripheral, _ dialogue: RecordedDialogue) {
    self.peripheral = peripheral
    self.dialogue = dialogue
    matcher = ExchangeMatcher(dialogue)
    let mtu = dialogue.serverMTU.map(Int.init) ?? dialogue.longestPDU
    table = AttributeServer(
      attributes: peripheral.attributes.attributes, mtu: UInt16(clamping: max(ATTBearer.defaultMTU, mtu)))
  }

  /// Handles a request or a command.
  func receive(_ pdu: ATTPDU, _ bytes: RawSpan) -> [Effect] {
    effects = []
    answer(pdu, bytes)
    return effects
  }

  /// Refuses a request that can't be parsed.
  func refuse(_ opcode: ATTOpcode) -> [Effect] {
    effects = []
    refuse(opcode, nil, .invalidPDU)
    return effects
  }

  private func answer(_ pdu: ATTPDU, _ bytes: RawSpan) {
    let opcode = pdu.opcode
    switch pdu {
    case .exchangeMTURequest(let mtu): exchangeMTU(mtu, bytes)
    case .findInformationRequest(let range): discover(pdu, .information, range, bytes)
    case .findByTypeValueRequest(let range, let type, _):
      discover(pdu, .group(BluetoothUUID(type)), range, bytes)
    case .readByGroupTypeRequest(let range, let type): discover(pdu, .group(type), range, bytes)
    case .readByTypeRequest(let range, let type):
      for handle in peripheral.attributes.handles(of: type) where range.contains(handle) {
        peripheral.meet(.read, at: handle)
      }
      discover(pdu, .byType(type), range, bytes)
    case .readRequest(let handle): read(handle, opcode)
    case .readBlobRequest(let handle, let offset): readBlob(handle, Int(offset))
    case .readMultipleRequest(let handles), .readMultipleVariableRequest(let handles):
      readSeveral(handles, opcode, bytes)
    case .writeRequest(let handle, let value): write(value, to: handle, opcode)
    case .writeCommand(let handle, let value), .signedWriteCommand(let handle, let value, _):
      write(value, to: handle, opcode)
    case .prepareWriteRequest(let part): prepare(part)
    case .executeWriteRequest(let flags): execute(flags)
    default:
      guard opcode.kind == .request || opcode.kind == .unknown, !opcode.isCommand else { return }
      if !replyAsRecorded(.exact(Array(bytes))) {
        refuse(opcode, nil, .requestNotSupported, because: "the capture has no such request")
      }
    }
  }

  private func exchangeMTU(_ mtu: UInt16, _ bytes: RawSpan) {
    if let error = dialogue.mtuError, dialogue.serverMTU == nil {
      return refuse(.exchangeMTURequest, nil, error)
    }
    guard let answer = table.receive(bytes).answer else { return }
    let recorded = dialogue.exchanges.firstIndex { $0.opcode == .exchangeMTURequest }
    if let recorded { note(dialogue.exchanges[recorded], isNew: true) } else { peripheral.matched += 1 }
    reply(answer.bytes, .microseconds(recorded.map { dialogue.exchanges[$0].responseDelay } ?? 0))
  }

  /// Answers as recorded if the request was, else from the table.
  private func discover(
    _ request: ATTPDU, _ question: RecordedAttributes.Question, _ range: HandleRange, _ bytes: RawSpan
  ) {
    if replyAsRecorded(.exact(Array(bytes))) { return }
    guard let answer = table.receive(bytes).answer else { return }
    if case .errorResponse(let error) = answer, error.code == .readNotPermitted, let type = question.type {
      note(request.opcode, error.handle, type, "its value was not read")
    } else if case .errorResponse(let error) = answer, error.code == .attributeNotFound,
      !peripheral.attributes.covers(question, range)
    {
      note(request.opcode, range.start, question.type, "\(question) in \(range) was not asked for")
    } else {
      peripheral.matched += 1
    }
    reply(answer.bytes)
  }

  private func read(_ handle: AttributeHandle, _ opcode: ATTOpcode) {
    peripheral.meet(.read, at: handle)
    guard let value = nextValue(of: handle, opcode) else { return }
    reply(ATTPDU.readResponse(Array(value.prefix(table.mtu - 1))).bytes, delay(of: .read(handle)))
  }

  private func readBlob(_ handle: AttributeHandle, _ offset: Int) {
    guard
      let value = offset == 0
        ? nextValue(of: handle, .readBlobRequest)
        : values[handle]
          ?? nextValue(of: handle, .readBlobRequest)
    else { return }
    guard offset <= value.count else { return refuse(.readBlobRequest, handle, .invalidOffset) }
    reply(
      ATTPDU.readBlobResponse(Array(value.dropFirst(offset).prefix(table.mtu - 1))).bytes,
      delay(of: .read(handle)))
  }

  private func readSeveral(_ handles: [AttributeHandle], _ opcode: ATTOpcode, _ bytes: RawSpan) {
    if replyAsRecorded(.exact(Array(bytes))) { return }
    var all: [[UInt8]] = []
    for handle in handles {
      peripheral.meet(.read, at: handle)
      guard let value = nextValue(of: handle, opcode) else { return }
      all.append(value)
    }
    let answer: ATTPDU
    if opcode == .readMultipleRequest {
      answer = .readMultipleResponse(Array(all.joined().prefix(table.mtu - 1)))
    } else {
      answer = .readMultipleVariableResponse(all)
    }
    reply(answer.bytes)
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

  // MARK: Writes

  private func write(_ value: [UInt8], to handle: AttributeHandle, _ opcode: ATTOpcode) {
    peripheral.meet(.write(value), at: handle)
    if let owner = peripheral.attributes.owner(ofConfiguration: handle) {
      return configure(owner, handle, value, opcode)
    }
    effects.append(.ask)
    guard let exchange = matchWrite(value, to: handle) else {
      if answerWithoutData(to: value, at: handle, opcode) { return }
      return refuse(
        opcode, handle, peripheral.attributes[handle] == nil ? .invalidHandle : .writeRequestRejected,
        because: dialogue.bySubject[.write(handle)] == nil
          ? "nothing was written to it"
          : "\(Hex.string(value.prefix(24), separator: " ")) was not written to it")
    }
    answer(exchange, to: opcode, handle)
  }

  /// The recorded write with this value; without one, the next with the longest common beginning.
  private func matchWrite(_ value: [UInt8], to handle: AttributeHandle) -> RecordedDialogue.Exchange? {
    let subject = RecordedDialogue.Subject.write(handle)
    if let exchange = taken(matcher.next(subject, value)) { return exchange }
    guard peripheral.matching == .similar else { return nil }
    let (dialect, uuid) = (peripheral.dialect, peripheral.attributes[handle]?.type)
    let alike = matcher.nextAlike(subject, value) { dialect?.accepts($0, for: value, at: uuid) }
    guard let exchange = taken(alike) else { return nil }
    note(AdaptedWrite(handle: handle, sent: value, recorded: exchange.value, packet: exchange.packet))
    return exchange
  }

  /// Answers that there is no data, where the device has a way to say so.
  private func answerWithoutData(
    to value: [UInt8], at handle: AttributeHandle, _ opcode: ATTOpcode
  ) -> Bool {
    let attributes = peripheral.attributes
    guard peripheral.matching == .similar,
      let answer = peripheral.dialect?.answerWithoutData(to: value, at: attributes[handle]?.type),
      let notified = attributes.handles(of: answer.characteristic).first
    else { return false }
    note(AdaptedWrite(handle: handle, sent: value))
    peripheral.matched += 1
    if opcode.kind == .request { reply(ATTPDU.writeResponse.bytes) }
    effects.append(.notify(notified, answer.value))
    return true
  }

  private func note(_ write: AdaptedWrite) {
    if peripheral.adapted.count < ReplayedPeripheral.mostReports { peripheral.adapted.append(write) }
  }

  /// Answers a write of a Client Characteristic Configuration. It needs no recorded answer, as its effect is specified.
  private func configure(
    _ owner: AttributeHandle, _ handle: AttributeHandle, _ value: [UInt8], _ opcode: ATTOpcode
  ) {
    let exchange = taken(matcher.next(.write(handle), value))
    if exchange?.errorCode == nil {
      values[handle] = value
      if value.first ?? 0 != 0 {
        peripheral.meet(.subscription, at: owner)
        effects.append(.subscribe(owner, exchange))
      } else {
        effects.append(.unsubscribe(owner))
      }
    }
    if let exchange { return answer(exchange, to: opcode, handle) }
    peripheral.matched += 1
    if opcode.kind == .request { reply(ATTPDU.writeResponse.bytes) }
  }

  /// Sends the recorded answer, in the form that the request has.
  private func answer(
    _ exchange: RecordedDialogue.Exchange, to opcode: ATTOpcode, _ handle: AttributeHandle
  ) {
    guard opcode.kind == .request else { return }
    let delay = Duration.microseconds(exchange.responseDelay)
    if let code = exchange.errorCode {
      refuse(opcode, handle, code, after: delay)
    } else if opcode == .executeWriteRequest {
      reply(ATTPDU.executeWriteResponse.bytes, delay)
    } else {
      reply(ATTPDU.writeResponse.bytes, delay)
    }
  }

  private func prepare(_ part: ATTPreparedWrite) {
    guard peripheral.attributes[part.handle] != nil || dialogue.bySubject[.write(part.handle)] != nil else {
      return refuse(.prepareWriteRequest, part.handle, .invalidHandle, because: "nothing was written to it")
    }
    guard prepared.count < Self.preparedLimit else {
      return refuse(.prepareWriteRequest, part.handle, .prepareQueueFull)
    }
    prepared.append(part)
    reply(ATTPDU.prepareWriteResponse(part).bytes)
  }

  private func execute(_ flags: ATTExecuteFlags) {
    let parts = prepared
    prepared = []
    guard flags == .write, let first = parts.first else {
      return reply(ATTPDU.executeWriteResponse.bytes)
    }
    write(parts.filter { $0.handle == first.handle }.flatMap(\.value), to: first.handle, .executeWriteRequest)
  }

  // MARK: Matching

  /// Notes what was matched.
  private func taken(_ match: ExchangeMatcher.Match?) -> RecordedDialogue.Exchange? {
    guard let match else { return nil }
    note(match.exchange, isNew: match.isNew)
    return match.exchange
  }

  /// - Parameter isNew: whether the exchange was not used before
  private func note(_ exchange: RecordedDialogue.Exchange, isNew: Bool) {
    peripheral.matched += 1
    if isNew { lastPacket = max(lastPacket, exchange.packet) }
    effects.append(.match(exchange, isNew: isNew))
  }

  private func delay(of subject: RecordedDialogue.Subject) -> Duration {
    let last = dialogue.bySubject[subject]?.last.map { dialogue.exchanges[$0].responseDelay }
    return .microseconds(last ?? 0)
  }

  /// Sends the recorded answer if the same request was recorded, and if its answer fits.
  private func replyAsRecorded(_ subject: RecordedDialogue.Subject) -> Bool {
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

  // MARK: Answering

  private func reply(_ bytes: [UInt8], _ delay: Duration = .zero) { effects.append(.reply(bytes, delay)) }

  /// - Parameter reason: what the capture lacks; nil if the recorded server refused, too
  private func refuse(
    _ request: ATTOpcode, _ handle: AttributeHandle?, _ code: ATTErrorCode, after delay: Duration = .zero,
    because reason: String? = nil
  ) {
    if let reason { note(request, handle, handle.flatMap { peripheral.attributes[$0]?.type }, reason) }
    guard request.kind == .request || request.kind == .unknown else { return }
    let response = ATTErrorResponse(request: request, handle: handle ?? AttributeHandle(0), code: code)
    reply(ATTPDU.errorResponse(response).bytes, delay)
  }

  private func note(
    _ request: ATTOpcode, _ handle: AttributeHandle?, _ uuid: BluetoothUUID?, _ reason: String
  ) {
    effects.append(.miss)
    guard peripheral.missing.count < ReplayedPeripheral.mostReports else { return }
    peripheral.missing.append(
      MissingAnswer(
        request: request, handle: handle, uuid: uuid, reason: reason,
        nearestPacket: nearest(request, handle)))
  }

  /// The packet with the request of the same kind on the nearest handle; without one, the last that matched.
  private func nearest(_ request: ATTOpcode, _ handle: AttributeHandle?) -> Int? {
    func distance(_ exchange: RecordedDialogue.Exchange) -> Int {
      switch exchange.subject {
      case .write(let other), .read(let other): abs(Int(other.rawValue) - Int(handle?.rawValue ?? 0))
      case .exact: 0
      }
    }
    let same = dialogue.exchanges.lazy.filter { $0.opcode == request }
    return same.min { distance($0) < distance($1) }?.packet ?? (lastPacket > 0 ? lastPacket : nil)
  }
}

extension ATTOpcode {
  /// The command flag: never answered (Core Specification Vol 3, Part F, 3.3.1).
  fileprivate var isCommand: Bool { rawValue & 0x40 != 0 }
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
