import HCI
import HaloBluetoothCore
import HaloSystem

/// The peripheral role on an adapter that the kernel drives: the kernel advertises, and gives the links of centrals to this
/// program, which is the last one that has called listen() for them. bluetoothd does so when it starts.
@BluetoothActor
final class KernelPeripheralRole {
  /// Called with each link that a central has made.
  var onAccepted: ((L2CAPSocket, BluetoothAddress) -> Void)?
  var onNote: ((String) -> Void)?

  /// How long the kernel may take to give a link to a program.
  private static let handover = Duration.seconds(1)
  /// How long bluetoothd may take between two of the changes with which it starts.
  private static let quietTime = Duration.milliseconds(500)
  /// Events of changes with which bluetoothd starts: Class Of Device Changed, Local Name Changed, Device Unblocked, Extended
  /// Controller Information Changed, Advertisement Monitor Removed.
  private static let signsOfStart: Set<UInt16> = [0x07, 0x08, 0x15, 0x25, 0x2C]

  private struct Entry {
    weak var set: AdvertisingSet?
    let advertiser: KernelAdvertiser
    /// The current advertisement; nil for none. Its owner may be gone only then.
    var current: (set: AdvertisingSet, isConnectable: Bool)?
  }

  private let management: Management
  private let timers: Timers
  private var index: AdapterIndex
  private var entries: [Entry] = []
  /// Whether another program has switched on the adapter's own advertising, on an adapter without sets.
  private var isOverridden = false
  private var listener: L2CAPListener?
  /// The links that centrals have made, and that this program has not accepted.
  private var unclaimed: Set<ConnectionHandle> = []
  private var quiet: Timers.Token?

  /// - Parameters:
  ///   - management: opened with CAP_NET_ADMIN
  ///   - index: of the adapter
  init(_ management: Management, _ index: AdapterIndex, timers: Timers) {
    self.management = management
    self.index = index
    self.timers = timers
  }

  /// - Parameters:
  ///   - advertising: nil for none
  ///   - set: whose advertisement it is
  ///   - address: the adapter's
  func setAdvertising(
    _ advertising: Advertising?, in set: AdvertisingSet, at address: BluetoothAddress
  ) throws(StackError) {
    entries.removeAll { $0.set == nil }
    let place = entries.firstIndex { $0.set === set } ?? entries.endIndex
    if place == entries.endIndex {
      guard advertising != nil else { return }
      entries.append(Entry(set: set, advertiser: makeAdvertiser(for: set)))
    }
    entries[place].current = advertising.map { (set, $0.isConnectable) }
    try updateListener(at: address)
    try entries[place].advertiser.setDesired(advertising)
  }

  private func makeAdvertiser(for set: AdvertisingSet) -> KernelAdvertiser {
    let advertiser = KernelAdvertiser(management.queue, index, timers: timers) { index, number in
      AdvertisingNumber(number, of: index)
    }
    let lastCommand = LastCommand(management)
    advertiser.onLastCommand = { lastCommand?.set($0) }
    advertiser.onResult = { [weak set] error in set?.onResult?(error) }
    advertiser.onNote = { [weak self] text in self?.onNote?(text) }
    advertiser.setOverridden(isOverridden)
    return advertiser
  }

  /// - Parameters:
  ///   - settings: the current settings of the adapter
  ///   - hasSets: whether it can send several advertisements at once
  func adopt(_ settings: ManagementSettings, hasSets: Bool) {
    isOverridden = settings.contains(.advertising) && !hasSets
    for entry in entries { entry.advertiser.setOverridden(isOverridden) }
  }

  /// Listens while a central may connect.
  private func updateListener(at address: BluetoothAddress) throws(StackError) {
    guard entries.contains(where: { $0.current?.isConnectable == true }) else { return listener = nil }
    guard listener == nil else { return }
    do throws(SystemError) {
      listener = try L2CAPListener(at: address, timers: timers) { [weak self] socket, peer in
        if let handle = socket.handle { self?.unclaimed.remove(handle) }
        self?.onAccepted?(socket, peer)
      }
    } catch {
      throw StackError("wait for connections", .system(error))
    }
  }

  isolated deinit {
    timers.cancel(quiet)
  }

  // MARK: Events

  /// A central has made a link. Another program may get it nevertheless; the next one is taken again.
  func connected(_ handle: ConnectionHandle) {
    guard listener != nil else { return }
    unclaimed.insert(handle)
    timers.schedule(after: Self.handover) { [weak self] in
      guard let self, unclaimed.remove(handle) != nil else { return }
      onNote?(
        "another program got the link of a central (bluetoothd, if it was restarted); the next one is taken again"
      )
      listenAnew()
    }
  }

  func disconnected(_ handle: ConnectionHandle) { unclaimed.remove(handle) }

  /// Another program has used the adapter.
  func note(_ event: ManagementEvent) {
    switch event {
    case .advertisingRemoved(let instance): for entry in entries { entry.advertiser.removed(instance) }
    case .newSettings: expectListener()
    case .unknown(let code) where Self.signsOfStart.contains(code): expectListener()
    default: break
    }
  }

  /// bluetoothd may have been started: listens anew when it has not changed anything for a while.
  private func expectListener() {
    guard listener != nil else { return }
    timers.cancel(quiet)
    quiet = timers.schedule(after: Self.quietTime) { [weak self] in
      self?.quiet = nil
      self?.listenAnew()
    }
  }

  private func listenAnew() {
    do throws(SystemError) {
      try listener?.listenAnew()
    } catch {
      onNote?("no link can be taken: \(error)")
    }
  }

  /// The adapter cannot be used.
  func suspend() {
    unclaimed = []
    for entry in entries { entry.advertiser.suspend() }
  }

  func resume(_ index: AdapterIndex) {
    self.index = index
    for entry in entries { entry.advertiser.resume(index) }
  }

  /// Advertises no longer, and calls `completion` when the kernel has answered.
  func stop(completion: @escaping () -> Void) {
    listener = nil
    var left = entries.count
    guard left > 0 else { return completion() }
    for entry in entries {
      entry.advertiser.stop {
        left -= 1
        if left == 0 { completion() }
      }
    }
  }
}
