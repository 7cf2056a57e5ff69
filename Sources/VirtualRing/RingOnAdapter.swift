import GAP
import HCI
import HaloBluetoothCore

/// The ring on an adapter: it advertises, and serves one central at a time. Its memory and its settings stay from one to the
/// next.
///
/// It is the ring of ``RingRadio``, in the time of the adapter. What a radio can't do is done as well as it can: a ring that
/// goes out of reach ends the link.
///
/// The adapter is started before, and closed afterwards, by its owner. When it has failed, it advertises again as soon as it
/// works again.
@BluetoothActor
package final class RingOnAdapter {
  package enum Event: Hashable, Sendable {
    /// A central has connected. The ring does not advertise until its link has ended.
    case connected(BluetoothAddress)
    case disconnected(BluetoothAddress, LinkLoss)
    /// The radio advertises, the first time or after a refusal: nil. Or it refuses to, which it is asked again for.
    case advertising(StackError?)
    /// The host has switched the ring off: it advertises no longer.
    case switchedOff
  }

  /// The ring, with the address of the adapter.
  package let peripheral: VirtualPeripheral
  package let options: VirtualRingOptions
  /// Called with what happens, for the user.
  package var onEvent: ((Event) -> Void)?

  private let adapter: any Adapter
  private let advertising: Advertising
  private let set = AdvertisingSet()
  private let status = AdvertisingStatus()
  private var link: (any ATTLink)?
  private var isAdvertising = false
  private var whenLinkHasEnded: (() -> Void)?

  /// How long what the ring has sent may take to reach the central before it leaves.
  private static let leavingTime = Duration.milliseconds(100)

  /// - Parameters:
  ///   - options: the ring
  ///   - adapter: the radio
  ///   - address: that of the radio, which becomes that of the ring
  package init(_ options: VirtualRingOptions, on adapter: any Adapter, at address: BluetoothAddress) {
    let options = options.moved(to: address)
    do throws(AdvertisingFault) {
      advertising = try Advertising(
        AdvertisingData(options.advertisement), scanResponse: AdvertisingData(options.scanResponse)
      ).every(options.advertisingInterval)
    } catch {
      preconditionFailure(
        "a name is cut to what a scan response has room for, and an interval is checked: \(error)")
    }
    self.options = options
    self.adapter = adapter
    peripheral = VirtualPeripheral(options: options, timers: adapter.timers)
    let peripheral = self.peripheral
    peripheral.send = { [weak self] channel, payload in
      if channel == .attribute { self?.link?.send(payload) }
    }
    peripheral.hasRoom = { [weak self] in self?.link?.hasRoom ?? false }
    // A central that refuses keeps its parameters.
    peripheral.requestParameters = { [weak self] in self?.link?.update($0) { _ in } }
    peripheral.ring.vanish = { [weak self] in self?.leave() }
    peripheral.ring.leave = { [weak self] in self?.leave() }
    peripheral.ring.switchOff = { [weak self] in
      self?.isAdvertising = false
      self?.onEvent?(.switchedOff)
      self?.leave()
    }
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

  /// Advertises no longer and ends the link, within a few seconds. Cancelling the task does not cancel this, as a central would
  /// keep its link.
  package func stop() async {
    isAdvertising = false
    try? advertise()
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

  /// What was sent before still goes out.
  private func leave() {
    guard let link else { return }
    adapter.timers.schedule(after: Self.leavingTime) { link.disconnect() }
  }

  private func accept(_ link: any ATTLink) {
    // A central that was faster than the end of the advertisement.
    guard isAdvertising, self.link == nil else { return link.disconnect() }
    self.link = link
    link.onPDU = { [peripheral] pdu, _ in peripheral.receive(.attribute, pdu) }
    link.onRoom = { [peripheral] in peripheral.roomAvailable() }
    link.onEvent = { [peripheral] event in
      if case .change(.parameters(let parameters)) = event {
        peripheral.updated(interval: parameters.interval)
      }
    }
    link.onClosed = { [weak self] loss in self?.ended(loss) }
    // An adapter that advertises for programs throws nothing.
    try? advertise()
    onEvent?(.connected(link.peer))
    peripheral.connected(interval: link.parameters?.interval)
  }

  private func ended(_ loss: LinkLoss) {
    guard let peer = link.take()?.peer else { return }
    peripheral.disconnected()
    try? advertise()
    onEvent?(.disconnected(peer, loss))
    whenLinkHasEnded.take()?()
  }
}
