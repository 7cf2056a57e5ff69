import ATT
import HaloBluetoothCore

/// Finds the recorded answers to the requests of a client, by their meaning.
extension ReplayedServer {
  /// Handles a request or a command.
  func answer(_ pdu: any ATTPDU, _ bytes: RawSpan) {
    let opcode = pdu.opcode
    switch pdu {
    case is ATTExchangeMTURequest: exchangeMTU(bytes)
    case let find as ATTFindInformationRequest: discover(pdu, .information, find.range, bytes)
    case let find as ATTFindByTypeValueRequest:
      discover(pdu, .group(BluetoothUUID(find.type)), find.range, bytes)
    case let read as ATTReadByGroupTypeRequest: discover(pdu, .group(read.type), read.range, bytes)
    case let read as ATTReadByTypeRequest:
      for handle in peripheral.attributes.handles(of: read.type) where read.range.contains(handle) {
        peripheral.meet(.read, at: handle)
      }
      discover(pdu, .byType(read.type), read.range, bytes)
    case let request as ATTReadRequest: read(request.handle, opcode)
    case let request as ATTReadBlobRequest: readBlob(request.handle, Int(request.offset))
    case let request as any ATTHandlesRequest: readSeveral(request.handles, opcode, bytes)
    case let request as any ATTWrite: write(request.value, to: request.handle, opcode)
    case let request as ATTPrepareWriteRequest: prepare(request.part)
    case let request as ATTExecuteWriteRequest: execute(request.flags)
    default:
      // With the command flag, it is never answered (Core Specification Vol 3, Part F, 3.3.1).
      let isCommand = opcode.rawValue & 0x40 != 0
      guard opcode.kind == .request || opcode.kind == .unknown, !isCommand else { return }
      if !replyAsRecorded(.exact(Array(bytes))) {
        refuse(opcode, nil, .requestNotSupported, because: "the capture has no such request")
      }
    }
  }

  // MARK: Matching

  /// Notes the match.
  func taken(_ match: ExchangeMatcher.Match?) -> RecordedDialogue.Exchange? {
    guard let match else { return nil }
    note(match.exchange, isNew: match.isNew)
    return match.exchange
  }

  /// Notes that a recorded request was made.
  ///
  /// - Parameter isNew: whether the exchange was not used before
  func note(_ exchange: RecordedDialogue.Exchange, isNew: Bool) {
    peripheral.matched += 1
    queue.match(exchange, isNew: isNew, at: timers.now)
    guard isNew else { return }
    lastPacket = max(lastPacket, exchange.packet)
    if exchange.packet > position.packet, !isSubscription(exchange) {
      position = (exchange.packet, exchange.time, timers.now)
      scheduleLoss()
    }
  }

  /// A subscription says little about the time: a client makes all of them at its start.
  private func isSubscription(_ exchange: RecordedDialogue.Exchange) -> Bool {
    guard case .write(let handle) = exchange.subject else { return false }
    return peripheral.attributes.owner(ofConfiguration: handle) != nil
  }

  // MARK: Answering

  /// Answers a request with an error.
  ///
  /// - Parameter reason: the data missing in the capture; nil if the recorded server refused, too
  func refuse(
    _ request: ATTOpcode, _ handle: AttributeHandle?, _ code: ATTErrorCode, after delay: Duration = .zero,
    because reason: String? = nil
  ) {
    if let reason { miss(request, handle, handle.flatMap { peripheral.attributes[$0]?.type }, reason) }
    guard request.kind == .request || request.kind == .unknown else { return }
    let response = ATTErrorResponse(request: request, handle: handle ?? AttributeHandle(0), code: code)
    reply(response.bytes, delay)
  }

  /// Notes that the capture has no answer to a request.
  func miss(_ request: ATTOpcode, _ handle: AttributeHandle?, _ uuid: BluetoothUUID?, _ reason: String) {
    lastMissing = timers.now
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

/// Finds the recorded exchange that a request matches by its meaning. Repeated requests get the recorded exchanges one
/// after the other, and then the last one again.
struct ExchangeMatcher {
  struct Match {
    var exchange: RecordedDialogue.Exchange
    /// Whether it was not used before.
    var isNew: Bool
  }

  private struct Use: Hashable {
    var subject: RecordedDialogue.Subject
    /// The common prefix of the values that were looked for.
    var prefix: [UInt8]
  }

  private let dialogue: RecordedDialogue
  /// How often a request was matched.
  private var uses: [Use: Int] = [:]
  /// The exchanges about a subject by their values; made when a subject is first asked for.
  private var byValue: [RecordedDialogue.Subject: [[UInt8]: [Int]]] = [:]

  init(_ dialogue: RecordedDialogue) {
    self.dialogue = dialogue
  }

  /// The next exchange about a subject, whatever its value.
  mutating func next(_ subject: RecordedDialogue.Subject) -> Match? {
    take(dialogue.bySubject[subject] ?? [], Use(subject: subject, prefix: []))
  }

  /// The next exchange about a subject with exactly this value.
  mutating func next(_ subject: RecordedDialogue.Subject, _ value: [UInt8]) -> Match? {
    take(exchanges(about: subject)[value] ?? [], Use(subject: subject, prefix: value))
  }

  /// The next exchange about a subject with a similar value: the one with the longest common beginning.
  ///
  /// - Parameter accepts: whether a recorded value suits; nil if that is not known. Then a value suits that has the same
  ///   length and begins with more of the same bytes than all recorded ones do.
  mutating func nextAlike(
    _ subject: RecordedDialogue.Subject, _ value: [UInt8], accepts: ([UInt8]) -> Bool?
  ) -> Match? {
    let recorded = exchanges(about: subject)
    guard let first = recorded.keys.first else { return nil }
    // A beginning that all commands have does not distinguish them.
    let shared = recorded.count == 1 ? 0 : recorded.keys.reduce(Int.max) { min($0, Self.common($1, first)) }
    let alike = recorded.filter { other, _ in
      accepts(other) ?? (other.count == value.count && Self.common(other, value) > shared)
    }
    guard let best = alike.keys.map({ Self.common($0, value) }).max() else { return nil }
    let found = alike.filter { Self.common($0.key, value) == best }.values.joined().sorted()
    return take(found, Use(subject: subject, prefix: Array(value.prefix(best))))
  }

  private mutating func take(_ found: [Int], _ use: Use) -> Match? {
    guard let last = found.last else { return nil }
    let number = uses[use, default: 0]
    uses[use] = number + 1
    let isNew = number < found.count
    return Match(exchange: dialogue.exchanges[isNew ? found[number] : last], isNew: isNew)
  }

  private mutating func exchanges(about subject: RecordedDialogue.Subject) -> [[UInt8]: [Int]] {
    if let known = byValue[subject] { return known }
    let made = Dictionary(grouping: dialogue.bySubject[subject] ?? []) { dialogue.exchanges[$0].value }
    byValue[subject] = made
    return made
  }

  private static func common(_ a: [UInt8], _ b: [UInt8]) -> Int {
    zip(a, b).prefix { $0 == $1 }.count
  }
}
