import ATT
import HaloBluetoothCore

/// The traffic of one recorded connection by its meaning: what was asked and answered, and what the server sent on its
/// own.
struct RecordedDialogue {
  /// What makes two requests the same.
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
    /// The indices of what the server sent as its effect.
    var pushes: [Int] = []

    var errorCode: ATTErrorCode? { (response as? ATTErrorResponse)?.code }
  }

  private(set) var exchanges: [Exchange] = []
  /// The exchanges of each subject, in order.
  private(set) var bySubject: [Subject: [Int]] = [:]
  /// What the server sent on its own, in the order of the packets.
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
