import GAP
import HCI
import HaloBluetoothCore

/// The link to a replayed peripheral.
@BluetoothActor
final class ReplayedLink: ATTLink {
  let peer: BluetoothAddress
  let parameters: LinkParameters?
  var onPDU: ((RawSpan, Arrival) -> Void)?
  var onClosed: ((LinkLoss) -> Void)?
  var onEvent: ((LinkEvent) -> Void)?
  /// Called once, before ``onClosed``.
  var onEnd: ((LinkLoss, HCIErrorCode) -> Void)?

  let server: ReplayedServer
  private let timers: Timers
  private let packets: ReplayedPackets?
  private var isOpen = true

  init(
    _ peer: BluetoothAddress, _ parameters: LinkParameters?, _ server: ReplayedServer, timers: Timers,
    _ packets: ReplayedPackets?
  ) {
    self.peer = peer
    self.parameters = parameters
    self.server = server
    self.timers = timers
    self.packets = packets
  }

  func begin() {
    guard isOpen else { return }
    server.onPDU = { [weak self] bytes, time in
      guard let self, isOpen else { return }
      packets?.pdu(bytes.span.bytes, isSent: false, at: time)
      onPDU?(bytes.span.bytes, Arrival(time))
    }
    // The link object lives for as long as the link does.
    server.onLoss = { reason in self.end(.remote(reason), reason) }
    server.start()
  }

  func send(_ pdu: RawSpan) {
    guard isOpen else { return }
    packets?.pdu(pdu, isSent: true, at: timers.now)
    // The answer never arrives within the call.
    let bytes = Array(pdu)
    timers.schedule(after: .zero) { [weak self] in
      guard let self, isOpen else { return }
      server.receive(bytes.span.bytes)
    }
  }

  func disconnect() {
    timers.schedule(after: .zero) { self.end(.local, .connectionTerminatedByLocalHost) }
  }

  func readRSSI() async throws(StackError) -> Int8? { nil }

  private func end(_ loss: LinkLoss, _ reason: HCIErrorCode) {
    guard isOpen else { return }
    isOpen = false
    server.stop()
    onPDU = nil
    onEvent = nil
    onEnd.take()?(loss, reason)
    onClosed.take()?(loss)
  }
}
