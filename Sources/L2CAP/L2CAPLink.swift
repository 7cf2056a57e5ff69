import HCI
import HaloBluetoothCore

/// L2CAP on one LE link: recombines and fragments frames, answers signaling, and delivers the frames of the channels that are
/// registered (Core Specification Vol 3, Part A).
package final class L2CAPLink {
  /// The link of the controller.
  package let connection: LEConnection
  /// Takes the payload of a frame, with the time at which its last packet was received. The span is valid only during the
  /// call.
  package typealias Receiver = (RawSpan, Arrival) -> Void

  /// Called once, when the link is disconnected.
  package var onDisconnected: ((HCIErrorCode) -> Void)?
  /// Called when a peripheral has requested other connection parameters, with whether they were accepted. Not called
  /// for excess requests, which are rejected.
  package var onParameterRequest: ((ConnectionParameters, Bool) -> Void)?

  @exclusivity(unchecked) private var receivers = SmallMap<ChannelID, Receiver>()
  private let recombiner = Recombiner()
  /// The identifier of the last request on the signalling channel; never zero after the first one.
  private(set) var lastIdentifier: UInt8 = 0

  package init(_ connection: LEConnection) {
    self.connection = connection
    // Not weak, which costs 200 instructions a packet: the closures go with this object.
    connection.onData = { [unowned self] data, isStart, time in
      receive(data, isStart: isStart, at: time)
    }
    connection.onDisconnected = { [unowned self] reason in
      receivers = SmallMap()
      onParameterRequest = nil
      onDisconnected.take()?(reason)
    }
  }

  deinit {
    connection.onData = nil
    connection.onDisconnected = nil
  }

  /// Counts of discarded input.
  package var counters: Recombiner.Counters { recombiner.counters }

  /// The receiver of the frames of a channel; nil for none. On LE, a frame on such a channel is discarded without an answer
  /// (3.2).
  package subscript(_ channel: ChannelID) -> Receiver? {
    get { receivers[channel] }
    set { receivers[channel] = newValue }
  }

  /// Sends a frame.
  package func send(_ payload: RawSpan, on channel: ChannelID) {
    connection.send { BasicHeader.writeFrame(payload, on: channel, into: &$0) }
  }

  private func receive(_ data: RawSpan, isStart: Bool, at arrival: Arrival) {
    recombiner.receive(data, isStart: isStart) { channel, payload in
      if let receiver = receivers[channel] {
        receiver(payload, arrival)
      } else if channel == .leSignaling {
        answerSignaling(payload, at: arrival.time)
      }
    }
  }

  func nextIdentifier() -> UInt8 {
    lastIdentifier = lastIdentifier == .max ? 1 : lastIdentifier + 1
    return lastIdentifier
  }

  func send(_ packet: SignalingPacket) {
    var writer = ByteWriter(capacity: 16)
    packet.write(into: &writer)
    send(writer.span, on: .leSignaling)
  }

  private func answerSignaling(_ frame: RawSpan, at time: Instant) {
    if takeAnswer(frame) { return }
    // A peer that floods requests and does not receive the answers gets none, and the link is kept.
    guard connection.hasRoom else {
      let code = frame.byte(at: 0).map { SignalingPacket.Code(rawValue: $0) }
      if code == .connectionParameterUpdateRequest { connection.refuseParameterRequest() }
      return
    }
    var answer = SignalingResponder.answer(to: frame, as: connection.role) {
      connection.grants($0, at: time)
    }
    let isExcess = answer.request != nil && !connection.admitsParameterRequest(at: time)
    if isExcess { answer.refuse() }
    if let reply = answer.reply { send(reply) }
    if let request = answer.request, !isExcess {
      if answer.isAccepted { connection.update(request) }
      onParameterRequest?(request, answer.isAccepted)
    }
  }
}

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
