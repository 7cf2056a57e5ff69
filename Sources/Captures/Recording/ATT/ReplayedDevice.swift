import GAP
import HCI
import HaloBluetoothCore

/// A replayed peripheral on a radio, for the centrals that are in reach of it: it advertises as it did, and answers as it
/// answered, in the time of the adapter. Each link is answered by the next recorded one, and later ones by the last.
@BluetoothActor
package final class ReplayedDevice {
  /// Called with each event, for the user.
  package var onEvent: ((RawPeripheral.Event) -> Void)?

  private let radio: RawPeripheral
  private let timers: Timers
  private var server: ReplayedServer?
  private var links = 0
  /// When the client has sent nothing for so long that it may only listen.
  private var silence: Timers.Token?

  /// - Parameters:
  ///   - peripheral: the device
  ///   - adapter: the radio, which is started
  package init(_ peripheral: ReplayedPeripheral, on adapter: any Adapter) throws(AdvertisingFault) {
    radio = RawPeripheral(try Announcer.advertising(of: peripheral), on: adapter)
    timers = adapter.timers
    radio.onLink = { [weak self] link in
      guard let self else { return link.disconnect() }
      let server = ReplayedServer(peripheral, min(links, peripheral.connections.count - 1), timers: timers)
      links += 1
      self.server = server
      server.onPDU = { bytes, _ in link.send(bytes.span.bytes) }
      server.onLoss = { _ in link.disconnect() }
      link.onPDU = { [weak self] pdu, _ in
        server.receive(pdu)
        self?.awaitSilence()
      }
      server.start()
    }
    radio.onEvent = { [weak self] event in
      if case .disconnected = event { self?.left() }
      self?.onEvent?(event)
    }
  }

  private func awaitSilence() {
    timers.cancel(silence)
    silence = timers.schedule(after: ReplayedServer.listening) { [weak self] in self?.server?.wait(until: nil)
    }
  }

  private func left() {
    timers.cancel(silence)
    server.take()?.stop()
  }

  /// - Throws: if this radio does not advertise for programs
  package func start() throws(StackError) { try radio.start() }

  /// Advertises no longer and ends the link, within a few seconds. Cancelling the task does not cancel this, as a central would
  /// keep its link.
  package func stop() async { await radio.stop() }
}
