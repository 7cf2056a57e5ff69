import HCI
import HaloBluetoothCore

/// One side of the LE signalling channel. It opens no channels, and only answers.
enum SignalingResponder {
  struct Answer: Equatable {
    /// The answer to send; nil if none is allowed.
    var reply: SignalingPacket?
    /// The parameters requested by a peripheral.
    var request: ConnectionParameters?
    /// Whether the request was accepted: the central then updates the link (Core Specification Vol 3, Part A, 4.20).
    var isAccepted = false

    /// Changes an acceptance into a rejection.
    mutating func refuse() {
      isAccepted = false
      guard let identifier = reply?.identifier else { return }
      reply = .init(
        code: .connectionParameterUpdateResponse, identifier: identifier,
        data: ConnectionParameterUpdateResponse(isAccepted: false))
    }
  }

  /// Answers a frame.
  ///
  /// - Parameters:
  ///   - frame: the command
  ///   - role: of this side
  ///   - grants: whether a peripheral gets the parameters that it asks for
  static func answer(to frame: RawSpan, as role: LERole, grants: (ConnectionParameters) -> Bool) -> Answer {
    // A command without an identifier can't be answered; zero is invalid.
    guard let code = frame.byte(at: 0).map(SignalingPacket.Code.init), !code.isAnswer,
      let identifier = frame.byte(at: 1), identifier != 0
    else { return Answer() }
    guard frame.byteCount <= largestFrame else {
      return Answer(reply: reject(identifier, .mtuExceeded, [UInt16(largestFrame)]))
    }
    var reader = ByteReader(frame)
    guard let packet = try? SignalingPacket(parsing: &reader) else {
      return Answer(reply: reject(identifier))
    }
    if packet.code == .disconnectionRequest, let channel = packet.fields(ChannelEnd.self) {
      // There is none. Its identifiers are named as the peer has named them.
      let identifiers = [channel.destination, channel.source]
      return Answer(reply: reject(identifier, .invalidCID, identifiers))
    }
    // A central that asks for parameters is answered as one that sends an unknown command (4.20).
    guard role == .central, packet.code == .connectionParameterUpdateRequest,
      let request = packet.fields(ConnectionParameterUpdateRequest.self)
    else { return Answer(reply: reject(identifier)) }
    let isAccepted = grants(request.parameters)
    let reply = SignalingPacket(
      code: .connectionParameterUpdateResponse, identifier: identifier,
      data: ConnectionParameterUpdateResponse(isAccepted: isAccepted))
    return Answer(reply: reply, request: request.parameters, isAccepted: isAccepted)
  }

  /// The signalling MTU of an LE link (4, "Signaling packet formats"): the size that a device must be able to receive, and the
  /// largest here.
  private static let largestFrame = 23

  private static func reject(
    _ identifier: UInt8, _ reason: CommandReject.Reason = .commandNotUnderstood, _ data: [UInt16] = []
  ) -> SignalingPacket {
    SignalingPacket(
      code: .commandReject, identifier: identifier, data: CommandReject(reason: reason, data: data))
  }
}
