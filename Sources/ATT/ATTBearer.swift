import BluetoothCore

/// The client's end of an ATT bearer: one request at a time, and what the server sends of its own accord in
/// between (Core Specification Vol 3, Part F, 3.3).
///
/// PDUs come in through ``receive(_:at:)`` and go out through the closure given at the start; time comes from
/// `Timers`. ``receive(_:at:)`` must not be called from within the closures that it calls.
public final class ATTBearer {
  /// What arrived and was of no use.
  public struct Counters: Hashable, Sendable {
    /// Responses without a request, or of another kind than the request.
    public var unexpectedResponses = 0
    /// PDUs that can't be read and are no response.
    public var malformed = 0
    /// Requests of the peer that were answered.
    public var peerRequests = 0
  }

  /// The MTU before any exchange (Part G, 5.2.1).
  public static let defaultMTU = 23
  /// How long a server may take to answer (3.3.3).
  public static let transactionTimeout = Duration.seconds(30)

  /// The largest PDU that both ends take, in bytes.
  public private(set) var mtu = ATTBearer.defaultMTU
  public private(set) var counters = Counters()
  public var isClosed: Bool { end != nil }

  /// Called for each notification: handle, value, and the time at which its packet was received. The value is a
  /// view that is only valid meanwhile.
  public var onNotification: ((AttributeHandle, RawSpan, Instant) -> Void)?
  /// The same for indications, which have been confirmed by then.
  public var onIndication: ((AttributeHandle, RawSpan, Instant) -> Void)?
  /// Called once, when the bearer closes itself because the server did not answer and somebody needs it to: the link
  /// should be disconnected. Not called for ``close(_:)``.
  public var onTimeout: ((ATTError) -> Void)?

  private struct Transaction {
    var request: ATTPDU
    /// Whether a missing answer leaves the bearer open; see ``request(_:isExpendable:completion:)``.
    var isExpendable: Bool
    var completion: (Result<ATTPDU, ATTError>) -> Void
  }

  private enum MTUExchange {
    case none
    case open([(Result<Int, ATTError>) -> Void])
    case done(Result<Void, ATTError>)
  }

  private let receiveMTU: Int
  private let timers: Timers
  private let send: (RawSpan) -> Void
  /// Why nothing is sent or taken any more.
  private var end: ATTError?
  /// The expendable request that was not answered in time. The server may send, but nothing may be asked of it.
  private var unanswered: ATTError?
  private var mtuExchange = MTUExchange.none
  private var current: Transaction?
  private var queue: [Transaction] = []
  private var timeout: Timers.Token?
  private var hasExchangedMTU = false
  private var writer = ByteWriter(capacity: 64)

  /// - Parameters:
  ///   - receiveMTU: the largest PDU that we take; 517 holds the largest attribute value and its header
  ///   - send: takes a PDU for the peer; the view is only valid meanwhile
  public init(timers: Timers, receiveMTU: Int = 517, send: @escaping (RawSpan) -> Void) {
    self.timers = timers
    self.receiveMTU = max(ATTBearer.defaultMTU, min(receiveMTU, Int(UInt16.max)))
    self.send = send
  }

  // MARK: What goes out

  /// Looks at each value before it is written, whichever way; gives the reason if it must not be. The offset is nil
  /// unless the value is a part of a longer one.
  public var writeGuard: ((_ handle: AttributeHandle, _ value: [UInt8], _ offset: Int?) -> String?)?

  /// Sends a request as soon as those before it are answered. `completion` is called exactly once, with the
  /// response or with the reason why there is none.
  ///
  /// - Parameter isExpendable: whether the bearer stays open for what the server sends if this is not answered in
  ///   time. Nothing may follow an unanswered request (3.3.3), so that the bearer closes itself when the next one is
  ///   asked for.
  public func request(
    _ request: ATTPDU, isExpendable: Bool = false, completion: @escaping (Result<ATTPDU, ATTError>) -> Void
  ) {
    if let end { return completion(.failure(end)) }
    if let unanswered {
      giveUp(unanswered)
      return completion(.failure(unanswered))
    }
    let objection: String? =
      switch request {
      case .writeRequest(let handle, let value): writeGuard?(handle, value, nil)
      case .prepareWriteRequest(let part): writeGuard?(part.handle, part.value, Int(part.offset))
      default: nil
      }
    if let objection { return completion(.failure(.forbidden(objection))) }
    queue.append(Transaction(request: request, isExpendable: isExpendable, completion: completion))
    sendNext()
  }

  /// Sends a Write Command, which is not answered; nobody learns whether it was carried out (3.4.5.3).
  public func writeWithoutResponse(_ handle: AttributeHandle, _ value: [UInt8]) throws(ATTError) {
    if let end { throw end }
    if let unanswered {
      giveUp(unanswered)
      throw unanswered
    }
    guard value.count <= mtu - 3 else { throw .tooLong(count: value.count, maximum: mtu - 3) }
    if let objection = writeGuard?(handle, value, nil) { throw .forbidden(objection) }
    transmit(.writeCommand(handle, value: value))
  }

  /// Offers our receive MTU, and takes the smaller of it and the server's. A server that refuses has said all
  /// it has to say: the default stays, and that is no error. A client sends this request once (3.4.2.1): who asks
  /// again gets what came of it.
  ///
  /// - Parameter completion: gets the MTU in force
  public func exchangeMTU(completion: @escaping (Result<Int, ATTError>) -> Void) {
    if let end { return completion(.failure(end)) }
    switch mtuExchange {
    case .done(let result): return completion(result.map { mtu })
    case .open(let waiting):
      mtuExchange = .open(waiting + [completion])
      return
    case .none: mtuExchange = .open([completion])
    }
    request(.exchangeMTURequest(clientMTU: UInt16(receiveMTU))) { [weak self] result in
      guard let self, case .open(let waiting) = mtuExchange else { return }
      let outcome: Result<Void, ATTError>
      switch result {
      case .success(let response):
        if case .exchangeMTUResponse(let theirs) = response { adopt(theirs) }
        outcome = .success(())
      case .failure(.refused): outcome = .success(())
      case .failure(let error): outcome = .failure(error)
      }
      mtuExchange = .done(outcome)
      for completion in waiting { completion(outcome.map { self.mtu }) }
    }
  }

  /// Fails everything that is open or queued, and all that comes later, with `.closed(reason)`. Nothing is sent or
  /// taken from now on.
  public func close(_ reason: String) {
    finish(current: .closed(reason), queued: .closed(reason))
  }

  private func finish(current: ATTError, queued: ATTError) {
    guard !isClosed else { return }
    end = queued
    timers.cancel(timeout)
    let open = self.current
    let waiting = queue
    self.current = nil
    queue = []
    open?.completion(.failure(current))
    for transaction in waiting { transaction.completion(.failure(queued)) }
  }

  private func sendNext() {
    guard current == nil, !isClosed, !queue.isEmpty else { return }
    let next = queue.removeFirst()
    let pdu = next.request.bytes
    guard pdu.count <= mtu else {
      // Made for a larger MTU: the peer's own exchange may have made it smaller since.
      next.completion(.failure(.tooLong(count: pdu.count, maximum: mtu)))
      return sendNext()
    }
    current = next
    let opcode = next.request.opcode
    timeout = timers.schedule(after: ATTBearer.transactionTimeout) { [weak self] in
      self?.expire(.timedOut(opcode))
    }
    send(pdu.span.bytes)
  }

  private func expire(_ error: ATTError) {
    guard let open = current, open.isExpendable, queue.isEmpty else { return giveUp(error) }
    unanswered = error
    current = nil
    open.completion(.failure(error))
  }

  private func giveUp(_ error: ATTError) {
    finish(current: error, queued: .closed(error.description))
    onTimeout?(error)
  }

  private func transmit(_ pdu: ATTPDU) {
    writer.removeAll()
    pdu.write(into: &writer)
    let bytes = writer.bytes
    send(bytes.span.bytes)
  }

  /// MTU exchanges may happen in both directions, once each; the smaller pair of values wins (3.4.2.2). A
  /// value below the minimum stands for the minimum.
  private func adopt(_ theirs: UInt16) {
    let agreed = max(ATTBearer.defaultMTU, min(Int(theirs), receiveMTU))
    mtu = hasExchangedMTU ? min(mtu, agreed) : agreed
    hasExchangedMTU = true
  }

  // MARK: What comes in

  /// Takes one whole PDU from the peer.
  ///
  /// - Parameter time: when the packet was received
  public func receive(_ pdu: RawSpan, at time: Instant) {
    guard !isClosed else { return }
    guard let first = pdu.byte(at: 0) else {
      counters.malformed += 1
      return
    }
    let opcode = ATTOpcode(rawValue: first)
    // The hot path: no copy, no allocation, not even a look into the table of opcodes.
    if opcode == .handleValueNotification {
      deliver(pdu, at: time, to: onNotification)
      return
    }
    switch opcode.kind {
    case .response: receiveResponse(opcode, pdu)
    case .indication:
      guard pdu.byteCount >= 3 else {
        counters.malformed += 1
        return
      }
      // Confirmed at once, whether anybody listens or not, and whatever else is open (3.4.7.3).
      transmit(.handleValueConfirmation)
      deliver(pdu, at: time, to: onIndication)
    case .notification: receiveMultiple(pdu, at: time)
    case .request, .unknown: answer(pdu)
    case .command, .confirmation: break
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
    guard case .multipleHandleValueNotification(let entries) = try? ATTPDU(pdu) else {
      counters.malformed += 1
      return
    }
    for entry in entries { onNotification?(entry.handle, entry.value.span.bytes, time) }
  }

  private func receiveResponse(_ opcode: ATTOpcode, _ pdu: RawSpan) {
    guard let current, let expected = current.request.opcode.response else {
      counters.unexpectedResponses += 1
      return
    }
    let result: Result<ATTPDU, ATTError>
    do throws(DecodeError) {
      switch try ATTPDU(pdu) {
      case .errorResponse(let error):
        // The handle in it is informative, the opcode is not.
        guard error.request == current.request.opcode else {
          counters.unexpectedResponses += 1
          return
        }
        result = .failure(.refused(error))
      case let response:
        guard opcode == expected else {
          counters.unexpectedResponses += 1
          return
        }
        result = .success(response)
      }
    } catch {
      guard opcode == expected else {
        counters.malformed += 1
        return
      }
      result = .failure(.malformed(opcode, error))
    }
    timers.cancel(timeout)
    self.current = nil
    current.completion(result)
    sendNext()
  }

  private func answer(_ pdu: RawSpan) {
    if pdu.byte(at: 0) == ATTOpcode.exchangeMTURequest.rawValue,
      case .exchangeMTURequest(let theirs) = try? ATTPDU(pdu)
    {
      counters.peerRequests += 1
      transmit(.exchangeMTUResponse(serverMTU: UInt16(receiveMTU)))
      adopt(theirs)
    } else if let answer = EmptyServer.answer(to: pdu) {
      counters.peerRequests += 1
      transmit(answer)
    }
  }
}
