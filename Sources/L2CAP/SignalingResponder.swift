import BluetoothCore
import HCI

/// The central's side of the LE signalling channel. It opens no channels, and only answers.
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
  /// - Parameter policy: how to answer a request for other connection parameters
  static func answer(to frame: RawSpan, policy: ParameterPolicy) -> Answer {
    var reader = ByteReader(frame)
    guard let packet = try? SignalingPacket(parsing: &reader) else {
      // A command without an identifier can't be answered; zero is invalid.
      guard let identifier = frame.byte(at: 1), identifier != 0,
        SignalingPacket.Code(rawValue: frame.byte(at: 0) ?? 0).isAnswer == false
      else { return Answer() }
      return Answer(reply: reject(identifier))
    }
    guard packet.identifier != 0, !packet.code.isAnswer else { return Answer() }
    guard packet.code == .connectionParameterUpdateRequest else {
      return Answer(reply: reject(packet.identifier))
    }
    guard let request = packet.fields(ConnectionParameterUpdateRequest.self) else {
      return Answer(reply: reject(packet.identifier))
    }
    let isAccepted = policy == .accept && request.parameters.isLegal
    let reply = SignalingPacket(
      code: .connectionParameterUpdateResponse, identifier: packet.identifier,
      data: ConnectionParameterUpdateResponse(isAccepted: isAccepted))
    return Answer(reply: reply, request: request.parameters, isAccepted: isAccepted)
  }

  /// Command Reject, reason "command not understood" (4.1).
  private static func reject(_ identifier: UInt8) -> SignalingPacket {
    SignalingPacket(code: .commandReject, identifier: identifier, data: CommandReject())
  }
}
