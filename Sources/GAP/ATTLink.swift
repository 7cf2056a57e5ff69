import HCI
import HaloBluetoothCore
import HaloGATT
import HaloSecurityManager

/// A link to a peer that carries ATT PDUs.
@BluetoothActor
package protocol ATTLink: AnyObject {
  /// The address of the peer.
  var peer: BluetoothAddress { get }
  /// The role of this side.
  var role: LERole { get }
  /// The address of this side on the link; nil if unknown.
  var localAddress: BluetoothAddress? { get }
  /// Its encryption, and the key of that; none if unknown.
  var security: LinkSecurity { get }
  /// The connection parameters; nil if unknown.
  var parameters: LinkParameters? { get }
  /// The PHYs in use; nil if unknown.
  var phys: LinkPHYs? { get }
  /// The longest packets on air; nil if unknown.
  var dataLengths: DataLengths? { get }
  /// Called for each PDU, with when it was received. The span is valid only during the call.
  var onPDU: ((RawSpan, Arrival) -> Void)? { get set }
  /// Called once, when the link is gone, with the reason.
  var onClosed: ((LinkLoss) -> Void)? { get set }
  /// Called with a description of a change of the link, for the user.
  var onEvent: ((LinkEvent) -> Void)? { get set }
  /// Whether there are keys of an earlier pairing with the peer, with which the link is encrypted before it is used.
  var isBonded: Bool { get }
  /// The signatures of the writes of both sides; nil if this side has no keys for them.
  var signing: LinkSigning? { get }
  /// What is kept of the peer as a client, with its bond; setting it does nothing without a bond.
  var clientRecord: ClientRecord? { get set }
  /// Whether there is room for a PDU that can wait: a write without response. Requests and answers are sent without
  /// it, as there is only one of each at a time.
  var hasRoom: Bool { get }
  /// Called when there is room again, after ``hasRoom`` was false.
  var onRoom: (() -> Void)? { get set }

  /// Whether data may not have left this machine when the link was ended.
  var hasUnsentPackets: Bool { get }
  /// Whether ``disconnect()`` drops data on their way, so that an answer of the peer has to prove that they have arrived.
  var dropsPacketsAtEnd: Bool { get }
  /// The last procedure requested of the link layers, if it was not done when the link was lost; nil if unknown.
  var unfinished: LinkProcedure? { get }

  /// The number of the peer's connection parameter requests that were rejected because there were too many.
  var excessParameterRequests: Int { get }

  /// Sends a PDU. It is discarded if the link has ended.
  func send(_ pdu: RawSpan)
  /// Ends the link; ``onClosed`` is called when it has ended.
  func disconnect()
  /// Requests other connection parameters; `completion` is called once, with those in force.
  func update(
    _ parameters: ConnectionParameters, completion: @escaping (Result<LinkParameters, StackError>) -> Void)
  /// Requests PHYs, for both directions; `completion` is called once, with those in use.
  func setPHYs(_ phys: LEPHYs, completion: @escaping (Result<LinkPHYs, StackError>) -> Void)
  /// Requests the maximum payload of packets to send, 27 to 251 bytes; `completion` is called once, when the controller
  /// has accepted or rejected it.
  func setDataLength(_ octets: Int, completion: @escaping (Result<Void, StackError>) -> Void)
  /// Raises the security of the link to a level: encrypts it with the key of a bond, or pairs, as the settings of its radio
  /// allow. `completion` is called once, when the link has the level or that has failed. Several calls share one attempt.
  func secure(to level: LESecurityLevel, completion: @escaping (Result<Void, StackError>) -> Void)
  /// Reads the signal strength in dBm; nil if it is not available.
  func readRSSI() async throws(StackError) -> Int8?
}

extension ATTLink {
  package var role: LERole { .central }
  package var localAddress: BluetoothAddress? { nil }
  package var security: LinkSecurity { .none }
  /// A link whose buffer space is not known accepts everything.
  package var hasRoom: Bool { true }
  /// The kernel answers such requests without counting them.
  package var excessParameterRequests: Int { 0 }
  package var onRoom: (() -> Void)? {
    get { nil }
    set {}
  }
  package var isBonded: Bool { false }
  package var signing: LinkSigning? { nil }
  package var clientRecord: ClientRecord? {
    get { nil }
    set {}
  }
  package var unfinished: LinkProcedure? { nil }
  package var hasUnsentPackets: Bool { false }
  package var dropsPacketsAtEnd: Bool { false }
  package var phys: LinkPHYs? { nil }
  package var dataLengths: DataLengths? { nil }
  package func update(
    _ parameters: ConnectionParameters, completion: @escaping (Result<LinkParameters, StackError>) -> Void
  ) {
    completion(.failure(StackError("change the connection parameters", .notOffered)))
  }
  package func setPHYs(_ phys: LEPHYs, completion: @escaping (Result<LinkPHYs, StackError>) -> Void) {
    completion(.failure(StackError("change the PHY", .notOffered)))
  }
  package func setDataLength(_ octets: Int, completion: @escaping (Result<Void, StackError>) -> Void) {
    completion(.failure(StackError("change the data length", .notOffered)))
  }
  package func secure(to level: LESecurityLevel, completion: @escaping (Result<Void, StackError>) -> Void) {
    completion(.failure(StackError("encrypt the link", .notOffered)))
  }
}

/// Why a link has ended.
package enum LinkLoss: Hashable, Sendable, CustomStringConvertible {
  /// This side ended it.
  case local
  /// The adapter has become unusable, and the link with it.
  case adapter(StackError)
  /// The peer ended it, or it was lost.
  case remote(HCIErrorCode)
  /// The peer ended it after it had asked for pairing, which was refused.
  case pairingRefused

  /// Whether the peer ended it on purpose.
  package var isByPeer: Bool { self == .remote(.remoteUserTerminatedConnection) || self == .pairingRefused }

  package var description: String {
    switch self {
    case .local: "disconnected"
    case .adapter(let error): error.description
    case .pairingRefused:
      "the peer ended the connection, after it had asked for pairing, which was refused"
    case .remote(.connectionTimeout): "no answer from the peer within the supervision timeout; out of range?"
    case .remote(.remoteUserTerminatedConnection): "the peer ended the connection"
    case .remote(.remotePowerOff): "the peer is switching off"
    case .remote(let code): code.description
    }
  }
}

/// Something about a link that has changed.
package enum LinkEvent: Hashable, Sendable, CustomStringConvertible {
  /// A property has changed, or could not be changed.
  case change(LEConnection.Change)
  /// The peer requested other parameters, which were accepted or not.
  case parameterRequest(ConnectionParameters, isAccepted: Bool)
  /// The peer has asked to pair, which was refused.
  case pairingRefused
  /// The peer, with which there is a bond, has asked to pair anew, over a link that it has not encrypted.
  case repairingRefused
  /// There is a pairing with the peer, and its keys are kept for later links or not.
  case paired(PairingMethod, PairingStrength, isKept: Bool)
  /// A pairing has failed.
  case pairingFailed(StackError)
  /// The peer's signed writes are ignored.
  case signatureRefused(SignatureFault)
  /// PDUs were lost on this machine, as they were not fetched in time; how many by now.
  case dropped(UInt32)

  package var description: String {
    switch self {
    case .change(let change): "link: \(change)"
    case .parameterRequest(let request, let isAccepted):
      "the peer asks for an interval of \(request.intervalMin) to \(request.intervalMax), latency \(request.latency), timeout \(request.supervisionTimeout): "
        + (isAccepted ? "accepted" : "refused")
    case .pairingRefused: "the peer asks for pairing, which is not allowed: refused"
    case .repairingRefused:
      "the peer has a bond, and asks to pair anew without it: refused; if it was reset, forget its bond first"
    case .paired(let method, let strength, let isKept):
      "paired (\(method), \(strength)); the bond is \(isKept ? "kept" : "for this link only")"
    case .pairingFailed(let error): error.description
    case .signatureRefused(let fault): "a signed write is ignored: \(fault)"
    case .dropped(let count): "link: the kernel has dropped \(count) packets by now, as its buffer was full"
    }
  }
}
