import HaloBluetoothCore

/// An ATT bearer (Core Specification Vol 3, Part F, 3.2.11): a client half and a server half that share the MTU.
///
/// The client half has one outstanding request at a time, and gets the PDUs that the peer's server initiates (3.3). The
/// server half is that of ``serve(with:)``; without one, the bearer answers the peer's requests as a server without
/// attributes does.
///
/// Pass received PDUs to ``receive(_:at:)``; outgoing PDUs are passed to the closure given to the initializer. `Timers`
/// provides the time. Do not call ``receive(_:at:)`` from within the closures that it calls.
package final class ATTBearer {
  /// Counts of discarded input.
  package struct Counters: Hashable, Sendable {
    /// Responses without an outstanding request, older than it, or of another type than it expects.
    package var unexpectedResponses = 0
    /// PDUs that can't be decoded and are not responses.
    package var malformed = 0
    /// Requests from the peer, each of which is answered.
    package var peerRequests = 0
  }

  /// The MTU before any exchange (Part G, 5.2.1).
  package static let defaultMTU = 23
  /// The most bytes that the value of an attribute has (3.2.9).
  package static let maximumValueLength = 512
  /// The largest value with the longest header before one, that of Prepare Write.
  package static let largestMTU = maximumValueLength + 5
  /// How long a server may take to answer (3.3.3).
  package static let transactionTimeout = Duration.seconds(30)
  /// How long the exchange of the MTU may take: a link does without it (h2zero/NimBLE-Arduino 125, embassy-rs/trouble 619).
  package static let exchangeTimeout = Duration.seconds(5)
  /// How long a request may take in any case that is made shortly before ``limit``, or after it.
  private static let shortestTimeout = Duration.seconds(5)
  /// How long an Error Response that may be for the request before is kept, so that the right one can come.
  private static let suspicionTime = Duration.seconds(2)

  /// The MTU in force, in bytes.
  @exclusivity(unchecked) package private(set) var mtu = ATTBearer.defaultMTU
  /// Counts of the PDUs that the peer has sent.
  @exclusivity(unchecked) package private(set) var counters = Counters()
  /// Whether the bearer has ended: no request is sent any more.
  package var isClosed: Bool { end != nil }

  /// When the last PDU was received, whatever it was; nil if there was none.
  @exclusivity(unchecked) package private(set) var lastReceived: Instant?
  /// The read that has brought the last PDU; see ``Arrival``.
  @exclusivity(unchecked) private var lastRead: UInt64 = 0

  /// When requests are not worth waiting for any longer: one that is open then fails as one that was not answered.
  package var limit: Instant?
  /// Called for each notification with its handle, its value and the time at which the packet was received. The span is
  /// valid only during the call.
  @exclusivity(unchecked) package var onNotification: ((AttributeHandle, RawSpan, Instant) -> Void)?
  /// Called for each indication, after it has been confirmed.
  package var onIndication: ((AttributeHandle, RawSpan, Instant) -> Void)?
  /// Called once when the bearer closes itself because a required response or confirmation did not arrive; the owner
  /// disconnects the link. Not called after ``close(_:)``.
  package var onTimeout: ((StackError) -> Void)?

  private struct Transaction {
    var request: any ATTPDU
    /// Whether the bearer stays open without a response; see ``request(_:allowsTimeout:completion:)``.
    var allowsTimeout: Bool
    var timeout = ATTBearer.transactionTimeout
    /// The last read before it was sent, which has not brought its answer: a peer that repeats a response would answer the
    /// next request, too.
    var lastRead: UInt64 = 0
    var completion: (Result<any ATTPDU, StackError>) -> Void
  }

  /// The state of the commands sent, which have no response of their own.
  private enum Commands {
    case proved
    case sent
    /// A request has followed.
    case followed
  }

  private enum MTUExchange {
    case none
    case open([(Result<Int, StackError>) -> Void])
    case done(Result<Void, StackError>)
  }

  @exclusivity(unchecked) private var server: (any ATTServer)?
  private let receiveMTU: Int
  private let timers: Timers
  private let send: (RawSpan) -> Void
  /// Why the bearer is closed; nil while it is open.
  @exclusivity(unchecked) private var end: StackError?
  /// The error of an expendable request that timed out. The server may still send PDUs, but no further request is
  /// allowed.
  private var unanswered: StackError?
  private var mtuExchange: MTUExchange
  private var commands = Commands.proved
  private var current: Transaction?
  private var queue: [Transaction] = []
  private var timeout: Timers.Token?
  /// The request that was answered last, and where it began.
  private var last: (opcode: ATTOpcode, start: AttributeHandle?)?
  /// Takes an Error Response for the answer that may have been late for the request before.
  private var suspicion: Timers.Token?
  /// Whether the server names handles outside the requested range, as it has sent nothing else.
  private var namesOtherHandles = false
  private var hasExchangedMTU = false
  @exclusivity(unchecked) private var writer = ByteWriter(capacity: 64)

  /// - Parameters:
  ///   - timers: the clock of the deadline of a request
  ///   - receiveMTU: the largest PDU to accept; 517 bytes hold the largest attribute value with its header
  ///   - exchangesMTU: whether ``exchangeMTU(completion:)`` asks the peer. The exchange is optional, and some peers end
  ///     the link at it.
  ///   - send: sends a PDU to the peer; the span is valid only during the call
  package init(
    timers: Timers, receiveMTU: Int = ATTBearer.largestMTU, exchangesMTU: Bool = true,
    send: @escaping (RawSpan) -> Void
  ) {
    mtuExchange = exchangesMTU ? .none : .done(.success(()))
    self.timers = timers
    self.receiveMTU = max(ATTBearer.defaultMTU, min(receiveMTU, Int(UInt16.max)))
    self.send = send
  }

  // MARK: Sending

  /// Sends a request once all earlier requests are answered. `completion` is called exactly once, with the response or
  /// the error.
  ///
  /// - Parameters:
  ///   - request: a PDU that has a response
  ///   - allowsTimeout: whether the bearer stays open if this request times out, which it does after ``exchangeTimeout``. No
  ///     request may follow an unanswered one (3.3.3), so the bearer closes when the next request is made.
  ///   - completion: called with the response or the error
  package func request(
    _ request: any ATTPDU, allowsTimeout: Bool = false,
    completion: @escaping (Result<any ATTPDU, StackError>) -> Void
  ) {
    let timeout = allowsTimeout ? Self.exchangeTimeout : Self.transactionTimeout
    enqueue(
      Transaction(request: request, allowsTimeout: allowsTimeout, timeout: timeout, completion: completion))
  }

  private func enqueue(_ transaction: Transaction) {
    let completion = transaction.completion
    if let end { return completion(.failure(end)) }
    if let unanswered {
      giveUp(unanswered)
      return completion(.failure(unanswered))
    }
    queue.append(transaction)
    sendNext()
  }

  /// Whether a request waits for its answer, or to be sent.
  package var isBusy: Bool { !isClosed && (current != nil || !queue.isEmpty) }

  /// Sends a Write Command. There is no response, and no indication of success (3.4.5.3).
  package func writeWithoutResponse(_ handle: AttributeHandle, _ value: [UInt8]) throws(StackError) {
    try checkCommand(of: value, header: 3)
    commands = .sent
    transmit(ATTWriteCommand(handle, value: value))
  }

  /// Sends a Signed Write Command (3.4.5.4).
  ///
  /// - Parameter sign: makes the signature of a PDU without one; called if it can be sent
  package func writeSigned(
    _ handle: AttributeHandle, _ value: [UInt8],
    sign: (_ message: [UInt8]) throws(StackError) -> ATTSignature
  ) throws(StackError) {
    try checkCommand(of: value, header: 3 + ATTSignature.length)
    var command = ATTSignedWriteCommand(handle, value: value, signature: ATTSignature(counter: 0, code: 0))
    command.signature = try sign(command.message)
    commands = .sent
    transmit(command)
  }

  private func checkCommand(of value: [UInt8], header: Int) throws(StackError) {
    if let end { throw end }
    if let unanswered {
      giveUp(unanswered)
      throw unanswered
    }
    let maximum = mtu - header
    guard value.count <= maximum else { throw .tooLong(count: value.count, maximum: maximum) }
  }

  /// Whether commands were sent, and no answer to a later request proves that they have arrived.
  package var hasUnconfirmedCommands: Bool { commands != .proved }

  /// Exchanges the MTU and uses the smaller of both values. If the server rejects the request, the default MTU stays in
  /// force and no error is reported. A client sends this request only once (3.4.2.1): later calls return the first
  /// result.
  ///
  /// - Parameter completion: called with the MTU in force
  package func exchangeMTU(completion: @escaping (Result<Int, StackError>) -> Void) {
    if let end { return completion(.failure(end)) }
    switch mtuExchange {
    case .done(let result): return completion(result.map { mtu })
    case .open(let waiting):
      mtuExchange = .open(waiting + [completion])
      return
    case .none: mtuExchange = .open([completion])
    }
    let request = ATTExchangeMTURequest(clientMTU: UInt16(receiveMTU))
    enqueue(
      Transaction(request: request, allowsTimeout: false, timeout: Self.exchangeTimeout) { [weak self] in
        self?.exchanged($0)
      })
  }

  private func exchanged(_ result: Result<any ATTPDU, StackError>) {
    guard case .open(let waiting) = mtuExchange else { return }
    let outcome: Result<Void, StackError>
    switch result {
    case .failure(let error) where error.code != .refused: outcome = .failure(error)
    case .success, .failure: outcome = .success(())
    }
    mtuExchange = .done(outcome)
    for completion in waiting { completion(outcome.map { self.mtu }) }
  }

  /// Whether the peer was asked for the MTU and has not answered, also if the bearer has ended since.
  package var lacksMTUAnswer: Bool {
    switch mtuExchange {
    case .none, .done(.success): false
    case .open, .done(.failure): true
    }
  }

  /// Fails all outstanding, queued and future requests with `.closed(reason)`. Nothing is sent or received afterwards.
  package func close(_ reason: String) {
    finish(current: .closed(reason), queued: .closed(reason))
  }

  private func finish(current: StackError, queued: StackError) {
    guard !isClosed else { return }
    end = queued
    timers.cancel(timeout)
    timers.cancel(suspicion)
    let open = self.current
    let waiting = queue
    self.current = nil
    queue = []
    open?.completion(.failure(current))
    for transaction in waiting { transaction.completion(.failure(queued)) }
    server?.bearerClosed()
    server = nil
  }

  private func sendNext() {
    guard current == nil, !isClosed, !queue.isEmpty else { return }
    var next = queue.removeFirst()
    let pdu = next.request.bytes
    guard pdu.count <= mtu else {
      // The peer's own MTU exchange may have reduced the MTU since the PDU was queued.
      next.completion(.failure(.tooLong(count: pdu.count, maximum: mtu)))
      return sendNext()
    }
    next.lastRead = lastRead
    current = next
    if commands == .sent { commands = .followed }
    let opcode = next.request.opcode
    let rest = limit.map { max($0 - timers.now, Self.shortestTimeout) }
    timeout = timers.schedule(after: min(next.timeout, rest ?? next.timeout)) { [weak self] in
      self?.expire(.timedOut(opcode))
    }
    send(pdu.span.bytes)
  }

  private func expire(_ error: StackError) {
    guard let open = current, open.allowsTimeout, queue.isEmpty else { return giveUp(error) }
    unanswered = error
    timers.cancel(suspicion.take())
    current = nil
    open.completion(.failure(error))
  }

  private func giveUp(_ error: StackError) {
    finish(current: error, queued: .closed(error.description))
    onTimeout?(error)
  }

  private func transmit(_ pdu: some ATTPDU) {
    // The writer is moved out and back, as sending may lead to another call.
    var writer = ByteWriter()
    swap(&writer, &self.writer)
    writer.removeAll()
    pdu.writePDU(into: &writer)
    send(writer.span.extracting(0..<min(writer.count, mtu)))
    swap(&writer, &self.writer)
  }

  /// MTU exchanges may happen in both directions, once each; the smaller values apply (3.4.2.2). A value below the
  /// minimum is treated as the minimum.
  private func adopt(_ peerMTU: UInt16) {
    let agreed = max(ATTBearer.defaultMTU, min(Int(peerMTU), receiveMTU))
    mtu = hasExchangedMTU ? min(mtu, agreed) : agreed
    hasExchangedMTU = true
    server?.mtuChanged(mtu)
  }

  // MARK: Receiving

  /// Processes one complete PDU from the peer.
  ///
  /// - Parameters:
  ///   - pdu: the opcode and its parameters
  ///   - arrival: when the packet was received
  package func receive(_ pdu: RawSpan, at arrival: Arrival) {
    guard !isClosed else { return }
    let time = arrival.time
    lastReceived = time
    lastRead = arrival.read
    guard let first = pdu.byte(at: 0) else {
      counters.malformed += 1
      return
    }
    let opcode = ATTOpcode(rawValue: first)
    // The hot path: no copy, no allocation, no lookup in the opcode table.
    if opcode == .handleValueNotification {
      deliver(pdu, at: time, to: onNotification)
      return
    }
    let kind = opcode.kind
    switch kind.half {
    case .server: serve(pdu, opcode, kind, at: time)
    case .client: receiveAsClient(pdu, opcode, kind, at: time)
    }
  }

  private func receiveAsClient(_ pdu: RawSpan, _ opcode: ATTOpcode, _ kind: ATTOpcode.Kind, at time: Instant)
  {
    switch kind {
    case .response: receiveResponse(opcode, pdu)
    case .indication:
      guard pdu.byteCount >= 3 else {
        counters.malformed += 1
        return
      }
      // Confirmed immediately, whether or not there is a handler, and regardless of outstanding requests (3.4.7.3).
      transmit(ATTHandleValueConfirmation())
      deliver(pdu, at: time, to: onIndication)
    default: receiveMultiple(pdu, at: time)
    }
  }

  private func deliver(
    _ pdu: RawSpan, at time: Instant, to sink: ((AttributeHandle, RawSpan, Instant) -> Void)?
  ) {
    guard let low = pdu.byte(at: 1), let high = pdu.byte(at: 2) else {
      counters.malformed += 1
      return
    }
    sink?(AttributeHandle(UInt16(high) << 8 | UInt16(low)), pdu.extracting(3..<pdu.byteCount), time)
  }

  private func receiveMultiple(_ pdu: RawSpan, at time: Instant) {
    guard let values = try? ATTMultipleHandleValueNotification(pdu: pdu) else {
      counters.malformed += 1
      return
    }
    for entry in values.entries { onNotification?(entry.handle, entry.value.span.bytes, time) }
  }

  private func receiveResponse(_ opcode: ATTOpcode, _ pdu: RawSpan) {
    guard let current, let expected = current.request.opcode.response,
      lastRead == 0 || current.lastRead != lastRead
    else {
      counters.unexpectedResponses += 1
      // The error that was taken for the answer was late after all: the results since then may be incomplete.
      if namesOtherHandles, opcode != .errorResponse { giveUp(.timedOut(opcode)) }
      return
    }
    let result: Result<any ATTPDU, StackError>
    do throws(DecodeError) {
      switch try ATTReader.read(pdu) {
      case let error as ATTErrorResponse:
        // The handle in it is informative, the opcode is not.
        guard error.request == current.request.opcode else {
          counters.unexpectedResponses += 1
          return
        }
        if mayBeLate(error, for: current.request) { return suspect(error) }
        result = .failure(.refused(error))
      case let response:
        guard opcode == expected else {
          counters.unexpectedResponses += 1
          return
        }
        if let exchange = response as? ATTExchangeMTUResponse { adopt(exchange.serverMTU) }
        result = .success(response)
      }
    } catch {
      guard opcode == expected else {
        counters.malformed += 1
        return
      }
      result = .failure(.malformed(opcode, error))
    }
    complete(current, result)
  }

  private func complete(_ transaction: Transaction, _ result: Result<any ATTPDU, StackError>) {
    timers.cancel(timeout)
    timers.cancel(suspicion.take())
    last = (transaction.request.opcode, transaction.request.target.start)
    current = nil
    if commands == .followed { commands = .proved }
    transaction.completion(result)
    sendNext()
  }

  // MARK: Late answers

  /// Whether an Error Response names the beginning of the request before, which has been answered: some peers answer a request
  /// twice, or late, and it would end a discovery (Danielhiversen/pySwitchbot 565, home-assistant/core 181222). Others name any
  /// handle.
  private func mayBeLate(_ error: ATTErrorResponse, for request: any ATTPDU) -> Bool {
    guard !namesOtherHandles, let start = request.target.start, let last, last.opcode == request.opcode
    else { return false }
    return error.handle == last.start && error.handle < start
  }

  /// The right answer is still to come, if this one was late; else this is it.
  private func suspect(_ error: ATTErrorResponse) {
    counters.unexpectedResponses += 1
    guard suspicion == nil else { return }
    suspicion = timers.schedule(after: Self.suspicionTime) { [weak self] in
      guard let self, let current else { return }
      suspicion = nil
      namesOtherHandles = true
      complete(current, .failure(.refused(error)))
    }
  }

  // MARK: The server half

  /// Lets `server` answer the requests of the peer's client from now on; nil for no server. The bearer keeps it until it ends;
  /// the server keeps the bearer weakly.
  package func serve(with server: (any ATTServer)?) {
    if isClosed { server?.bearerClosed() } else { self.server = server }
  }

  /// Sends an answer, a notification or an indication of the server; a PDU longer than ``mtu`` is cut, as the answers that are
  /// lists may be.
  package func sendFromServer(_ pdu: any ATTPDU) {
    guard !isClosed else { return }
    transmit(pdu)
  }

  /// Sends a notification of the server; a value that is longer than ``mtu`` less 3 is cut. On the hot path.
  package func notify(_ value: [UInt8], of handle: AttributeHandle) {
    guard !isClosed else { return }
    transmit(ATTHandleValueNotification(handle, value: value))
  }

  /// Ends the bearer: the client has not confirmed an indication within 30 seconds, and no other may be sent (3.3.3).
  package func indicationTimedOut() {
    guard !isClosed else { return }
    giveUp(.timedOut(.handleValueIndication))
  }

  private func serve(_ pdu: RawSpan, _ opcode: ATTOpcode, _ kind: ATTOpcode.Kind, at time: Instant) {
    if kind.isAnswered { counters.peerRequests += 1 }
    if opcode == .exchangeMTURequest { return answerExchange(pdu) }
    if let server { return server.receive(pdu, at: time) }
    if let answer = ATTReader.answerWithoutAttributes(to: pdu) { transmit(answer) }
  }

  private func answerExchange(_ pdu: RawSpan) {
    do throws(ATTErrorResponse) {
      guard let request = try ATTReader.read(fromClient: pdu) as? ATTExchangeMTURequest else { return }
      // The response is the last PDU of the old MTU (3.4.2.2).
      transmit(ATTExchangeMTUResponse(serverMTU: UInt16(receiveMTU)))
      adopt(request.clientMTU)
    } catch {
      transmit(error)
    }
  }
}
