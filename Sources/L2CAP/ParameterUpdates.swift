import HCI
import HaloBluetoothCore

/// How a side of a link gets other connection parameters. A central has them updated. So does a peripheral, if both link layers
/// have the procedure for that; if not, it asks the central on the signalling channel (Core Specification Vol 3, Part A,
/// 4.20).
extension L2CAPLink {
  /// The answers of controllers that cannot do it without the peer's link layer.
  private static let refusalsWithoutProcedure: Set<HCIErrorCode> = [
    .unsupportedRemoteFeature, .unsupportedFeatureOrParameterValue, .commandDisallowed, .unknownCommand,
  ]

  /// Requests other connection parameters.
  ///
  /// - Parameters:
  ///   - parameters: the interval, latency and timeout to request
  ///   - completion: called exactly once, with the parameters in force; `.commandFailed` with `.unacceptableConnectionParameters`
  ///     if the central has rejected them
  package func update(
    _ parameters: ConnectionParameters,
    completion: @escaping (Result<LinkParameters, StackError>) -> Void = { _ in }
  ) {
    // This object is there until the link has ended, and with it all that waits.
    connection.update(parameters) { [unowned self] result in
      guard connection.role == .peripheral, case .failure(let error) = result, let status = error.refusal,
        Self.refusalsWithoutProcedure.contains(status)
      else { return completion(result) }
      askCentral(for: parameters, completion)
    }
  }

  private func askCentral(
    for parameters: ConnectionParameters,
    _ completion: @escaping (Result<LinkParameters, StackError>) -> Void
  ) {
    let opcode = LEConnectionUpdate.opcode
    guard connection.isConnected, !connection.parameterAnswers.isWaiting else {
      return completion(
        .failure(connection.isConnected ? .commandFailed(opcode, .commandDisallowed) : .notConnected))
    }
    _ = connection.parameterAnswers.add(opcode) { [connection] answer in
      switch answer {
      case .success: connection.awaitUpdate(completion)
      case .failure(let error): completion(.failure(error))
      }
    }
    let request = SignalingPacket(
      code: .connectionParameterUpdateRequest, identifier: nextIdentifier(),
      data: ConnectionParameterUpdateRequest(parameters))
    send(request)
  }

  /// Takes the central's answer.
  ///
  /// - Returns: false if the frame is none to the last request
  func takeAnswer(_ frame: RawSpan) -> Bool {
    var reader = ByteReader(frame)
    guard connection.parameterAnswers.isWaiting, let packet = try? SignalingPacket(parsing: &reader),
      packet.identifier == lastIdentifier
    else { return false }
    switch packet.code {
    case .connectionParameterUpdateResponse:
      let isAccepted = packet.fields(ConnectionParameterUpdateResponse.self)?.isAccepted == true
      connection.parameterAnswers.receive(isAccepted ? .success(()) : .failure(Self.rejection))
    case .commandReject: connection.parameterAnswers.receive(.failure(Self.rejection))
    default: return false
    }
    return true
  }

  private static let rejection = StackError.commandFailed(
    LEConnectionUpdate.opcode, .unacceptableConnectionParameters)
}
