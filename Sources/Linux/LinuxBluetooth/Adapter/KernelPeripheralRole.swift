import GAP
import HCI
import HaloBluetoothCore
import HaloSystemCalls
import L2CAP

/// The peripheral role on an adapter that the kernel drives: the kernel advertises, and gives the links of centrals to this
/// program, which is the last one that has listened for them. bluetoothd listens when it starts.
@BluetoothActor
final class KernelPeripheralRole {
  /// Called with each link that a central has made.
  var onAccepted: ((L2CAPSocket, BluetoothAddress) -> Void)?
  var onRefusal: ((HCIError?) -> Void)? {
    get { advertiser.onRefusal }
    set { advertiser.onRefusal = newValue }
  }
  var onNote: ((String) -> Void)? {
    didSet { advertiser.onNote = onNote }
  }

  /// How long the kernel may take to give a link to a program.
  private static let handover = Duration.seconds(1)
  /// How long bluetoothd may take between two of the changes with which it starts.
  private static let quietTime = Duration.milliseconds(500)
  /// Events of changes with which bluetoothd starts: Class Of Device Changed, Local Name Changed, Device Unblocked, Extended
  /// Controller Information Changed, Advertisement Monitor Removed.
  private static let signsOfStart: Set<UInt16> = [0x07, 0x08, 0x15, 0x25, 0x2C]

  private let advertiser: KernelAdvertiser
  private let lastCommand: LastCommand?
  private let timers: Timers
  private var listener: L2CAPListener?
  /// The links that centrals have made, and that nobody has accepted here.
  private var unclaimed: Set<ConnectionHandle> = []
  private var quiet: Timers.Token?

  /// - Parameters:
  ///   - management: opened with CAP_NET_ADMIN
  ///   - index: of the adapter
  init(_ management: Management, _ index: AdapterIndex, timers: Timers) {
    self.timers = timers
    advertiser = KernelAdvertiser(management.queue, index, timers: timers) { index, number in
      AdvertisingNumber(number, of: index)
    }
    let lastCommand = LastCommand(management)
    self.lastCommand = lastCommand
    advertiser.onLastCommand = { lastCommand?.set($0) }
  }

  /// - Parameters:
  ///   - advertising: nil for none
  ///   - address: the adapter's
  func setAdvertising(_ advertising: Advertising?, at address: BluetoothAddress) throws(HCIError) {
    do throws(SystemError) {
      if advertising == nil {
        listener = nil
      } else if listener == nil {
        listener = try L2CAPListener(at: address, timers: timers) { [weak self] socket, peer in
          if let handle = socket.handle { self?.unclaimed.remove(handle) }
          self?.onAccepted?(socket, peer)
        }
      }
    } catch {
      throw .adapter(AdapterError("wait for connections", .system(error)))
    }
    advertiser.setDesired(advertising)
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
  func note(_ event: Management.Event) {
    switch event {
    case .advertisingRemoved(let instance): advertiser.removed(instance)
    case .settings: expectListener()
    case .other(let code) where Self.signsOfStart.contains(code): expectListener()
    case .added, .removed, .other: break
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
    advertiser.suspend()
  }

  func resume(_ index: AdapterIndex) { advertiser.resume(index) }

  /// Advertises no longer, and calls `completion` when the kernel has answered.
  func stop(completion: @escaping () -> Void) {
    listener = nil
    advertiser.stop(completion: completion)
  }
}
