import ATT
import BluetoothCore
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
    guard let asked = open, response.answers(asked.pdu), var exchange = asked.exchange else { return }
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
