import GAP
import HCI
import HaloBluetoothCore
import TestBearer
import TestLoop

/// A link to a server that a test plays.
@BluetoothActor
public final class FakeLink: ScriptedServer, ATTLink {
  public let peer = BluetoothAddress(0xC011_2233_A1B2, .random)
  public var parameters: LinkParameters?
  public var onClosed: ((LinkLoss) -> Void)?
  public var onEvent: ((LinkEvent) -> Void)?
  public var onRoom: (() -> Void)?

  /// Whether the end of the link drops what is on its way.
  public var dropsPacketsAtEnd = false

  public func lose(_ loss: LinkLoss) {
    let onClosed = self.onClosed
    self.onClosed = nil
    onClosed?(loss)
  }

  public func disconnect() {
    timers.schedule(after: .milliseconds(10)) { self.lose(.local) }
  }

  public func readRSSI() async throws(HCIError) -> Int8? { -50 }

  /// A connection on this link.
  public func connection() -> GATTLink { GATTLink(self, timers: timers) }
}
