import BluetoothCore

extension LinkParameters: CustomStringConvertible {
  public var description: String {
    "interval \(interval), latency \(latency), supervision timeout \(supervisionTimeout)"
  }
}

/// What to answer a peripheral that wants other connection parameters.
public enum ParameterPolicy: Hashable, Sendable {
  /// What is legal is accepted: many devices leave when they are refused.
  case accept
  /// Ours stay: for streams that a slow link would delay.
  case keep
}

/// One LE link, from its connection event to its disconnection. The handle may name another link afterwards; this
/// object does not.
public final class LEConnection {
  public let handle: ConnectionHandle
  public let peer: BluetoothAddress
  public private(set) var parameters: LinkParameters
  /// The features supported by the peer's link layer; known once it was asked.
  public internal(set) var remoteFeatures: LEFeatures?
  public internal(set) var isConnected = true
  /// Whether the controller was asked to end it.
  var isEnding = false
  /// Why the controller is of no use any more, if that is what ended the link; nil if the link itself ended.
  public internal(set) var failure: HCIError?
  /// What a peripheral gets that asks for other parameters, here or on L2CAP's signalling channel.
  public let parameterPolicy: ParameterPolicy
  /// How many requests for other parameters were refused because there were too many.
  public private(set) var excessParameterRequests = 0
  private var parameterRequests = RateLimit(count: 4, per: .seconds(1))

  /// Called for each ACL packet: data, whether a frame starts here, and when it was received. The span is valid only
  /// during the call.
  public var onData: ((RawSpan, Bool, Instant) -> Void)?
  /// Called when the controller reports other parameters.
  public var onParameters: ((LinkParameters) -> Void)?
  /// Called when there is room again for what can wait, after ``hasRoom`` was false.
  public var onRoom: (() -> Void)?
  /// Called once, when the link is gone.
  public var onDisconnected: ((HCIErrorCode) -> Void)?

  private weak var host: HostController?

  init(
    _ host: HostController, handle: ConnectionHandle, peer: BluetoothAddress, parameters: LinkParameters,
    parameterPolicy: ParameterPolicy
  ) {
    self.host = host
    self.handle = handle
    self.peer = peer
    self.parameters = parameters
    self.parameterPolicy = parameterPolicy
  }

  /// The link is gone; nothing is called any more.
  func forget() {
    isConnected = false
    onData = nil
    onParameters = nil
    onRoom = nil
    onDisconnected = nil
  }

  func adopt(_ parameters: LinkParameters) {
    self.parameters = parameters
    onParameters?(parameters)
  }

  /// Counts a peripheral's request for other parameters: it may ask a few times a second. Each costs a procedure of
  /// both link layers, so that one who asks without end is refused.
  ///
  /// - Returns: whether the request may be obeyed
  public func admitsParameterRequest(at time: Instant) -> Bool {
    if parameterRequests.admits(at: time) { return true }
    refuseParameterRequest()
    return false
  }

  /// Counts a request that is refused because there are too many.
  public func refuseParameterRequest() { excessParameterRequests += 1 }

  /// Whether there is room for a frame that can wait. Those that can't, as they answer the peer, are sent without it.
  public var hasRoom: Bool { isConnected && host?.hasRoom(self) ?? false }

  /// Sends one L2CAP frame, in as many ACL packets as it takes. What is sent on a link that is gone is lost.
  public func send(_ frame: RawSpan) {
    guard isConnected else { return }
    host?.send(frame, on: self)
  }

  /// Ends the link. ``onDisconnected`` tells when it is gone.
  public func disconnect() {
    guard isConnected else { return }
    host?.disconnect(self)
  }

  /// Asks the controller for other parameters; what comes of it is told by ``onParameters``.
  public func update(
    _ parameters: ConnectionParameters, completion: @escaping (Result<Void, HCIError>) -> Void = { _ in }
  ) {
    guard let host, isConnected else { return completion(.failure(failure ?? .notConnected)) }
    host.send(
      LEConnectionUpdate {
        $0.handle = handle
        $0.parameters = parameters
      }, completion: completion)
  }

  /// Reads the signal strength of the link in dBm; nil if unavailable.
  public func readRSSI(completion: @escaping (Result<Int8?, HCIError>) -> Void) {
    guard let host, isConnected else { return completion(.failure(failure ?? .notConnected)) }
    host.send(ReadRSSI(handle: handle)) { completion($0.map(\.rssi)) }
  }
}
