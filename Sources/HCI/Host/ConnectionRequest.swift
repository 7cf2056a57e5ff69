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
  package var firstEncryption = FirstEncryption.ifBonded
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

/// Whether a new link is encrypted before it is used.
package enum FirstEncryption: Hashable, Sendable {
  /// If there is a bond with the peer.
  case ifBonded
  /// In any case: a peer that there is no bond with is paired with.
  case always
  /// Not at all, as signed writes need it.
  case never

  package func applies(isBonded: Bool) -> Bool { self == .always || self == .ifBonded && isBonded }
}

/// A procedure on a new link that some peers and controllers do not survive, and that a link can do without.
package enum LinkProcedure: Hashable, Sendable, CaseIterable, CustomStringConvertible {
  case exchangeMTU
  /// The client's subscription to Service Changed.
  case serviceChanged
  /// LE Read Remote Features, which proves a new link, too.
  case readFeatures
  case updateDataLength
  case updatePHY
  /// Refusing the peer's requests for other connection parameters; see ``ParameterPolicy/keep``.
  case keepParameters

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

/// The PHYs and the packet length to request as soon as a link is established. Features that one of the link layers lacks are
/// not requested.
package struct LinkPreferences: Hashable, Sendable {
  /// The PHYs to use in both directions; nil to request none. A link begins on LE 1M.
  package var phys: LEPHYs?
  /// The maximum payload of the packets to send, 27 to 251 bytes; nil to request none. A link begins with 27.
  package var dataLength: Int?

  package init(phys: LEPHYs? = nil, dataLength: Int? = nil) {
    self.phys = phys
    self.dataLength = dataLength
  }

  /// LE 2M, with LE 1M as the alternative when the signal is weak, and packets of 251 bytes.
  package static let standard = LinkPreferences(phys: [.le1M, .le2M], dataLength: 251)
}

extension LEPHYs {
  /// The PHYs that a link layer with these features has. Each has LE 1M.
  init(_ features: LEFeatures) {
    self.init(
      le1M: true, le2M: features.contains(.phy2M), leCoded: features.contains(.phyCoded))
  }

  /// The features that these PHYs need.
  var features: LEFeatures {
    var features: LEFeatures = []
    if contains(.le2M) { features.insert(.phy2M) }
    if contains(.leCoded) { features.insert(.phyCoded) }
    return features
  }
}

extension LinkPHYs: CustomStringConvertible {
  /// The PHYs of a new link.
  package static let le1M = LinkPHYs {
    $0.transmit = .le1M
    $0.receive = .le1M
  }

  package var description: String {
    transmit == receive ? "\(transmit)" : "\(transmit) to send, \(receive) to receive"
  }
}

extension DataLengths: CustomStringConvertible {
  /// The lengths of a new link (Vol 6, Part B, 4.5.10).
  package static let shortest = DataLengths {
    $0.transmit = DataLength(octets: 27, time: 328)
    $0.receive = $0.transmit
  }

  package var description: String {
    transmit.octets == receive.octets
      ? "\(transmit.octets) bytes" : "\(transmit.octets) bytes to send, \(receive.octets) bytes to receive"
  }
}

extension DataLength {
  /// The length of packets with a payload of this many bytes, and the time that the slowest of `phys` needs for them
  /// (Vol 6, Part B, 4.5.10): the coded one takes 64 us for a byte.
  init(octets: Int, on phys: LEPHYs) {
    let octets = min(max(octets, 27), 251)
    let time = phys.contains(.leCoded) ? octets * 64 + 976 : (octets + 14) * 8
    self.init(octets: UInt16(octets), time: UInt16(time))
  }
}
