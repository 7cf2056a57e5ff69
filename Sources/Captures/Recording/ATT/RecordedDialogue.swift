import ATT

/// The traffic of one recorded connection by its meaning: the requests with their answers, and the PDUs that the server sent on
/// its own.
struct RecordedDialogue {
  /// The key by which two requests are the same.
  enum Subject: Hashable {
    /// A value written in any way: with or without response, signed, or in parts.
    case write(AttributeHandle)
    case read(AttributeHandle)
    /// Any other request: all its bytes.
    case exact([UInt8])
  }

  /// A PDU that the server sent on its own: a notification, an indication, or a request.
  struct Push {
    var packet: Int
    /// In microseconds since 1970-01-01 UTC.
    var time: Int64
    var bytes: [UInt8]
    /// The attribute of a notification or an indication; nil for a request.
    var handle: AttributeHandle?
    /// The index of the exchange that it follows, if it is likely to be the answer to a write; nil otherwise.
    var cause: Int?

    /// Whether the client has to confirm it.
    var isIndication: Bool { bytes.first == ATTOpcode.handleValueIndication.rawValue }
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
    var response: (any ATTPDU)?
    /// In microseconds.
    var responseDelay: Int64 = 0
    /// The indices of the values that the server sent as its effect.
    var pushes: [Int] = []

    var errorCode: ATTErrorCode? { (response as? ATTErrorResponse)?.code }
  }

  private(set) var exchanges: [Exchange] = []
  /// The exchanges of each subject, in order.
  private(set) var bySubject: [Subject: [Int]] = [:]
  /// The values that the server sent on its own, in the order of the packets.
  private(set) var pushes: [Push] = []
  /// When the recorded client subscribed to a characteristic first, by the handle of its value.
  private(set) var subscriptions: [AttributeHandle: Int64] = [:]
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
    for exchange in exchanges {
      guard case .write(let written) = exchange.subject, exchange.value.first ?? 0 != 0,
        let owner = attributes.owner(ofConfiguration: written), subscriptions[owner] == nil
      else { continue }
      subscriptions[owner] = exchange.time
    }
    var causes = CauseFinder(exchanges, attributes)
    for pdu in builder.initiated {
      for single in pdu.singles { place(single, causes.cause(of: single, single.notifiedHandle)) }
    }
  }

  private mutating func place(_ pdu: RecordedConnection.PDU, _ cause: Int?) {
    if let cause { exchanges[cause].pushes.append(pushes.count) }
    pushes.append(
      Push(packet: pdu.packet, time: pdu.time, bytes: pdu.bytes, handle: pdu.notifiedHandle, cause: cause))
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
}

extension RecordedConnection.PDU {
  /// A notification of several attributes as notifications of one each; any other PDU as it is.
  var singles: [Self] {
    guard let several = try? ATTMultipleHandleValueNotification(pdu: bytes.span.bytes)
    else { return [self] }
    return several.entries.map { entry in
      var single = self
      single.bytes = ATTHandleValueNotification(entry.handle, value: entry.value).bytes
      return single
    }
  }

  /// The attribute of a notification or an indication; nil for any other PDU.
  var notifiedHandle: AttributeHandle? {
    let opcode = ATTOpcode(rawValue: bytes.first ?? 0)
    return opcode == .handleValueNotification || opcode == .handleValueIndication ? leadingHandle : nil
  }
}

/// Pairs requests and answers.
struct DialogueBuilder {
  private let connection: RecordedConnection
  private(set) var serverMTU: UInt16?
  private(set) var mtuError: ATTErrorCode?
  private(set) var longestPDU = 0
  /// The PDUs that the server sent without a request.
  private(set) var initiated: [RecordedConnection.PDU] = []

  private typealias Exchange = RecordedDialogue.Exchange
  private var exchanges: [RecordedDialogue.Exchange] = []
  /// The request that is not answered yet.
  private var open: (pdu: any ATTPDU, exchange: RecordedDialogue.Exchange?, time: Int64)?
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
        case .response: if let response = try? ATTReader.read(pdu.bytes.span.bytes) { answer(response, pdu) }
        case .notification, .indication: initiated.append(pdu)
        // The server's side is a client, too.
        case .request:
          initiated.append(pdu)
          if serverMTU == nil {
            serverMTU = (try? ATTExchangeMTURequest(pdu: pdu.bytes.span.bytes))?.clientMTU
          }
        case .command, .confirmation, .unknown: break
        }
      } else if kind == .request || kind == .command, let request = try? ATTReader.read(pdu.bytes.span.bytes)
      {
        ask(request, pdu)
      }
    }
    giveUpOpen()
    // Responses may be recorded after commands that followed their requests.
    exchanges.sort { $0.packet < $1.packet }
    return exchanges
  }

  private mutating func ask(_ request: any ATTPDU, _ pdu: RecordedConnection.PDU) {
    var exchange = Exchange(
      packet: pdu.packet, time: pdu.time, opcode: request.opcode, subject: .exact(pdu.bytes))
    switch request {
    case let request as any ATTWrite:
      exchange.subject = .write(request.handle)
      exchange.value = request.value
      // There is no answer to a command.
      if request.opcode.kind == .command { return exchanges.append(exchange) }
    case let request as ATTReadRequest: exchange.subject = .read(request.handle)
    case let request as ATTReadBlobRequest: exchange.subject = .read(request.handle)
    case let request as ATTExecuteWriteRequest where request.flags == .write:
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

  private mutating func answer(_ response: any ATTPDU, _ pdu: RecordedConnection.PDU) {
    guard let asked = open, response.answers(asked.pdu), var exchange = asked.exchange else { return }
    open = nil
    exchange.response = response
    exchange.responseDelay = pdu.time - asked.time
    switch (asked.pdu, response) {
    case (is ATTExchangeMTURequest, let response as ATTExchangeMTUResponse): serverMTU = response.serverMTU
    case (is ATTExchangeMTURequest, _): mtuError = exchange.errorCode
    case (let request as ATTPrepareWriteRequest, is ATTPrepareWriteResponse):
      parts.append(request.part)
      return
    case (is ATTExecuteWriteRequest, _): parts = []
    case (let request as ATTReadRequest, let response as ATTReadResponse):
      exchange.value = response.value
      reads[request.handle] = exchanges.count
    case (let request as ATTReadBlobRequest, let response as ATTReadBlobResponse):
      if let index = reads[request.handle], exchanges[index].value.count == Int(request.offset) {
        exchanges[index].value += response.value
        return
      }
      guard request.offset == 0 else { return }
      exchange.value = response.value
      reads[request.handle] = exchanges.count
    case (let request as ATTReadBlobRequest, is ATTErrorResponse):
      // The value was complete.
      if reads[request.handle] != nil { return }
    default: break
    }
    exchanges.append(exchange)
  }
}
