import HCI
import HaloBluetoothCore
import HaloSecurityManager

/// A pairing under way on a link: its timer, the user, and what it wants to be done.
@BluetoothActor
final class LinkPairing {
  /// If this side has sent nothing for this long, the pairing ends, and no other one may follow on the link (Core Specification
  /// Vol 3, Part H, 3.4). What the peer sends does not prolong it: some PDUs mean nothing, and may come for ever.
  static let timeout = Duration.seconds(30)

  private var pairing: Pairing
  private let peer: BluetoothAddress
  private let timers: Timers
  private let agent: (any PairingAgent)?
  private let send: ([UInt8]) -> Void
  private let encrypt: (LongTermKey) -> Void
  /// Called once.
  private var onEnd: ((Result<PairingResult, PairingFailure>) -> Void)?
  private var timer: Timers.Token?
  /// Counts the questions: an answer to an earlier one is ignored.
  private var questions = 0
  private var hasAsked = false

  init(
    _ pairing: Pairing, with peer: BluetoothAddress, timers: Timers, agent: (any PairingAgent)?,
    send: @escaping ([UInt8]) -> Void, encrypt: @escaping (LongTermKey) -> Void,
    onEnd: @escaping (Result<PairingResult, PairingFailure>) -> Void
  ) {
    self.pairing = pairing
    self.peer = peer
    self.timers = timers
    self.agent = agent
    self.send = send
    self.encrypt = encrypt
    self.onEnd = onEnd
  }

  /// The key that the peripheral's controller may be given; nil before both sides have shown that they have it.
  var pendingKey: LongTermKey? { pairing.pendingKey }

  func begin() {
    restartTimer()
    carryOut(pairing.begin())
  }

  func receive(_ pdu: [UInt8]) { carryOut(pairing.receive(pdu)) }

  func encryptionChanged(isOn: Bool) { carryOut(pairing.encryptionChanged(isOn: isOn)) }

  func disconnected() { carryOut(pairing.disconnected()) }

  private func restartTimer() {
    timers.cancel(timer)
    timer = timers.schedule(after: Self.timeout) { [weak self] in
      guard let self else { return }
      carryOut(pairing.expire())
    }
  }

  private func carryOut(_ outputs: [Pairing.Output]) {
    for output in outputs {
      // A user that refuses at once ends the pairing within the question.
      guard onEnd != nil else { return }
      switch output {
      case .send(let pdu):
        restartTimer()
        send(pdu)
      case .encrypt(let key): encrypt(key)
      case .ask(let question): ask(question)
      case .finished(let result): end(.success(result))
      case .failed(let failure): end(.failure(failure))
      }
    }
  }

  private func ask(_ question: PairingQuestion) {
    // A pairing without an agent has no question but that of Just Works, which is not asked then.
    guard let agent else { return carryOut(pairing.userAnswered(.refuse)) }
    questions += 1
    hasAsked = true
    let number = questions
    agent.ask(question, about: peer) { [weak self] answer in
      guard let self, number == questions, onEnd != nil else { return }
      carryOut(pairing.userAnswered(answer))
    }
  }

  private func end(_ result: Result<PairingResult, PairingFailure>) {
    timers.cancel(timer)
    if hasAsked { agent?.pairingEnded(with: peer, result.failure.map { .pairingFailed($0, with: peer) }) }
    onEnd.take()?(result)
  }
}

extension Result {
  fileprivate var failure: Failure? { if case .failure(let error) = self { error } else { nil } }
}
