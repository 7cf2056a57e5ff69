import HaloBluetoothCore

extension LinkParameters: CustomStringConvertible {
  package var description: String {
    "interval \(interval), latency \(latency), supervision timeout \(supervisionTimeout)"
  }
}

/// How to answer a peripheral's request for other connection parameters.
package enum ParameterPolicy: Hashable, Sendable {
  /// Accept all valid parameters: many devices disconnect when they are rejected.
  case accept
  /// Keep to the parameters of the request, for streams that a slower link would delay: intervals of its range are accepted,
  /// with its latency or less.
  case keep
}

/// One LE link, from its connection event to its disconnection. The handle may be reused by another link; this object
/// is not.
///
/// It writes its state itself; other objects report events to it.
package final class LEConnection {
  package let handle: ConnectionHandle
  package let peer: BluetoothAddress
  /// The address that the peer uses on the link: a resolvable private one, if the controller has resolved it.
  package let peerOnAir: BluetoothAddress
  /// The role of this side.
  package let role: LERole
  /// The address that this side uses on the link: a resolvable private one, if the controller reports one.
  package let localAddress: BluetoothAddress
  package internal(set) var parameters: LinkParameters
  /// The PHYs in use.
  package internal(set) var phys = LinkPHYs.le1M
  /// The longest packets.
  package internal(set) var dataLengths = DataLengths.shortest
  /// The features of the peer's link layer; nil until they are read.
  package private(set) var remoteFeatures: LEFeatures?
  @exclusivity(unchecked) package private(set) var isConnected = true
  package internal(set) var isEncrypted = false
  /// The key with which it is, or was, encrypted; nil if it never was.
  package internal(set) var key: LongTermKey?
  /// The key with which encryption begins.
  var nextKey: LongTermKey?
  /// Whether no packet of the peer has been received yet; see ``Initiator``.
  @exclusivity(unchecked) private(set) var isUnproven = false
  /// Whether data have come since ``takeHeard()``.
  @exclusivity(unchecked) private(set) var wasHeard = false
  /// Until when the link layers may be agreeing on longer packets; nil if none were requested.
  var endOfLengthening: Instant?
  /// Whether the controller was asked to disconnect it.
  @exclusivity(unchecked) private(set) var isEnding = false
  /// The controller's failure that ended the link; nil if the link itself ended.
  package private(set) var failure: StackError?
  /// How many packets the controller had not sent when it was asked to disconnect.
  package private(set) var unsentPackets = 0
  /// The last procedure requested, if it was not done when the link was lost.
  package private(set) var unfinished: LinkProcedure?
  /// The answer to a peer's request for other parameters, over HCI or on the L2CAP signalling channel.
  private let parameterPolicy: ParameterPolicy
  /// The parameters of the request; nil in the peripheral role.
  private let requested: ConnectionParameters?
  /// When a request for other parameters was last refused.
  private var lastRefusal: Instant?
  /// The number of requests for other parameters that were rejected because there were too many.
  package private(set) var excessParameterRequests = 0
  private var parameterRequests = RateLimit(count: 4, per: .seconds(1))

  /// Called for each ACL packet with its data, whether a frame starts here, and when it was received. The span is valid only
  /// during the call.
  @exclusivity(unchecked) package var onData: ((RawSpan, Bool, Arrival) -> Void)?
  /// Called when a property of the link has changed.
  package var onChange: ((Change) -> Void)?
  /// The key that a peripheral is asked for, by its Rand and EDIV; nil if there is none. Without this closure there is none.
  package var onKeyRequest: ((UInt64, UInt16) -> LongTermKey?)?
  /// Called when there is room again for packets that can wait, after ``hasRoom`` was false.
  @exclusivity(unchecked) package var onRoom: (() -> Void)?
  /// Called once, when the link is disconnected.
  package var onDisconnected: ((HCIErrorCode) -> Void)?

  /// The procedures to request once the link is established.
  let preferences: LinkPreferences
  let leftOut: Set<LinkProcedure>
  let updates: EventWaiters<LinkParameters>
  /// Who waits for the central's answer to a request for other parameters that was sent by L2CAP.
  package let parameterAnswers: EventWaiters<Void>
  let phyUpdates: EventWaiters<LinkPHYs>
  let encryptions: EventWaiters<Void>
  /// Its controller's links, until it is disconnected.
  @exclusivity(unchecked) private(set) var links: LinkTable?

  /// - Parameters:
  ///   - event: its event, with success
  ///   - request: the parameters of the request; nil in the peripheral role
  ///   - ownAddress: the address that the host has the controller use
  init(
    _ links: LinkTable, _ event: LEConnectionComplete, _ request: ConnectionRequest?,
    ownAddress: BluetoothAddress
  ) {
    self.links = links
    handle = event.handle
    peer = (request?.peer ?? event.peerAddress).plain
    peerOnAir = event.peerResolvableAddress ?? peer
    role = event.role
    localAddress = event.localResolvableAddress ?? ownAddress
    parameters = event.parameters
    requested = request?.parameters
    preferences = request?.preferences ?? .standard
    leftOut = request?.leftOut ?? []
    parameterPolicy = leftOut.contains(.keepParameters) ? .accept : request?.parameterPolicy ?? .accept
    updates = EventWaiters(links.timers)
    parameterAnswers = EventWaiters(links.timers)
    phyUpdates = EventWaiters(links.timers)
    encryptions = EventWaiters(links.timers)
  }

  /// The first packet of the peer is awaited, or no longer.
  func awaitFirstPacket(_ isAwaited: Bool) { isUnproven = isAwaited }

  /// A packet of the peer has come.
  @inline(__always)
  func deliver(_ packet: borrowing ACLPacket, at arrival: Arrival) {
    wasHeard = true
    onData?(packet.data, packet.header.boundary != .continuing, arrival)
  }

  /// Whether data have come since the last call.
  func takeHeard() -> Bool {
    defer { wasHeard = false }
    return wasHeard
  }

  /// The peer has reported the features of its link layer.
  func receive(_ event: LEReadRemoteFeaturesComplete) {
    if event.status == .success { remoteFeatures = event.features }
  }

  /// The controller is asked to disconnect the link, or will be when its data are sent.
  ///
  /// - Parameters:
  ///   - unsentPackets: how many packets the controller has not sent
  ///   - failure: the failure that causes it, if any
  func willEnd(unsentPackets: Int, _ failure: StackError? = nil) {
    isEnding = true
    self.unsentPackets = unsentPackets
    self.failure = failure ?? self.failure
  }

  /// The link is disconnected: all that waits fails.
  ///
  /// - Parameters:
  ///   - reason: the controller's
  ///   - failure: the failure of the controller that has ended it
  ///   - time: now
  ///   - tell: called before ``onDisconnected``
  func ended(_ reason: HCIErrorCode, _ failure: StackError?, at time: Instant, tell: () -> Void) {
    guard isConnected else { return }
    isConnected = false
    self.failure = failure ?? self.failure
    unfinished = endedForParameters(reason, at: time) ? .keepParameters : procedureUnderWay(at: time)
    tell()
    let onDisconnected = onDisconnected
    let error = self.failure ?? .notConnected
    parameterAnswers.fail(error)
    updates.fail(error)
    phyUpdates.fail(error)
    encryptions.fail(error)
    forget()
    onDisconnected?(reason)
  }

  /// Removes all closures.
  func forget() {
    isConnected = false
    links = nil
    onData = nil
    onChange = nil
    onRoom = nil
    onKeyRequest = nil
    onDisconnected = nil
    updates.removeAll()
    parameterAnswers.removeAll()
    phyUpdates.removeAll()
    encryptions.removeAll()
  }

  /// Counts a peripheral's request for other parameters: a few per second are allowed. Each request starts a procedure
  /// of both link layers, so excess requests are rejected.
  ///
  /// - Returns: whether the request may be accepted
  package func admitsParameterRequest(at time: Instant) -> Bool {
    if parameterRequests.admits(at: time) { return true }
    refuseParameterRequest()
    return false
  }

  /// Whether the peer gets the parameters that it asks for. A refusal is remembered, as it may cost the link.
  package func grants(_ request: ConnectionParameters, at time: Instant) -> Bool {
    guard request.isLegal, parameterPolicy == .accept || isWithinRequested(request) else {
      lastRefusal = time
      return false
    }
    return true
  }

  private func isWithinRequested(_ request: ConnectionParameters) -> Bool {
    guard let requested else { return false }
    return requested.intervalMin <= request.intervalMin && request.intervalMax <= requested.intervalMax
      && request.latency <= requested.latency
  }

  /// How long after a refusal a peer may end the link for it: some wait for a procedure of the link layers, 40 s
  /// (tinygo-org/bluetooth 456, h2zero/NimBLE-Arduino 1161).
  private static let longestPatience = Duration.seconds(60)
  /// How peers end a link on which they did not get the parameters that they need.
  private static let endsAfterRefusal: Set<HCIErrorCode> = [
    .remoteUserTerminatedConnection, .unacceptableConnectionParameters, .responseTimeout,
  ]

  /// Whether the link has probably ended because parameters were refused.
  private func endedForParameters(_ reason: HCIErrorCode, at time: Instant) -> Bool {
    guard let lastRefusal, time - lastRefusal <= Self.longestPatience else { return false }
    return Self.endsAfterRefusal.contains(reason)
  }

  /// Counts a request that is rejected because there are too many.
  package func refuseParameterRequest() { excessParameterRequests += 1 }

  /// Whether there is room for a frame that can wait. Responses to the peer can't, and are sent regardless.
  package var hasRoom: Bool { isConnected && links?.hasRoom(self) ?? false }

  /// Sends one L2CAP frame in as many ACL packets as needed. Frames sent on a disconnected link are dropped.
  ///
  /// - Parameter write: writes the frame, and nothing else
  package func send(_ write: (inout ByteWriter) -> Void) {
    guard isConnected else { return }
    links?.send(on: self, write)
  }

  /// Disconnects the link. ``onDisconnected`` is called when this is complete.
  package func disconnect() {
    guard isConnected else { return }
    links?.disconnect(self)
  }

  /// Reads the RSSI of the link in dBm; nil if unavailable.
  package func readRSSI(completion: @escaping (Result<Int8?, StackError>) -> Void) {
    guard let links, isConnected else { return completion(.failure(failure ?? .notConnected)) }
    links.commands.send(ReadRSSI(handle: handle)) { [self] result in
      completion(result.map(\.rssi))
      if case .failure(let error) = result { self.links?.note(error, on: self) }
    }
  }
}
