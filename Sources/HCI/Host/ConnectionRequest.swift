import BluetoothCore

/// A connection request.
public struct ConnectionRequest: Hashable, Sendable {
  public var peer: BluetoothAddress
  public var parameters: ConnectionParameters
  public var parameterPolicy: ParameterPolicy
  /// What to request of the link once it is established; nil for the adapter's choice: ``LinkPreferences/standard``, or
  /// what the kernel chooses.
  public var preferences: LinkPreferences?
  /// The timeout for finding the peer, including failed attempts.
  public var deadline: Duration

  public init(
    peer: BluetoothAddress, parameters: ConnectionParameters = .fast,
    parameterPolicy: ParameterPolicy = .accept, deadline: Duration = .seconds(30)
  ) {
    self.peer = peer
    self.parameters = parameters
    self.parameterPolicy = parameterPolicy
    self.deadline = deadline
  }
}

extension ConnectionParameters {
  /// A short interval for discovery and streams, and a supervision timeout suitable for a Raspberry Pi: with the Linux
  /// kernel's 420 ms, links are lost.
  public static let fast = ConnectionParameters(
    intervalMin: ConnectionInterval(.microseconds(7500)), intervalMax: ConnectionInterval(.milliseconds(15)),
    supervisionTimeout: SupervisionTimeout(.seconds(4)))
}
