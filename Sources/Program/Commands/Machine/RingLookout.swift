import GAP
import HaloBluetoothCore
import HaloLinuxBluetooth
import RingLink

extension SystemState.RingState {
  /// Opens the first usable adapter, with the privileges that there are now: to leave the kernel as it was needs more than to
  /// scan.
  @BluetoothActor
  static func openAdapter(of adapters: [ControllerState]) async -> KernelAdapter? {
    guard let state = adapters.first(where: { $0.isUp && !$0.isTaken }) else { return nil }
    let adapter = KernelAdapter(state.index)
    // Another finding says why the adapter can't be used.
    return (try? await adapter.open()) == nil ? nil : adapter
  }

  /// Scans for a ring.
  ///
  /// - Parameters:
  ///   - label: the name of the ring in messages
  ///   - adapter: where; nil if none can be used
  ///   - isKnown: whether this machine has used the ring before
  @BluetoothActor
  static func look(
    for ring: RingSelector, label: String, on adapter: KernelAdapter?, time: Duration, isKnown: Bool
  ) async -> SystemState.RingState {
    var state = SystemState.RingState(label: label, isKnown: isKnown)
    guard let adapter else { return state }
    let central = Central(adapter)
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
