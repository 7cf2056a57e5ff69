import ATT
import HaloBluetoothCore
import HaloGATT

/// The requests of a ring to its central as soon as it is connected (ring reference, 1.5): it discovers the Generic Attribute
/// service, reads its attributes if it exists, and exchanges the MTU.
final class PeripheralClient {
  /// The central's responses, in order.
  private(set) var answers: [any ATTPDU] = []
  /// Requests that were not answered within 30 seconds. The client then sends no more.
  private(set) var unanswered = 0

  private let timers: Timers
  private let mtu: UInt16
  private var bearer: ATTBearer?
  private var isWaiting = false
  private var queue: [any ATTPDU] = []
  private var tokens: [Timers.Token] = []

  init(timers: Timers, mtu: UInt16) {
    self.timers = timers
    self.mtu = mtu
  }

  /// Starts over, on a new link.
  func start(on bearer: ATTBearer) {
    stop()
    self.bearer = bearer
    answers = []
    unanswered = 0
    after(.milliseconds(30)) { [weak self] in
      self?.request(
        ATTFindByTypeValueRequest(
          .all, type: GATTUUID.primaryServiceType, value: GATTUUID.genericAttribute.wireBytes))
    }
    guard mtu > ATTBearer.defaultMTU else { return }
    after(.milliseconds(280)) { [weak self] in
      guard let self else { return }
      request(ATTExchangeMTURequest(clientMTU: mtu))
    }
  }

  func stop() {
    for token in tokens { timers.cancel(token) }
    tokens = []
    queue = []
    isWaiting = false
    bearer = nil
  }

  private func received(_ result: Result<any ATTPDU, StackError>) {
    isWaiting = false
    switch result {
    case .success(let pdu):
      answers.append(pdu)
      if let service = (pdu as? ATTFindByTypeValueResponse)?.ranges.first {
        request(ATTReadByTypeRequest(service, type: GATTUUID.characteristic))
        request(ATTFindInformationRequest(service))
      }
    case .failure(let error):
      if let response = error.response { answers.append(response) }
      if error.code == .timedOut {
        unanswered += 1
        return stop()
      }
    }
    sendNext()
  }

  private func after(_ delay: Duration, _ action: @escaping () -> Void) {
    tokens.append(timers.schedule(after: delay, action))
  }

  private func request(_ pdu: any ATTPDU) {
    queue.append(pdu)
    sendNext()
  }

  /// One at a time is given to the bearer, so that it stays open for the central's requests when this one is not answered.
  private func sendNext() {
    guard let bearer, !isWaiting, !queue.isEmpty else { return }
    isWaiting = true
    bearer.request(queue.removeFirst(), allowsTimeout: true) { [weak self, weak bearer] result in
      guard let self, self.bearer === bearer else { return }
      received(result)
    }
  }
}
