import BluetoothCore
import EventLoop
import HCI

/// A radio that can scan and connect. Callers see no difference between its implementations.
@BluetoothActor
public protocol Adapter: AnyObject {
  /// Called for each advertising report.
  var onReport: ((AdvertisingReport, Instant) -> Void)? { get set }
  /// Called when the radio refuses to scan.
  var onScanFailure: ((HCIError) -> Void)? { get set }
  /// Called once when the radio has become unusable; its links have been reported as lost by then.
  var onFailure: ((HCIError) -> Void)? { get set }

  /// Called with information for the user that is not an error.
  var onNote: ((String) -> Void)? { get set }

  /// The number of packets lost because this machine did not read them in time; nil if that cannot happen or is not
  /// known.
  var droppedPackets: Int? { get }

  /// Initializes the radio and returns a description of it.
  func start() async throws(HCIError) -> AdapterInformation
  /// Makes the radio usable again after ``onFailure``: waits at most `time` until it is present and powered on. The
  /// desired scan continues. Cancelling the task ends the wait.
  ///
  /// - Throws: why it is still unusable; ``HCIError/notReady`` for a radio that cannot be recovered
  func recover(within time: Duration) async throws(HCIError) -> AdapterInformation
  /// Sets the desired scan; nil for none. It stays in effect while links are established.
  func setScan(_ parameters: ScanParameters?)
  /// Establishes a link.
  ///
  /// - Parameter completion: called exactly once. PDUs may follow at once, so the link's closures are set in here.
  /// - Returns: a closure that cancels the attempt
  func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<any ATTLink, HCIError>) -> Void
  ) -> () -> Void
  /// Releases the radio, and returns when it has stopped all activity. All links should have ended by then.
  func close() async
}

extension Adapter {
  public var onNote: ((String) -> Void)? {
    get { nil }
    set {}
  }
  public var droppedPackets: Int? { nil }

  public func recover(within time: Duration) async throws(HCIError) -> AdapterInformation {
    throw .notReady
  }
}

/// A description of a radio for the user.
public struct AdapterInformation: Hashable, Sendable {
  public var address: BluetoothAddress
  /// The version of the controller: `5.0`.
  public var version: String
  /// Whether it scans with the extended commands of Bluetooth 5.
  public var usesExtendedScan: Bool

  public init(address: BluetoothAddress, version: String, usesExtendedScan: Bool) {
    self.address = address
    self.version = version
    self.usesExtendedScan = usesExtendedScan
  }
}

/// A link to a peer that carries ATT PDUs.
@BluetoothActor
public protocol ATTLink: AnyObject {
  var peer: BluetoothAddress { get }
  /// The connection parameters; nil if unknown.
  var parameters: LinkParameters? { get }
  /// Called for each PDU, with the time at which it was received. The span is valid only during the call.
  var onPDU: ((RawSpan, Instant) -> Void)? { get set }
  /// Called once, when the link is gone, with the reason.
  var onClosed: ((LinkLoss) -> Void)? { get set }
  /// Called with a description of a change of the link, for the user.
  var onEvent: ((LinkEvent) -> Void)? { get set }
  /// Whether there is room for a PDU that can wait: a write without response. Requests and answers are sent without
  /// it, as there is only one of each at a time.
  var hasRoom: Bool { get }
  /// Called when there is room again, after ``hasRoom`` was false.
  var onRoom: (() -> Void)? { get set }

  /// The number of the peer's connection parameter requests that were rejected because there were too many.
  var excessParameterRequests: Int { get }

  /// Sends a PDU. It is discarded if the link has ended.
  func send(_ pdu: RawSpan)
  /// Ends the link; ``onClosed`` is called when it has ended.
  func disconnect()
  /// Reads the signal strength in dBm; nil if it is not available.
  func readRSSI() async throws(HCIError) -> Int8?
}

extension ATTLink {
  /// A link whose buffer space is not known accepts everything.
  public var hasRoom: Bool { true }
  /// The kernel answers such requests without counting them.
  public var excessParameterRequests: Int { 0 }
  public var onRoom: (() -> Void)? {
    get { nil }
    set {}
  }
}

/// Why a link has ended.
public enum LinkLoss: Hashable, Sendable {
  /// Not supported: the caller that waited for the end has given up.
  case notYet
  /// We ended it.
  case local
  /// The adapter has become unusable, and the link with it.
  case adapter(HCIError)
  /// The peer ended it, or it was lost.
  case remote(HCIErrorCode)
}

extension LinkLoss: CustomStringConvertible {
  public var description: String {
    switch self {
    case .notYet: "still connected"
    case .local: "disconnected"
    case .adapter(let error): error.description
    case .remote(.connectionTimeout): "the peer was not heard any more (supervision timeout)"
    case .remote(.remoteUserTerminatedConnection): "the peer ended the connection"
    case .remote(.remotePowerOff): "the peer is switching off"
    case .remote(let code): code.description
    }
  }
}

/// Something about a link that has changed.
public enum LinkEvent: Hashable, Sendable {
  case parameters(LinkParameters)
  /// The peer requested other parameters; says whether they were accepted.
  case parameterRequest(ConnectionParameters, isAccepted: Bool)
  /// PDUs were lost on this machine, as they were not fetched in time; how many by now.
  case dropped(UInt32)
}

extension LinkEvent: CustomStringConvertible {
  public var description: String {
    switch self {
    case .parameters(let parameters): "link: \(parameters)"
    case .parameterRequest(let wish, let isAccepted):
      "the peer asks for an interval of \(wish.intervalMin) to \(wish.intervalMax), latency \(wish.latency), timeout \(wish.supervisionTimeout): "
        + (isAccepted ? "accepted" : "refused")
    case .dropped(let count): "link: the kernel has dropped \(count) packets by now, as its buffer was full"
    }
  }
}
