import HCI
import HaloBluetoothCore

/// A peripheral whose owner answers the PDUs of ATT itself: it advertises, and has a link to one central at a time.
///
/// The adapter is started before, and closed afterwards, by its owner. When it has failed, it advertises again as soon as it
/// works again.
@BluetoothActor
package final class RawPeripheral {
  package enum Event: Hashable, Sendable {
    /// A central has connected. Nothing is advertised until its link has ended.
    case connected(BluetoothAddress)
    case disconnected(BluetoothAddress, LinkLoss)
    /// The radio advertises, the first time or after a refusal: nil. Or it refuses to, which it is asked again for.
    case advertising(StackError?)
  }

  /// Called with each event.
  package var onEvent: ((Event) -> Void)?
  /// Called with each link, whose closures are set in here, but `onClosed`.
  package var onLink: ((any ATTLink) -> Void)?
  /// The link to a central; nil if there is none.
  package private(set) var link: (any ATTLink)?

  private let adapter: any Adapter
  private let advertising: Advertising
  private let set = AdvertisingSet()
  private let status = AdvertisingStatus()
  private var isAdvertising = false
  private var whenLinkHasEnded: (() -> Void)?

  package init(_ advertising: Advertising, on adapter: any Adapter) {
    self.adapter = adapter
    self.advertising = advertising
    adapter.onAccepted = { [weak self] link in
      guard let self else { return link.disconnect() }
      accept(link)
    }
    set.onResult = { [weak self] error in self?.status.set(error) }
    status.onChange = { [weak self] error in self?.onEvent?(.advertising(error)) }
  }

  /// - Throws: if this radio does not advertise for programs
  package func start() throws(StackError) {
    isAdvertising = true
    try advertise()
  }

  /// Advertises no longer, also when the link has ended.
  package func stopAdvertising() {
    isAdvertising = false
    // An adapter that advertises for programs throws nothing.
    try? advertise()
  }

  /// Advertises no longer and ends the link, within a few seconds. Cancelling the task does not cancel this, as a central would
  /// keep its link.
  package func stop() async {
    stopAdvertising()
    guard let link else { return }
    await withCheckedContinuation { continuation in
      guard self.link === link else { return continuation.resume() }
      whenLinkHasEnded = { continuation.resume() }
      link.disconnect()
    }
  }

  private func advertise() throws(StackError) {
    try adapter.setAdvertising(isAdvertising && link == nil ? advertising : nil, in: set)
  }

  private func accept(_ link: any ATTLink) {
    // A central that was faster than the end of the advertisement.
    guard isAdvertising, self.link == nil else { return link.disconnect() }
    self.link = link
    link.onClosed = { [weak self] loss in self?.ended(loss) }
    try? advertise()
    onEvent?(.connected(link.peer))
    onLink?(link)
  }

  private func ended(_ loss: LinkLoss) {
    guard let peer = link.take()?.peer else { return }
    try? advertise()
    onEvent?(.disconnected(peer, loss))
    whenLinkHasEnded.take()?()
  }
}
