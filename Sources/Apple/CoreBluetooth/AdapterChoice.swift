import Foundation
internal import GAP
internal import HaloDevices
internal import HaloSystem
internal import HaloRaw

/// Which adapter a manager uses: that of its options, else that of the environment (`HALO_ADAPTER`), else the first.
package struct AdapterChoice: Hashable {
  /// Nil for the first adapter.
  let text: String?

  package init(options: [String: Any]? = nil) {
    text =
      options?[CBCentralManagerOptionAdapterKey] as? String
      ?? ProcessInfo.processInfo.environment["HALO_ADAPTER"]
  }

  func specification() throws(AdapterSpecificationError) -> AdapterSpecification {
    guard let text else { return .kernel(nil) }
    return try AdapterSpecification(text)
  }
}

/// The radios of this process. Managers with the same choice share one, which is closed with the last of them.
@BluetoothActor
enum SharedRadios {
  private struct Entry {
    var radio: ManagedAdapter
    var users = 0
  }

  private static var entries: [AdapterChoice: Entry] = [:]
  /// The closing of the last radio of a choice: the next one is opened after it.
  private static var closing: [AdapterChoice: Task<Void, Never>] = [:]

  static func acquire(_ choice: AdapterChoice) -> ManagedAdapter {
    var entry =
      entries[choice]
      ?? Entry(
        radio: .kept(timers: EpollLoop.shared.timers) { [previous = closing[choice]] in
          await previous?.value
          let opened = try await choice.specification().open()
          return ManagedAdapter.Opened(Central(opened.adapter)) { _ = opened.finish() }
        })
    entry.users += 1
    entries[choice] = entry
    return entry.radio
  }

  static func release(_ choice: AdapterChoice) {
    guard var entry = entries[choice] else { return }
    entry.users -= 1
    entries[choice] = entry.users > 0 ? entry : nil
    guard entry.users == 0 else { return }
    closing[choice] = BluetoothActor.run { [radio = entry.radio] in await radio.close() }
  }
}
