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
  /// Called when there is room again for PDUs that can wait, after ``hasRoom`` was false.
  package var onRoom: (() -> Void)? {
    get { connection.onRoom }
    set { connection.onRoom = newValue }
  }
  /// Whether there is room for a PDU that can wait.
  package var hasRoom: Bool { connection.hasRoom }
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
