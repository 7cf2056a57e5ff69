import ATT
import BluetoothCore
import GATTClient

/// The traffic of one recorded connection by its meaning: what was asked and answered, and what the server sent after
/// which request.
struct RecordedDialogue {
  /// What makes two requests the same.
  enum Subject: Hashable {
    /// A value written in any way: with or without response, signed, or in parts.
    case write(AttributeHandle)
    case read(AttributeHandle)
    /// Any other request: all its bytes.
    case exact([UInt8])
  }

  /// A PDU of the server without a request.
  struct Follower {
    var packet: Int
    /// In microseconds after the request that it follows.
    var delay: Int64
    var bytes: [UInt8]
    /// The attribute of a notification or an indication.
    var handle: AttributeHandle?
  }

  /// A request with its answer.
  struct Exchange {
    var packet: Int
    var time: Int64
    var opcode: ATTOpcode
    var subject: Subject
    /// The bytes that were written; for a read, those that were read, with the parts that Read Blob brought.
    var value: [UInt8] = []
    /// Nil for a command, and for a request that was not answered.
    var response: ATTPDU?
    /// In microseconds.
    var responseDelay: Int64 = 0
    var followers: [Follower] = []

    var errorCode: ATTErrorCode? {
      if case .errorResponse(let error)? = response { error.code } else { nil }
    }
  }

  private(set) var exchanges: [Exchange] = []
  /// The exchanges of each subject, in order.
  private(set) var bySubject: [Subject: [Int]] = [:]
  /// What the server sent before any request, with the time since the start: its own requests, too.
  private(set) var greeting: [Follower] = []
  /// What characteristics sent without a recorded subscription, with the time since the start.
  private(set) var unsubscribed: [AttributeHandle: [Follower]] = [:]
  /// The MTU of the server; nil if it was not exchanged.
  private(set) var serverMTU: UInt16?
  private(set) var mtuError: ATTErrorCode?
  /// The largest PDU of the server, in bytes.
  private(set) var longestPDU = 0

  let start: Int64
  let end: Int64

  init(_ connection: RecordedConnection, _ attributes: RecordedAttributes) {
    start = connection.start
    end = connection.end
    var builder = DialogueBuilder(connection)
    exchanges = builder.collectExchanges()
    serverMTU = builder.serverMTU
    mtuError = builder.mtuError
    longestPDU = builder.longestPDU
    dropRefusalsForSecurity()
    for (index, exchange) in exchanges.enumerated() { bySubject[exchange.subject, default: []].append(index) }
    var anchors = FollowerAnchors(exchanges, attributes)
    for pdu in builder.initiated { place(pdu, &anchors, connection.start) }
  }

  /// The time of the recorded subscription to a characteristic; the start if it is not in the capture.
  func subscription(to handle: AttributeHandle, _ attributes: RecordedAttributes) -> Int64 {
    exchanges.first { exchange in
      guard case .write(let written) = exchange.subject, exchange.value.first ?? 0 != 0 else { return false }
      return attributes.owner(ofConfiguration: written) == handle
    }?.time ?? start
  }

  /// What a characteristic sent after the writes of the recorded client, with the time since `time`, in order.
  ///
  /// What followed its subscription is left out.
  func answers(of handle: AttributeHandle, after time: Int64) -> [Follower] {
    var all: [Follower] = []
    for exchange in exchanges where exchange.time > time {
      for var follower in exchange.followers where follower.handle == handle {
        follower.delay += exchange.time - time
        all.append(follower)
      }
    }
    return all.sorted { $0.packet < $1.packet }
  }

  /// A refusal that asks for security is left out where the same request was answered later: the replayed link has the
  /// security that the recorded one got.
  private mutating func dropRefusalsForSecurity() {
    var answered: Set<Subject> = []
    for exchange in exchanges where exchange.errorCode == nil { answered.insert(exchange.subject) }
    exchanges.removeAll { exchange in
      guard let code = exchange.errorCode else { return false }
      let isSecurity = code == .insufficientAuthentication || code == .insufficientEncryption
      return isSecurity && answered.contains(exchange.subject)
    }
  }

  private mutating func place(
    _ pdu: RecordedConnection.PDU, _ anchors: inout FollowerAnchors, _ start: Int64
  ) {
    let handle = pdu.bytes.withReader { reader -> AttributeHandle? in
      let opcode = (try? reader.readUInt8()).map { ATTOpcode(rawValue: $0) }
      guard opcode == .handleValueNotification || opcode == .handleValueIndication else { return nil }
      return (try? reader.readUInt16()).map { AttributeHandle($0) }
    }
    var follower = Follower(packet: pdu.packet, delay: pdu.time - start, bytes: pdu.bytes, handle: handle)
    switch anchors.anchor(of: pdu, handle) {
    case .exchange(let index):
      follower.delay = pdu.time - exchanges[index].time
      exchanges[index].followers.append(follower)
    case .subscription(let handle): unsubscribed[handle, default: []].append(follower)
    case .start: greeting.append(follower)
    }
  }
}

/// Pairs requests and answers.
private struct DialogueBuilder {
  private let connection: RecordedConnection
  private(set) var serverMTU: UInt16?
  private(set) var mtuError: ATTErrorCode?
  private(set) var longestPDU = 0
  /// What the server sent without a request.
  private(set) var initiated: [RecordedConnection.PDU] = []

  private typealias Exchange = RecordedDialogue.Exchange
  private var exchanges: [RecordedDialogue.Exchange] = []
  /// The request that is not answered yet.
  private var open: (pdu: ATTPDU, exchange: RecordedDialogue.Exchange?, time: Int64)?
  private var parts: [ATTPreparedWrite] = []
  /// The last read of an attribute, which Read Blob continues.
  private var reads: [AttributeHandle: Int] = [:]

  init(_ connection: RecordedConnection) { self.connection = connection }

  mutating func collectExchanges() -> [RecordedDialogue.Exchange] {
    for pdu in connection.pdus {
      guard let first = pdu.bytes.first else { continue }
      let kind = ATTOpcode(rawValue: first).kind
      if pdu.isFromServer {
        longestPDU = max(longestPDU, pdu.bytes.count)
        switch kind {
        case .response: if let response = try? ATTPDU(pdu.bytes.span.bytes) { answer(response, pdu) }
        case .notification, .indication: initiated.append(pdu)
        // The server's side is a client, too.
        case .request:
          initiated.append(pdu)
          if case .exchangeMTURequest(let mtu)? = try? ATTPDU(pdu.bytes.span.bytes), serverMTU == nil {
            serverMTU = mtu
          }
        case .command, .confirmation, .unknown: break
        }
      } else if kind == .request || kind == .command, let request = try? ATTPDU(pdu.bytes.span.bytes) {
        ask(request, pdu)
      }
    }
    giveUpOpen()
    // Responses may be recorded after commands that followed their requests.
    exchanges.sort { $0.packet < $1.packet }
    return exchanges
  }

  private mutating func ask(_ request: ATTPDU, _ pdu: RecordedConnection.PDU) {
    var exchange = Exchange(
      packet: pdu.packet, time: pdu.time, opcode: request.opcode, subject: .exact(pdu.bytes))
    switch request {
    case .writeCommand(let handle, let value), .signedWriteCommand(let handle, let value, _):
      exchange.subject = .write(handle)
      exchange.value = value
      exchanges.append(exchange)
      return
    case .writeRequest(let handle, let value):
      exchange.subject = .write(handle)
      exchange.value = value
    case .readRequest(let handle), .readBlobRequest(let handle, _): exchange.subject = .read(handle)
    case .executeWriteRequest(.write):
      guard let first = parts.first else { break }
      exchange.subject = .write(first.handle)
      exchange.value = parts.filter { $0.handle == first.handle }.flatMap(\.value)
    default: break
    }
    giveUpOpen()
    open = (request, exchange, pdu.time)
  }

  /// A request whose answer is not in the capture: a write has its effects all the same.
  private mutating func giveUpOpen() {
    if let exchange = open?.exchange, case .write = exchange.subject { exchanges.append(exchange) }
    open = nil
  }

  private mutating func answer(_ response: ATTPDU, _ pdu: RecordedConnection.PDU) {
    guard let asked = open, var exchange = asked.exchange else { return }
    if case .errorResponse(let error) = response {
      guard error.request == asked.pdu.opcode else { return }
    } else {
      guard response.opcode == asked.pdu.opcode.response else { return }
    }
    open = nil
    exchange.response = response
    exchange.responseDelay = pdu.time - asked.time
    switch (asked.pdu, response) {
    case (.exchangeMTURequest, .exchangeMTUResponse(let mtu)): serverMTU = mtu
    case (.exchangeMTURequest, _): mtuError = exchange.errorCode
    case (.prepareWriteRequest(let part), .prepareWriteResponse):
      parts.append(part)
      return
    case (.executeWriteRequest, _): parts = []
    case (.readRequest(let handle), .readResponse(let value)):
      exchange.value = value
      reads[handle] = exchanges.count
    case (.readBlobRequest(let handle, let offset), .readBlobResponse(let value)):
      if let index = reads[handle], exchanges[index].value.count == Int(offset) {
        exchanges[index].value += value
        return
      }
      guard offset == 0 else { return }
      exchange.value = value
      reads[handle] = exchanges.count
    case (.readBlobRequest(let handle, _), .errorResponse):
      // The value was complete.
      if reads[handle] != nil { return }
    default: break
    }
    exchanges.append(exchange)
  }
}

/// Finds the request that a notification follows.
///
/// A capture does not say which notification answers which write. In this order:
/// - where the answers of a protocol begin with the first byte of the command, as most do: the last such write;
/// - the request of the notifications before, if several of one kind follow each other: a stream;
/// - the last write in the same service, if it was a moment ago;
/// - the subscription.
private struct FollowerAnchors {
  enum Anchor {
    case exchange(Int)
    /// Of a characteristic whose subscription is not in the capture.
    case subscription(AttributeHandle)
    case start
  }

  /// The longest time from a write to the first notification that it causes, in microseconds.
  private static let answerTime: Int64 = 2_000_000
  /// The same where the notification begins like the write.
  private static let echoTime: Int64 = 60_000_000
  /// The longest pause within a stream.
  private static let streamPause: Int64 = 5_000_000
  /// The number of notifications that make a stream.
  private static let streamCount = 3

  private struct Kind: Hashable {
    var handle: AttributeHandle
    var first: UInt8?
  }

  private let exchanges: [RecordedDialogue.Exchange]
  private let attributes: RecordedAttributes
  /// The exchanges before the current notification, by what they are.
  private var position = 0
  private var lastWrite: [HandleRange?: Int] = [:]
  private var lastWriteByFirst: [UInt8: [HandleRange?: Int]] = [:]
  private var subscriptions: [AttributeHandle: Int] = [:]
  private var lastExchange: Int?
  private var streams: [Kind: (anchor: Int, time: Int64, count: Int)] = [:]
  private var services: [AttributeHandle: HandleRange?] = [:]

  init(_ exchanges: [RecordedDialogue.Exchange], _ attributes: RecordedAttributes) {
    self.exchanges = exchanges
    self.attributes = attributes
  }

  mutating func anchor(of pdu: RecordedConnection.PDU, _ handle: AttributeHandle?) -> Anchor {
    while position < exchanges.count, exchanges[position].packet < pdu.packet { pass(position) }
    guard let handle else { return lastExchange.map { .exchange($0) } ?? .start }
    let kind = Kind(handle: handle, first: pdu.bytes.count > 3 ? pdu.bytes[3] : nil)
    let found = find(pdu, handle, kind)
    if case .exchange(let index) = found {
      let before = streams[kind].flatMap { $0.anchor == index ? $0.count : nil } ?? 0
      streams[kind] = (index, pdu.time, before + 1)
    }
    return found
  }

  private mutating func pass(_ index: Int) {
    position += 1
    let exchange = exchanges[index]
    lastExchange = index
    guard case .write(let handle) = exchange.subject else { return }
    if let owner = attributes.owner(ofConfiguration: handle) {
      if exchange.errorCode == nil, (exchange.value.first ?? 0) != 0 { subscriptions[owner] = index }
      return
    }
    let service = self.service(of: handle)
    lastWrite[service] = index
    if let first = exchange.value.first { lastWriteByFirst[first, default: [:]][service] = index }
  }

  private mutating func service(of handle: AttributeHandle) -> HandleRange? {
    if let known = services[handle] { return known }
    let found = attributes.service(of: handle)
    services[handle] = .some(found)
    return found
  }

  /// The last of some writes that may concern a characteristic in `service`: one in the same service, or one whose
  /// service is unknown.
  private func last(_ writes: [HandleRange?: Int], in service: HandleRange?) -> Int? {
    guard let service else { return writes.values.max() }
    return [writes[service], writes[nil]].compactMap { $0 }.max()
  }

  /// Whether a later write begins like this one.
  private func isRepeated(_ index: Int, in service: HandleRange?) -> Bool {
    guard case .write(let handle) = exchanges[index].subject, let write = last(lastWrite, in: service),
      write > index
    else { return false }
    return exchanges[write].subject == .write(handle)
      && exchanges[write].value.first == exchanges[index].value.first
  }

  private mutating func find(
    _ pdu: RecordedConnection.PDU, _ handle: AttributeHandle, _ kind: Kind
  ) -> Anchor {
    let service = self.service(of: handle)
    let subscription = subscriptions[handle]
    let stream = streams[kind].flatMap { stream -> Int? in
      let isStream = stream.count >= Self.streamCount && pdu.time - stream.time <= Self.streamPause
      return isStream && !isRepeated(stream.anchor, in: service) ? stream.anchor : nil
    }
    if let first = kind.first, let writes = lastWriteByFirst[first], let echo = last(writes, in: service),
      pdu.time - exchanges[echo].time <= Self.echoTime
    {
      return .exchange(max(echo, stream ?? echo))
    }
    if let stream { return .exchange(stream) }
    if let write = last(lastWrite, in: service), pdu.time - exchanges[write].time <= Self.answerTime,
      write > subscription ?? -1
    {
      return .exchange(write)
    }
    return subscription.map { .exchange($0) } ?? .subscription(handle)
  }
}
