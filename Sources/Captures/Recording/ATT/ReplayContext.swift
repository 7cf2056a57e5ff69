import ATT
import HaloBluetoothCore

/// What the answers of a replayed server have in common: the recorded connection, the values so far, and what follows from
/// the PDU that is being answered.
@BluetoothActor
final class ReplayContext {
  let peripheral: ReplayedPeripheral
  let dialogue: RecordedDialogue
  /// The values that the client has read or written, by their handles.
  var values: [AttributeHandle: [UInt8]] = [:]
  /// The last recorded packet that matched.
  private var lastPacket = 0
  private var effects: [ReplayedAnswers.Effect] = []

  init(_ peripheral: ReplayedPeripheral, _ dialogue: RecordedDialogue) {
    self.peripheral = peripheral
    self.dialogue = dialogue
  }

  /// What follows from the PDU that was answered.
  func takeEffects() -> [ReplayedAnswers.Effect] {
    defer { effects = [] }
    return effects
  }

  func add(_ effect: ReplayedAnswers.Effect) { effects.append(effect) }

  // MARK: Matching

  /// Notes what was matched.
  func taken(_ match: ExchangeMatcher.Match?) -> RecordedDialogue.Exchange? {
    guard let match else { return nil }
    note(match.exchange, isNew: match.isNew)
    return match.exchange
  }

  /// Notes that a recorded request was made.
  ///
  /// - Parameter isNew: whether the exchange was not used before
  func note(_ exchange: RecordedDialogue.Exchange, isNew: Bool) {
    peripheral.matched += 1
    if isNew { lastPacket = max(lastPacket, exchange.packet) }
    effects.append(.match(exchange, isNew: isNew))
  }

  // MARK: Answering

  func reply(_ bytes: [UInt8], _ delay: Duration = .zero) { effects.append(.reply(bytes, delay)) }

  /// Answers a request with an error.
  ///
  /// - Parameter reason: what the capture lacks; nil if the recorded server refused, too
  func refuse(
    _ request: ATTOpcode, _ handle: AttributeHandle?, _ code: ATTErrorCode, after delay: Duration = .zero,
    because reason: String? = nil
  ) {
    if let reason { miss(request, handle, handle.flatMap { peripheral.attributes[$0]?.type }, reason) }
    guard request.kind == .request || request.kind == .unknown else { return }
    let response = ATTErrorResponse(request: request, handle: handle ?? AttributeHandle(0), code: code)
    reply(response.bytes, delay)
  }

  /// Notes that the capture has no answer to a request.
  func miss(
    _ request: ATTOpcode, _ handle: AttributeHandle?, _ uuid: BluetoothUUID?, _ reason: String
  ) {
    effects.append(.miss)
    guard peripheral.missing.count < ReplayedPeripheral.mostReports else { return }
    peripheral.missing.append(
      MissingAnswer(
        request: request, handle: handle, uuid: uuid, reason: reason,
        nearestPacket: nearest(request, handle)))
  }

  /// The packet with the request of the same kind on the nearest handle; without one, the last that matched.
  private func nearest(_ request: ATTOpcode, _ handle: AttributeHandle?) -> Int? {
    func distance(_ exchange: RecordedDialogue.Exchange) -> Int {
      switch exchange.subject {
      case .write(let other), .read(let other): abs(Int(other.rawValue) - Int(handle?.rawValue ?? 0))
      case .exact: 0
      }
    }
    let same = dialogue.exchanges.lazy.filter { $0.opcode == request }
    return same.min { distance($0) < distance($1) }?.packet ?? (lastPacket > 0 ? lastPacket : nil)
  }
}
