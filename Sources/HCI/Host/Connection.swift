import HaloBluetoothCore

extension LinkParameters: CustomStringConvertible {
  public var description: String {
    "interval \(interval), latency \(latency), supervision timeout \(supervisionTimeout)"
  }
}

/// How to answer a peripheral's request for other connection parameters.
public enum ParameterPolicy: Hashable, Sendable {
  /// Accept all valid parameters: many devices disconnect when they are rejected.
  case accept
  /// Keep the current parameters, for streams that a slower link would delay.
  case keep
}

/// One LE link, from its connection event to its disconnection. The handle may be reused by another link; this object
/// is not.
public final class LEConnection {
  public let handle: ConnectionHandle
  public let peer: BluetoothAddress
  /// The role of this side.
  public let role: LERole
  /// The address that this side uses on the link: a resolvable private one, if the controller says so.
  public let localAddress: BluetoothAddress
  public internal(set) var parameters: LinkParameters
  /// The PHYs in use.
  public internal(set) var phys = LinkPHYs.le1M
  /// The longest packets.
  public internal(set) var dataLengths = DataLengths.shortest
  /// The features of the peer's link layer; nil until they are read.
  public internal(set) var remoteFeatures: LEFeatures?
  public internal(set) var isConnected = true
  /// Whether the link is encrypted.
  public internal(set) var isEncrypted = false
  /// The key with which it is, or was, encrypted; nil if it never was.
  public internal(set) var key: LongTermKey?
  /// The key with which encryption begins.
  var nextKey: LongTermKey?
  /// Whether no packet of the peer has been received yet; see ``Initiator``.
  @exclusivity(unchecked) var isUnproven = false
  /// Whether longer packets were requested. If the peer has no longer ones, this stays so.
  var isLengthening = false
  /// Whether the controller was asked to disconnect it.
  var isEnding = false
  /// The controller's failure that ended the link; nil if the link itself ended.
  public internal(set) var failure: HCIError?
  /// How many packets the controller had not sent when it was asked to disconnect.
  public internal(set) var unsentPackets = 0
  /// What was requested last, and not done, when the link was lost.
  public internal(set) var unfinished: LinkProcedure?
  /// The answer to a peripheral's request for other parameters, over HCI or on the L2CAP signalling channel.
  public let parameterPolicy: ParameterPolicy
  /// The number of requests for other parameters that were rejected because there were too many.
  public private(set) var excessParameterRequests = 0
  private var parameterRequests = RateLimit(count: 4, per: .seconds(1))

  /// Called for each ACL packet with its data, whether a frame starts here, and the time at which it was received. The
  /// span is valid only during the call.
  @exclusivity(unchecked) public var onData: ((RawSpan, Bool, Instant) -> Void)?
  /// Called when a property of the link has changed.
  public var onChange: ((Change) -> Void)?
  /// The key that a peripheral is asked for, by its Rand and EDIV; nil if there is none. Without this closure there is none.
  public var onKeyRequest: ((UInt64, UInt16) -> LongTermKey?)?
  /// Called when there is room again for packets that can wait, after ``hasRoom`` was false.
  public var onRoom: (() -> Void)?
  /// Called once, when the link is disconnected.
  public var onDisconnected: ((HCIErrorCode) -> Void)?

  /// What to request once the link is established.
  let preferences: LinkPreferences
  let leftOut: Set<LinkProcedure>
  let updates: EventWaiters<LinkParameters>
  let phyUpdates: EventWaiters<LinkPHYs>
  let encryptions: EventWaiters<Void>
  private(set) weak var links: LinkTable?

  /// - Parameters:
  ///   - event: its event, with success
  ///   - request: what it was requested with; nil in the peripheral role
  ///   - ownAddress: the address that the host has the controller use
  init(
    _ links: LinkTable, _ event: LEConnectionComplete, _ request: ConnectionRequest?,
    ownAddress: BluetoothAddress
  ) {
    self.links = links
    handle = event.handle
    peer = request?.peer ?? event.peerAddress
    role = event.role
    localAddress = event.localResolvableAddress ?? ownAddress
    parameters = event.parameters
    parameterPolicy = request?.parameterPolicy ?? .accept
    preferences = request?.preferences ?? .standard
    leftOut = request?.leftOut ?? []
    updates = EventWaiters(links.timers)
    phyUpdates = EventWaiters(links.timers)
    encryptions = EventWaiters(links.timers)
  }

  /// The link is disconnected: removes all closures.
  func forget() {
    isConnected = false
    onData = nil
    onChange = nil
    onRoom = nil
    onKeyRequest = nil
    onDisconnected = nil
    updates.removeAll()
    phyUpdates.removeAll()
    encryptions.removeAll()
  }

  /// Counts a peripheral's request for other parameters: a few per second are allowed. Each request starts a procedure
  /// of both link layers, so excess requests are rejected.
  ///
  /// - Returns: whether the request may be accepted
  public func admitsParameterRequest(at time: Instant) -> Bool {
    if parameterRequests.admits(at: time) { return true }
    refuseParameterRequest()
    return false
  }

  /// Counts a request that is rejected because there are too many.
  public func refuseParameterRequest() { excessParameterRequests += 1 }

  /// Whether there is room for a frame that can wait. Responses to the peer can't, and are sent regardless.
  public var hasRoom: Bool { isConnected && links?.hasRoom(self) ?? false }

  /// Sends one L2CAP frame in as many ACL packets as needed. Frames sent on a disconnected link are dropped.
  public func send(_ frame: RawSpan) {
    guard isConnected else { return }
    links?.send(frame, on: self)
  }

  /// Disconnects the link. ``onDisconnected`` is called when this is complete.
  public func disconnect() {
    guard isConnected else { return }
    links?.disconnect(self)
  }

  /// Reads the RSSI of the link in dBm; nil if unavailable.
  public func readRSSI(completion: @escaping (Result<Int8?, HCIError>) -> Void) {
    guard let links, isConnected else { return completion(.failure(failure ?? .notConnected)) }
    links.commands.send(ReadRSSI(handle: handle)) { [weak self] result in
      completion(result.map(\.rssi))
      if let self, case .failure(let error) = result { self.links?.note(error, on: self) }
    }
  }
}
