import GAP
import HCI
import HaloBluetoothCore
import TestBearer
import TestLoop

/// A link to a server that a test plays.
@BluetoothActor
package final class FakeLink: ScriptedServer, ATTLink {
  package let peer: BluetoothAddress
  package var parameters: LinkParameters?
  package var onClosed: ((LinkLoss) -> Void)?
  package var onEvent: ((LinkEvent) -> Void)?
  package var onRoom: (() -> Void)?

  package var unfinished: LinkProcedure?
  /// Whether the end of the link drops what is on its way.
  package var dropsPacketsAtEnd = false

  package init(peer: BluetoothAddress = BluetoothAddress(0xC011_2233_A1B2, .random)) { self.peer = peer }

  package func lose(_ loss: LinkLoss) {
    let onClosed = self.onClosed
    self.onClosed = nil
    onClosed?(loss)
  }

  package func disconnect() {
    timers.schedule(after: .milliseconds(10)) { [weak self] in self?.lose(.local) }
  }

  package func readRSSI() async throws(StackError) -> Int8? { -50 }

  /// A connection on this link.
  package func connection() -> GATTLink { GATTLink(self, timers: timers) }
}
