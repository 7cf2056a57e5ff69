import ATT
import HaloBluetoothCore

/// The server half of a bearer: an ``AttributeDatabase`` as one client sees it (Core Specification Vol 3, Part F, 3.4).
///
/// It keeps the state of that client on that link: its configurations, its prepared writes, the unconfirmed indication. PDUs
/// and time come in, PDUs and events go out; it does no I/O.
///
/// One request is answered at a time. While a handler of the database has not answered, further requests wait;
/// commands, notifications and indications do not.
package final class ServerBearer: ATTServer {
  /// An action of a client.
  package enum Event: Hashable, Sendable {
    /// It has written a value, which is stored or was accepted by the handler. The response has been sent.
    case written(AttributeHandle, [UInt8])
    /// It has configured the characteristic with its value at this handle; also its link has ended, and with that the
    /// configuration. The response has been sent.
    case configured(AttributeHandle, ClientConfiguration)
    /// It has confirmed an indication of the value at this handle.
    case confirmed(AttributeHandle)
    /// It has confirmed an indication that was not sent.
    case unexpectedConfirmation
    /// A handler has not answered in time for the attribute at this handle; the client got Unlikely Error.
    case unanswered(AttributeHandle)
  }

  /// The fate of a value to send.
  package enum Delivery: Hashable, Sendable {
    /// It was sent.
    case sent
    /// It waits until the link has room, or until the client has confirmed earlier ones.
    case queued
    /// Too many wait: it was not taken. ``onReady`` says when there is room.
    case full
    /// The client does not want it, or may not have it, or the link has ended.
    case notSubscribed
  }

  /// How long a handler may take to answer. A client waits 30 seconds (3.3.3).
  package static let answerLimit = Duration.seconds(25)
  /// The most requests that wait. A client must not send a second one before the first is answered.
  static let deferredRequestLimit = 16

  /// The attributes.
  package let database: AttributeDatabase
  /// The security of the link, which its owner keeps up to date.
  @exclusivity(unchecked) package var security: LinkSecurity
  /// Called for the actions of the client. Do not pass PDUs to the bearer from within it.
  package var onEvent: ((Event) -> Void)?
  /// Called after each change of what is kept of a bonded client.
  package var onRecordChange: (() -> Void)?
  /// Called once when values are taken again, after one was not: see ``Delivery/full``.
  package var onReady: (() -> Void)?
  /// Checks a signed write of the client: see ``SignatureCheck``. Without it, signed writes are ignored.
  package var checkSignature: SignatureCheck?
  /// Called when the client and this device have agreed on another ``mtu``.
  package var onMTU: ((Int) -> Void)?
  /// The largest PDU that both ends take, in bytes.
  package var mtu: Int { bearer?.mtu ?? ATTBearer.defaultMTU }

  /// The fingerprint of the attributes that the client has known last.
  var knownTable: UInt64 = 0

  let timers: Timers
  /// The link, until it ends.
  @exclusivity(unchecked) private(set) var bearer: ATTBearer?
  var prepared = PreparedWrites()
  /// The client's knowledge of changes to the attributes.
  @exclusivity(unchecked) var caching = ClientCaching()
  /// Whether the link has room for a PDU that is not the answer of a request.
  let hasRoom: () -> Bool
  /// Notifications that wait for room.
  @exclusivity(unchecked) var notifications = ValueQueue()
  /// Called once, when none waits any more.
  var onSent: (() -> Void)?
  var indications = IndicationQueue()
  /// Whether a value was not taken, and its owner does not know yet that there is room again.
  package internal(set) var needsReadyCallback = false
  /// By the handle of the value.
  @exclusivity(unchecked) var configurations = SmallMap<AttributeHandle, ClientConfiguration>()
  /// Values of which the client has read parts, up to `end`: the part that follows is one of the same value. A client may read
  /// parts of several in turn.
  @exclusivity(unchecked) var longValues: [(handle: AttributeHandle, value: [UInt8], end: Int)] = []
  static let longValueCount = 4
  @exclusivity(unchecked) package private(set) var isClosed = false
  @exclusivity(unchecked) private var pendingRequest: PendingRequest?
  @exclusivity(unchecked) private var requestCount: UInt64 = 0
  @exclusivity(unchecked) private var deferredRequests: [[UInt8]] = []

  /// The request that is being answered.
  private struct PendingRequest {
    var number: UInt64
    var opcode: ATTOpcode
    /// The handle that a handler is asked for.
    var handle: AttributeHandle = 0
    var deadline: Timers.Token?
  }

  /// Serves the peer of a bearer.
  ///
  /// - Parameters:
  ///   - database: the attributes, shared by all bearers of the device
  ///   - bearer: the link, which keeps this object until it ends
  ///   - timers: the time of the deadlines
  ///   - security: that of the link
  ///   - hasRoom: whether the link has room for a PDU that is not the answer of a request. Call ``roomAvailable()`` when there
  ///     is room again.
  package init(
    _ database: AttributeDatabase, on bearer: ATTBearer, timers: Timers, security: LinkSecurity = .none,
    hasRoom: @escaping () -> Bool = { true }
  ) {
    self.database = database
    self.bearer = bearer
    self.timers = timers
    self.security = security
    self.hasRoom = hasRoom
    knownTable = database.fingerprint
    database.attach(self)
    bearer.serve(with: self)
  }

  // MARK: Receiving

  package func receive(_ pdu: RawSpan, at time: Instant) {
    guard !isClosed, let first = pdu.byte(at: 0) else { return }
    let opcode = ATTOpcode(rawValue: first)
    switch opcode.kind {
    case .confirmation: confirm()
    case .command where opcode == .signedWriteCommand: receiveSigned(pdu)
    case .command:
      guard caching.isChangeAware, let command = try? ATTWriteCommand(pdu: pdu) else { return }
      write(command.value, to: command.handle)
    case .request, .unknown: beginOrDefer(pdu, opcode)
    case .response, .notification, .indication: break
    }
  }

  package func mtuChanged(_ mtu: Int) { onMTU?(mtu) }

  package func bearerClosed() {
    guard !isClosed else { return }
    isClosed = true
    bearer = nil
    database.detach(self)
    timers.cancel(pendingRequest?.deadline)
    pendingRequest = nil
    deferredRequests = []
    longValues = []
    prepared = PreparedWrites()
    notifications = ValueQueue()
    onSent.take()?()
    timers.cancel(indications.removeAll())
    // A configuration outlives the link only with a bond (Part G, 3.3.3.3).
    let ended = configurations.keys.sorted()
    configurations = SmallMap()
    onReady = nil
    onRecordChange = nil
    for value in ended { onEvent?(.configured(value, [])) }
  }

  /// Serves the peer no longer, which is answered as by a device without attributes; the link stays.
  package func stop() {
    deferredRequests = []
    if let pendingRequest {
      finish(
        pendingRequest.number,
        ATTErrorResponse(request: pendingRequest.opcode, handle: pendingRequest.handle, code: .unlikelyError),
        [])
    }
    bearer?.serve(with: nil)
    bearerClosed()
  }

  /// Begins a request, or keeps it until the one before is answered.
  private func beginOrDefer(_ pdu: RawSpan, _ opcode: ATTOpcode) {
    guard pendingRequest != nil else { return begin(pdu, opcode) }
    guard deferredRequests.count < Self.deferredRequestLimit else {
      return send(ATTErrorResponse(request: opcode, handle: 0, code: .insufficientResources))
    }
    deferredRequests.append(Array(pdu))
  }

  private func begin(_ pdu: RawSpan, _ opcode: ATTOpcode) {
    requestCount += 1
    let number = requestCount
    pendingRequest = PendingRequest(number: number, opcode: opcode)
    let answer = Answer(opcode) { [self] pdu, events in finish(number, pdu, events) }
    do throws(ATTErrorResponse) {
      let request = try ATTReader.read(fromClient: pdu)
      if caching.admits(request) { respond(to: request, answer) } else { answer.refuse(.databaseOutOfSync) }
    } catch {
      answer.send(error)
    }
    guard pendingRequest?.number == number else { return }
    pendingRequest?.deadline = timers.schedule(after: Self.answerLimit) { [self] in
      guard let pendingRequest, pendingRequest.number == number else { return }
      let handle = pendingRequest.handle
      finish(
        number, ATTErrorResponse(request: pendingRequest.opcode, handle: handle, code: .unlikelyError),
        [.unanswered(handle)])
    }
  }

  private func respond(to request: any ATTPDU, _ answer: Answer) {
    switch request {
    // Each of these is tried in turn: the most frequent come first.
    case let read as ATTReadRequest: readValue(read.handle, from: 0, answer) { ATTReadResponse($0) }
    case let write as ATTWriteRequest: self.write(write.value, to: write.handle, answer)
    case let find as ATTFindInformationRequest: findInformation(find.range, answer)
    case let find as ATTFindByTypeValueRequest:
      findByTypeValue(find.range, BluetoothUUID(find.type), find.value, answer)
    case let read as ATTReadByTypeRequest: readByType(read.range, read.type, answer)
    case let read as ATTReadByGroupTypeRequest: readByGroup(read.range, read.type, answer)
    case let read as ATTReadBlobRequest:
      readValue(read.handle, from: Int(read.offset), answer) { ATTReadBlobResponse($0) }
    case let read as ATTReadMultipleRequest: readSeveral(read.handles, answer, hasLengths: false)
    case let read as ATTReadMultipleVariableRequest: readSeveral(read.handles, answer, hasLengths: true)
    case let write as ATTPrepareWriteRequest: prepare(write.part, answer)
    case let write as ATTExecuteWriteRequest: execute(write.flags, answer)
    default: answer.refuse(.requestNotSupported)
    }
  }

  /// Sends the answer of a request, unless it has one, and goes on with the next.
  private func finish(_ number: UInt64, _ pdu: any ATTPDU, _ events: [Event]) {
    guard let pendingRequest, pendingRequest.number == number else { return }
    timers.cancel(pendingRequest.deadline)
    self.pendingRequest = nil
    send(pdu)
    for event in events { onEvent?(event) }
    guard self.pendingRequest == nil, !deferredRequests.isEmpty else { return }
    let next = deferredRequests.removeFirst()
    begin(next.span.bytes, ATTOpcode(rawValue: next.first ?? 0))
  }

  /// Sends a PDU, of which a list of values may be cut where the MTU ends.
  func send(_ pdu: any ATTPDU) {
    bearer?.sendFromServer(pdu)
  }

  // MARK: Handlers

  /// Asks a handler: `then` is called once with its reply, unless the request has been answered by then.
  func ask<Reply>(
    about handle: AttributeHandle, _ handler: (ServerBearer, @escaping (Reply) -> Void) -> Void,
    then: @escaping (Reply) -> Void
  ) {
    let number = pendingRequest?.number
    pendingRequest?.handle = handle
    var isOpen = true
    handler(self) { [self] reply in
      guard isOpen, !isClosed, pendingRequest?.number == number || number == nil else { return }
      isOpen = false
      then(reply)
    }
  }
}

/// How a request is answered: once.
struct Answer {
  let opcode: ATTOpcode
  private let finish: (any ATTPDU, [ServerBearer.Event]) -> Void

  init(_ opcode: ATTOpcode, _ finish: @escaping (any ATTPDU, [ServerBearer.Event]) -> Void) {
    self.opcode = opcode
    self.finish = finish
  }

  func send(_ pdu: any ATTPDU, _ events: [ServerBearer.Event] = []) { finish(pdu, events) }

  /// - Parameter handle: the handle that the error is about; 0 for none
  func refuse(_ code: ATTErrorCode, _ handle: AttributeHandle = 0) {
    finish(ATTErrorResponse(request: opcode, handle: handle, code: code), [])
  }
}
