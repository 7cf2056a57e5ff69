import ATT
import HaloGATT
import HaloBluetoothCore
import TestLoop

/// A bearer with a server that a test plays on its other end.
@BluetoothActor
package final class FakeBearer: ScriptedServer {
  private var bearer: ATTBearer?
  private weak var gatt: GATTClient?
  /// Whether its link has ended.
  package private(set) var isLost = false

  /// A client on this bearer.
  package func client() -> GATTClient {
    let bearer = ATTBearer(timers: timers) { [weak self] in self?.send($0) }
    bearer.onTimeout = { [weak self] in self?.lose("\($0)") }
    onPDU = { bearer.receive($0, at: $1) }
    let gatt = GATTClient(bearer, timers: timers) { [weak self] in self?.hasRoom ?? false }
    self.bearer = bearer
    self.gatt = gatt
    return gatt
  }

  /// Makes room for as many PDUs.
  package func makeRoom(_ count: Int?) {
    room = count
    gatt?.roomAvailable()
  }

  /// The link of the bearer has ended.
  package func lose(_ reason: String) {
    isLost = true
    onPDU = nil
    gatt?.close(reason)
  }
}
