import HaloBluetoothCore

/// A connection request.
package struct ConnectionRequest: Hashable, Sendable {
  /// The address at which the peer advertises.
  package var peer: BluetoothAddress
  /// Which device the peer is.
  package var identity: PeerIdentity { PeerIdentity(peer) }
  package var parameters: ConnectionParameters
  package var parameterPolicy: ParameterPolicy
  /// The procedures to request once the link is established; nil for the adapter's choice: ``LinkPreferences/standard``, or
  /// those of the kernel.
  package var preferences: LinkPreferences?
  /// The largest ATT PDU to receive, in bytes; nil for the largest that ATT needs. It is exchanged with the peer, unless
  /// ``leftOut`` has ``LinkProcedure/exchangeMTU``.
  package var mtu: Int?
  /// The procedures to omit on this link.
  package var leftOut: Set<LinkProcedure> = []
  /// The timeout for finding the peer, including failed attempts.
  package var deadline: Duration

  package init(
    peer: BluetoothAddress, parameters: ConnectionParameters = .fast,
    parameterPolicy: ParameterPolicy = .accept, deadline: Duration = .seconds(30)
  ) {
    self.peer = peer
    self.parameters = parameters
    self.parameterPolicy = parameterPolicy
    self.deadline = deadline
  }
}

/// A procedure on a new link that some peers and controllers do not survive, and that a link can do without.
package enum LinkProcedure: Hashable, Sendable, CaseIterable {
  case exchangeMTU
  /// The client's subscription to Service Changed.
  case serviceChanged
  /// LE Read Remote Features, which proves a new link, too.
  case readFeatures
  case updateDataLength
  case updatePHY
  /// Refusing the peer's requests for other connection parameters; see ``ParameterPolicy/keep``.
  case keepParameters
}

extension LinkProcedure: CustomStringConvertible {
  package var description: String {
    switch self {
    case .exchangeMTU: "the exchange of the MTU"
    case .serviceChanged: "the subscription to Service Changed"
    case .readFeatures: "reading the peer's features"
    case .updateDataLength: "the request for longer packets"
    case .updatePHY: "the request for another PHY"
    case .keepParameters: "the refusal of its connection parameters"
    }
  }
}

extension ConnectionParameters {
  /// A short interval for discovery and streams, and a supervision timeout suitable for a Raspberry Pi: with the Linux
  /// kernel's 420 ms, links are lost.
  package static let fast = ConnectionParameters(
    intervalMin: ConnectionInterval(.microseconds(7500)), intervalMax: ConnectionInterval(.milliseconds(15)),
    supervisionTimeout: SupervisionTimeout(.seconds(4)))
}

/// A request for a link that waits until the controller is set up.
final class WaitingConnection {
  private let request: ConnectionRequest
  private var completion: ((Result<LEConnection, StackError>) -> Void)?
  private var cancelAttempt: (() -> Void)?

  init(_ request: ConnectionRequest, _ completion: @escaping (Result<LEConnection, StackError>) -> Void) {
    self.request = request
    self.completion = completion
  }

  func start(_ initiator: Initiator) {
    guard let completion = completion.take() else { return }
    cancelAttempt = initiator.connect(request, completion: completion)
  }

  func fail(_ error: StackError) { completion.take()?(.failure(error)) }

  /// Cancels it, whether it has started or not.
  func cancel() {
    cancelAttempt.take()?()
    fail(.cancelled)
  }
}
