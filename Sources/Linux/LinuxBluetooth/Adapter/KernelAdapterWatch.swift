import HCI
import HaloBluetoothCore

/// Watches whether an adapter of the kernel is present and powered on, and finds it again under another index. It does
/// no I/O: the adapters are supplied by a closure, the time by `timers`.
@BluetoothActor
final class KernelAdapterWatch {
  /// An adapter, and whether a program has taken it.
  struct Device: Hashable {
    var index: AdapterIndex
    /// All zero if the controller has no public address.
    var address: BluetoothAddress
    var isUp: Bool
    var isTaken: Bool
  }

  /// An adapter that is removed is powered off first. This is how long to wait for the removal, to report the right
  /// reason.
  static let removalTime = Duration.milliseconds(300)
  /// How long the kernel may take to power an adapter off after it has ended its links.
  static let powerOffTime = Duration.seconds(5)
  /// The polling interval, where no event of the kernel announces a change.
  static let period = Duration.milliseconds(250)

  /// Called when the adapter can no longer be used.
  var onLost: ((StackError) -> Void)?
  private(set) var index: AdapterIndex
  /// Whether the kernel is switching it off, or has done so.
  private(set) var isLeaving = false

  private let timers: Timers
  private let devices: () -> [Device]
  private var address = BluetoothAddress(0, .public)
  /// Whether it was gone since it was last used.
  private(set) var wasRemoved = false
  /// Callers waiting for a change.
  private var waiter: (() -> Void)?

  init(_ index: AdapterIndex, timers: Timers, devices: @escaping () -> [Device]) {
    self.index = index
    self.timers = timers
    self.devices = devices
  }

  private var current: Device? { devices().first { $0.index == index } }

  /// Sets the adapter to watch; it can be used now.
  func adopt(_ device: Device) {
    index = device.index
    address = device.address
    isLeaving = false
    wasRemoved = false
  }

  // MARK: Losing it

  /// Checks whether the adapter is still present and powered on; if not, ``onLost`` is called soon.
  func isUsable() -> Bool {
    if isLeaving { return false }
    guard let device = current, device.isUp, !device.isTaken else {
      isLeaving = true
      timers.schedule(after: Self.removalTime) { [weak self] in self?.lose() }
      return false
    }
    return true
  }

  /// The kernel has reported that the adapter is gone.
  func removed() {
    isLeaving = true
    lose()
  }

  /// The kernel is ending the links, as it does first when an adapter is switched off.
  ///
  /// - Parameter stays: called if it is still on after ``powerOffTime``
  func expectPowerOff(stays: @escaping () -> Void) {
    guard !isLeaving else { return }
    isLeaving = true
    let deadline = timers.now + Self.powerOffTime
    checkPowerOff(deadline, stays)
  }

  private func checkPowerOff(_ deadline: Instant, _ stays: @escaping () -> Void) {
    guard isLeaving else { return }
    if let device = current, device.isUp, !device.isTaken {
      guard timers.now < deadline else {
        isLeaving = false
        return stays()
      }
      timers.schedule(after: .milliseconds(20)) { [weak self] in self?.checkPowerOff(deadline, stays) }
    } else {
      timers.schedule(after: Self.removalTime) { [weak self] in self?.lose() }
    }
  }

  private func lose() {
    guard isLeaving else { return }
    switch current {
    case nil:
      wasRemoved = true
      onLost?(.adapterRemoved)
    case let device? where device.isTaken: onLost?(.adapterTaken)
    default: onLost?(.adapterDown(index))
    }
  }

  // MARK: Finding it again

  /// The adapter if it can be used: under its number, or with its address under another.
  func find() -> Device? {
    let device = candidate
    return device.flatMap { $0.isUp && !$0.isTaken ? $0 : nil }
  }

  /// The adapter that reappeared after it was removed, and is powered off: there may be no other program to power it
  /// on.
  func findSwitchedOff() -> AdapterIndex? {
    if current == nil { wasRemoved = true }
    return wasRemoved ? candidate?.index : nil
  }

  private var candidate: Device? {
    let all = devices()
    let isSame = { (device: Device) in self.address.value == 0 || device.address == self.address }
    // Before it is set up, an adapter has no address.
    return all.first { $0.index == index && (isSame($0) || $0.address.value == 0) }
      ?? all.first { address.value != 0 && isSame($0) }
  }

  /// Calls `action` once, when there may be something new to see: after ``period``, or sooner. The action of an earlier
  /// call that still waits is called at once.
  func whenChanged(_ action: @escaping () -> Void) {
    kernelReported()
    waiter = action
    timers.schedule(after: Self.period) { [weak self] in self?.kernelReported() }
  }

  /// The kernel has reported something about an adapter, or the wait for that is cancelled.
  func kernelReported() {
    waiter.take()?()
  }
}
