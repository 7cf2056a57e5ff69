import ATT
import BluetoothCore
import GATTClient
import HaloGATT

/// The ATT client in a ring, which queries its central as soon as it is connected (ring reference, 1.5): it discovers
/// the Generic Attribute service, reads its attributes if it exists, and exchanges the MTU.
final class PeripheralClient {
  /// The central's responses, in order.
  private(set) var answers: [ATTPDU] = []
  /// Requests that were not answered within 30 seconds. The client then sends no more.
  private(set) var unanswered = 0

  var send: (ATTPDU) -> Void = { _ in }
  var adoptMTU: (UInt16) -> Void = { _ in }

  private let timers: Timers
  private let mtu: UInt16
  private var open: ATTPDU?
  private var queue: [ATTPDU] = []
  private var tokens: [Timers.Token] = []
  private var timeout: Timers.Token?

  init(timers: Timers, mtu: UInt16) {
    self.timers = timers
    self.mtu = mtu
  }

  /// Starts over, on a new link.
  func start() {
    stop()
    answers = []
    unanswered = 0
    after(.milliseconds(30)) { [weak self] in
      self?.request(.findByTypeValueRequest(.all, type: 0x2800, value: [0x01, 0x18]))
    }
    guard mtu > ATTBearer.defaultMTU else { return }
    after(.milliseconds(280)) { [weak self] in
      guard let self else { return }
      request(.exchangeMTURequest(clientMTU: mtu))
    }
  }

  func stop() {
    for token in tokens { timers.cancel(token) }
    timers.cancel(timeout)
    tokens = []
    queue = []
    open = nil
  }

  /// Handles a response; false if none was expected.
  func receive(_ pdu: ATTPDU) -> Bool {
    guard let request = open else { return false }
    if case .errorResponse(let error) = pdu {
      guard error.request == request.opcode else { return false }
    } else {
      guard pdu.opcode == request.opcode.response else { return false }
    }
    timers.cancel(timeout)
    open = nil
    answers.append(pdu)
    switch pdu {
    case .findByTypeValueResponse(let ranges):
      if let service = ranges.first {
        self.request(.readByTypeRequest(service, type: GATTUUID.characteristic))
        self.request(.findInformationRequest(service))
      }
    case .exchangeMTUResponse(let theirs): adoptMTU(theirs)
    default: break
    }
    sendNext()
    return true
  }

  private func after(_ delay: Duration, _ action: @escaping () -> Void) {
    tokens.append(timers.schedule(after: delay, action))
  }

  private func request(_ pdu: ATTPDU) {
    queue.append(pdu)
    sendNext()
  }

  private func sendNext() {
    guard open == nil, unanswered == 0, !queue.isEmpty else { return }
    let next = queue.removeFirst()
    open = next
    timeout = timers.schedule(after: ATTBearer.transactionTimeout) { [weak self] in
      self?.unanswered += 1
    }
    send(next)
  }
}
