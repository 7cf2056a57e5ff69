import ATT
import HaloBluetoothCore
import HaloCaptureLinks

/// Pairs requests and answers.
struct DialogueBuilder {
  private let connection: RecordedConnection
  private(set) var serverMTU: UInt16?
  private(set) var mtuError: ATTErrorCode?
  private(set) var longestPDU = 0
  /// What the server sent without a request.
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
