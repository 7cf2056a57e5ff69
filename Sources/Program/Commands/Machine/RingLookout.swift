import GAP
import GATTClient
import HCI
import HaloBluetoothCore
import HaloEventLoop
import HaloLinuxBluetooth
import RingLink

extension SystemState.RingState {
  /// Scans for a ring on the first usable adapter.
  ///
  /// - Parameters:
  ///   - label: the name of the ring in messages
  ///   - isKnown: whether this machine has used the ring before
  @BluetoothActor
  static func look(
    for ring: RingSelector, label: String, on adapters: [ControllerState], time: Duration, isKnown: Bool
  ) async -> SystemState.RingState {
    var state = SystemState.RingState(label: label, isKnown: isKnown)
    guard let adapter = adapters.first(where: { $0.isUp && !$0.isTaken }) else { return state }
    let central = Central(KernelAdapter(adapter.index))
    do {
      try await central.start()
      _ = try await RingFinder.find(ring, on: central, deadline: time)
      state.isAdvertising = true
    } catch let error as RingError {
      switch error {
      case .notFound, .onlyPossible: state.isAdvertising = false
      default: break
      }
    } catch {
      // Another finding says why the adapter can't be used.
    }
    await central.stop()
    return state
  }
}
