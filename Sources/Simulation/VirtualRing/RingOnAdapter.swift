import GAP
import HCI
import HaloBluetoothCore

/// The ring on an adapter: it advertises, and serves one central at a time. Its memory and its settings stay from one to the
/// next.
///
/// It is the ring of ``RingRadio``, in the time of the adapter. Faults that a radio can't make are replaced by the closest: a
/// ring that goes out of reach ends the link.
@BluetoothActor
package final class RingOnAdapter {
  package enum Event: Hashable, Sendable {
    case radio(RawPeripheral.Event)
    /// The host has switched the ring off: it advertises no longer.
    case switchedOff
  }

  /// The ring, with the address of the adapter.
  package let peripheral: VirtualPeripheral
  package let options: VirtualRingOptions
  /// Called with each event, for the user.
  package var onEvent: ((Event) -> Void)?

  private let radio: RawPeripheral
  private let timers: Timers

  /// The longest time for frames of the ring to reach the central before it leaves.
  private static let leavingTime = Duration.milliseconds(100)

  /// - Parameters:
  ///   - options: the ring
  ///   - adapter: the radio
  ///   - address: that of the radio, which becomes that of the ring
  package init(_ options: VirtualRingOptions, on adapter: any Adapter, at address: BluetoothAddress) {
    let options = options.moved(to: address)
    let advertising: Advertising
    do throws(AdvertisingFault) {
      advertising = try Advertising(
        AdvertisingData(options.advertisement), scanResponse: AdvertisingData(options.scanResponse)
      ).every(options.advertisingInterval)
    } catch {
      preconditionFailure(
        "a name is cut to what a scan response has room for, and an interval is checked: \(error)")
    }
    self.options = options
    timers = adapter.timers
    radio = RawPeripheral(advertising, on: adapter)
    peripheral = VirtualPeripheral(options: options, timers: adapter.timers)
    let peripheral = self.peripheral
    peripheral.send = { [weak radio] channel, payload in
      if channel == .attribute { radio?.link?.send(payload) }
    }
    peripheral.hasRoom = { [weak radio] in radio?.link?.hasRoom ?? false }
    // A central that refuses keeps its parameters.
    peripheral.requestParameters = { [weak radio] in radio?.link?.update($0) { _ in } }
    peripheral.ring.vanish = { [weak self] in self?.leave() }
    peripheral.ring.leave = { [weak self] in self?.leave() }
    peripheral.ring.switchOff = { [weak self] in
      self?.radio.stopAdvertising()
      self?.onEvent?(.switchedOff)
      self?.leave()
    }
    radio.onLink = { link in
      link.onPDU = { pdu, _ in peripheral.receive(.attribute, pdu) }
      link.onRoom = { peripheral.roomAvailable() }
      link.onEvent = { event in
        if case .change(.parameters(let parameters)) = event {
          peripheral.updated(interval: parameters.interval)
        }
      }
      peripheral.connected(interval: link.parameters?.interval)
    }
    radio.onEvent = { [weak self] event in
      if case .disconnected = event { peripheral.disconnected() }
      self?.onEvent?(.radio(event))
    }
  }

  /// - Throws: if this radio does not advertise for programs
  package func start() throws(StackError) { try radio.start() }

  /// Advertises no longer and ends the link, within a few seconds. Cancelling the task does not cancel this, as a central would
  /// keep its link.
  package func stop() async { await radio.stop() }

  /// Frames that were sent before still go out.
  private func leave() {
    guard let link = radio.link else { return }
    timers.schedule(after: Self.leavingTime) { link.disconnect() }
  }
}
