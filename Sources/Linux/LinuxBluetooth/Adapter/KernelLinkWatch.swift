import HCI
import HaloBluetoothCore

/// Asks the controller for links that are silent: Disconnection Complete may have been lost on its serial line
/// (raspberrypi/linux 5460), and the kernel keeps such a link permanently.
@BluetoothActor
final class KernelLinkWatch {
  /// How often it is asked.
  static let period = Duration.seconds(30)

  typealias RSSI = Result<Int8?, StackError>

  private let timers: Timers
  private let readRSSI: (ConnectionHandle, @escaping (RSSI) -> Void) -> Void
  private let onGone: (KernelLink) -> Void
  private var links: [(link: KernelLink, reads: UInt64?)] = []
  private var timer: Timers.Token?

  /// - Parameters:
  ///   - timers: the time
  ///   - readRSSI: asks the controller for the signal strength of a link
  ///   - onGone: called with a link that the controller does not know
  init(
    _ timers: Timers, readRSSI: @escaping (ConnectionHandle, @escaping (RSSI) -> Void) -> Void,
    onGone: @escaping (KernelLink) -> Void
  ) {
    (self.timers, self.readRSSI, self.onGone) = (timers, readRSSI, onGone)
  }

  func add(_ link: KernelLink) {
    links.append((link, link.reads))
    begin()
  }

  func remove(_ link: KernelLink) { links.removeAll { $0.link === link } }

  private func begin() {
    guard timer == nil, !links.isEmpty else { return }
    timer = timers.schedule(after: Self.period) { [weak self] in
      self?.timer = nil
      self?.ask()
      self?.begin()
    }
  }

  private func ask() {
    let silent = links.filter { $0.link.reads == $0.reads }.map(\.link)
    links = links.map { ($0.link, $0.link.reads) }
    // Twice, as the answer may be that to another program about its link.
    for link in silent { ask(link, times: 2) }
  }

  private func ask(_ link: KernelLink, times: Int) {
    guard let handle = link.handle, links.contains(where: { $0.link === link }) else { return }
    guard times > 0 else { return onGone(link) }
    readRSSI(handle) { [weak self] result in
      guard case .failure(let error) = result, error.refusal == .unknownConnectionIdentifier else { return }
      self?.ask(link, times: times - 1)
    }
  }
}
