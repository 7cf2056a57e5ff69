import BluetoothCore
import EventLoop
import Glibc
import HCI
import L2CAP

/// An ATT link over the kernel's L2CAP.
@BluetoothActor
final class KernelLink: ATTLink {
  var onPDU: ((RawSpan, Instant) -> Void)? {
    get { socket.onPDU }
    set { socket.onPDU = newValue }
  }
  var onClosed: ((LinkLoss) -> Void)?
  var onEvent: ((LinkEvent) -> Void)?
  let peer: BluetoothAddress
  private(set) var parameters: LinkParameters?
  var handle: ConnectionHandle? { socket.handle }

  /// How long the end of a link may take.
  private static let disconnectDeadline = Duration.seconds(2)

  private let adapter: KernelAdapter
  private let socket: L2CAPSocket
  private let isOurs: Bool
  private var endedByUs = false
  private var isOver = false

  init(
    _ adapter: KernelAdapter, _ socket: L2CAPSocket, peer: BluetoothAddress, parameters: LinkParameters?,
    isOurs: Bool
  ) {
    self.adapter = adapter
    self.socket = socket
    self.peer = peer
    self.parameters = parameters
    self.isOurs = isOurs
    // The link object lives for as long as the link does.
    socket.onClosed = { error in self.socketEnded(error) }
    socket.onDrops = { [weak self] count in self?.onEvent?(.dropped(count)) }
  }

  func adopt(_ parameters: LinkParameters) {
    self.parameters = parameters
    onEvent?(.parameters(parameters))
  }

  func send(_ pdu: RawSpan) {
    socket.send(pdu)
  }

  /// Ends a link that was made for us at once, or the ring would go on to send for the two seconds that the kernel
  /// keeps it, and not advertise. One that somebody else uses, too, only loses us.
  func disconnect() {
    guard !isOver, !endedByUs else { return }
    endedByUs = true
    guard isOurs, let handle else {
      EventLoop.shared.timers.schedule(after: .zero) { self.lose(.local) }
      return
    }
    adapter.disconnect(handle)
    EventLoop.shared.timers.schedule(after: Self.disconnectDeadline) { [weak self] in self?.lose(.local) }
  }

  private func socketEnded(_ error: SystemError?) {
    if endedByUs { return lose(.local) }
    // If the adapter is what is gone, its failure takes the link along.
    guard let reason = adapter.lossReason(of: self, error) else { return }
    lose(.remote(reason))
  }

  /// The link is gone.
  func lose(_ loss: LinkLoss) {
    guard !isOver else { return }
    isOver = true
    adapter.remove(self)
    let onClosed = self.onClosed
    self.onClosed = nil
    onEvent = nil
    socket.onClosed = nil
    socket.close()
    onClosed?(loss)
  }

  func readRSSI() async throws(HCIError) -> Int8? {
    guard let handle else { return nil }
    return try await adapter.readRSSI(handle)
  }
}

extension HCIErrorCode {
  /// What the kernel's number for the end of a link stands for, where the controller's code is not known.
  init(losing error: SystemError?) {
    self =
      switch error?.errno {
      case ETIMEDOUT: .connectionTimeout
      case ECONNRESET: .remoteUserTerminatedConnection
      case ECONNABORTED: .connectionTerminatedByLocalHost
      default: .unspecifiedError
      }
  }
}
