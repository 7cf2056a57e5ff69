import Foundation
internal import GAP
internal import HaloDevices
internal import HaloLinuxBluetooth
internal import HaloRaw
internal import HaloSystem

/// The base class of the managers of both roles.
open class CBManager: NSObject {
  private let current: LockedValue<CBManagerState>
  let observers = Observers()

  init(_ state: CBManagerState) {
    current = LockedValue(state)
    super.init()
  }

  open var state: CBManagerState { current.withLock { $0 } }

  func set(_ state: CBManagerState) {
    observers.changing { current.withLock { $0 = state } }
  }

  open var authorization: CBManagerAuthorization { Self.authorization }

  /// The permission of this process to use the adapter that managers use by default.
  open class var authorization: CBManagerAuthorization {
    guard let specification = try? AdapterChoice().specification() else { return .allowedAlways }
    let needed: Capability? =
      switch specification {
      case .kernel: .netRaw
      case .user: .netAdmin
      case .virtual, .air, .tcp, .unix, .serial, .replay: nil
      }
    return needed?.isEffective ?? true ? .allowedAlways : .denied
  }
}

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
    let radio: ManagedAdapter
    let pairing: SharedPairing
    var users = 0
  }

  /// How the radio pairs, or will when it is open.
  @BluetoothActor
  private final class SharedPairing {
    private var options = PairingOptions.justWorks
    private var host: SecurityHost?

    func set(_ options: PairingOptions) {
      self.options = options
      if let host { options.apply(to: host) }
    }

    func makeHost(isReal: Bool) -> SecurityHost {
      let made = options.host(isReal: isReal)
      host = made
      return made
    }
  }

  private static var entries: [AdapterChoice: Entry] = [:]
  /// The closing of the last radio of a choice: the next one is opened after it.
  private static var closing: [AdapterChoice: Task<Void, Never>] = [:]

  /// Gives a manager its radio, and takes it back.
  ///
  /// - Parameter options: of the manager
  nonisolated static func use(
    _ choice: AdapterChoice, _ options: [String: Any]?
  ) -> @Sendable @BluetoothActor () -> (ManagedAdapter, () -> Void) {
    let pairing = options?[CBCentralManagerOptionPairingKey] as? PairingOptions
    return { (acquire(choice, pairing), { release(choice) }) }
  }

  /// - Parameter pairing: how the radio pairs from now on; nil for no wish
  private static func acquire(_ choice: AdapterChoice, _ pairing: PairingOptions?) -> ManagedAdapter {
    var entry = entries[choice] ?? open(choice)
    if let pairing { entry.pairing.set(pairing) }
    entry.users += 1
    entries[choice] = entry
    return entry.radio
  }

  private static func open(_ choice: AdapterChoice) -> Entry {
    let pairing = SharedPairing()
    let radio = ManagedAdapter.kept(timers: EpollLoop.shared.timers) { [previous = closing[choice]] in
      await previous?.value
      let specification = try choice.specification()
      var opening = AdapterOpenOptions()
      opening.security = pairing.makeHost(isReal: specification.isReal)
      let opened = try await specification.open(opening)
      return ManagedAdapter.Opened(Central(opened.adapter)) { _ = opened.finish() }
    }
    return Entry(radio: radio, pairing: pairing)
  }

  private static func release(_ choice: AdapterChoice) {
    guard var entry = entries[choice] else { return }
    entry.users -= 1
    entries[choice] = entry.users > 0 ? entry : nil
    guard entry.users == 0 else { return }
    closing[choice] = BluetoothActor.run { [radio = entry.radio] in await radio.close() }
  }
}

/// The queue of a manager, on which all events that its program sees are reported, one after the other.
package struct CallbackQueue: @unchecked Sendable {
  package let queue: DispatchQueue

  /// - Parameter queue: of the program; nil for the main queue
  package init(_ queue: DispatchQueue?) {
    // A queue of ours in front of the program's makes callbacks serial, also on a concurrent queue.
    self.queue =
      if let queue, queue !== DispatchQueue.main {
        DispatchQueue(label: "\(queue.label).corebluetooth", target: queue)
      } else {
        .main
      }
  }

  /// Simulated time waits for the end of `body`.
  package func async(_ body: @escaping @Sendable () -> Void) {
    guard EpollLoop.shared.hasVirtualTime else { return queue.async(execute: body) }
    EpollLoop.shared.callbackBegins()
    queue.async {
      body()
      EpollLoop.shared.callbackEnds()
    }
  }

  /// The same for a closure with objects of the program, which are only used on the queue. Not for closures that are made
  /// on the loop: these belong to it.
  package func asyncUnchecked(_ body: @escaping () -> Void) {
    let body = UncheckedSendable(body)
    async { body.value() }
  }
}

/// A value that is only used on one queue, but carried there from another thread.
package struct UncheckedSendable<Value>: @unchecked Sendable {
  package let value: Value

  package init(_ value: Value) {
    self.value = value
  }
}

/// Writes one line to standard error: a call that has no effect, with the reason.
package func reportMisuse(_ text: String) {
  FileHandle.standardError.write(Data("CoreBluetooth: \(text)\n".utf8))
}

extension CBManagerState {
  init(_ state: ManagedAdapter.State) {
    self =
      switch state {
      case .unknown: .unknown
      case .resetting: .resetting
      case .unsupported: .unsupported
      case .unauthorized: .unauthorized
      case .poweredOff: .poweredOff
      case .poweredOn: .poweredOn
      }
  }
}

/// The way from the loop to a manager: its methods are called on its queue, in the order of the calls.
final class ManagerEvents<Manager: AnyObject>: @unchecked Sendable {
  let callbacks: CallbackQueue
  /// Set once, before anything is sent.
  weak var manager: Manager?

  init(_ callbacks: CallbackQueue) {
    self.callbacks = callbacks
  }

  func send(_ body: @escaping @Sendable (Manager) -> Void) {
    callbacks.async { [weak self] in
      if let manager = self?.manager { body(manager) }
    }
  }
}
