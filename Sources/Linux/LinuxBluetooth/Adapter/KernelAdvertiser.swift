import HCI
import HaloBluetoothCore

/// Advertises by the kernel's management, beside other programs: the desired advertisement persists while the kernel refuses
/// it, and may change while a command is pending. The kernel starts it again after each link on its own, and pauses it while
/// the controller cannot advertise.
///
/// It does no I/O. These cases from public reports are handled here:
/// - the numbers of all advertisements are in use (weliem/bluez_inc 8): it is tried again, and no other program's is removed;
/// - kernels without Add Extended Advertising Parameters, or that refuse it or its data (raspberrypi/linux 7473,
///   bluez/bluez 2269): the kernel chooses the interval;
/// - Flags without BR/EDR Not Supported, which the kernel sends for adapters of both kinds, and for which some centrals do not
///   connect by LE (coredevices/PebbleOS 1439, ukBaz/python-bluezero 17, project-chip/connectedhomeip 5275): the Flags of the
///   advertisement are sent, and the kernel adds none;
/// - another program removes the advertisement (bluez/bluez 1015);
/// - another program has switched on the adapter's own advertising (Set Advertising): without sets, the kernel takes this
///   advertisement and sends the other one, until that is switched off.
final class KernelAdvertiser {
  /// Called with nil when the kernel has begun to advertise; and with the reason when it has refused to, which is tried again.
  var onResult: ((StackError?) -> Void)?
  /// Called with information for the user that is not an error.
  var onNote: ((String) -> Void)?
  /// Called with the command that ends the advertisement if this process cannot, before there is one; and with nil when there
  /// is none.
  var onLastCommand: ((ManagementPacket?) -> Void)?

  private enum State {
    case off
    /// Commands are on their way.
    case changing
    case on(Advertising)
  }

  private let queue: ManagementQueue
  private let timers: Timers
  private var index: AdapterIndex
  private var desired: Advertising?
  private var state = State.off
  private let take: (AdapterIndex, UInt8) -> AdvertisingNumber?
  private var taken: AdvertisingNumber?
  /// Whether the kernel may have the advertisement. It keeps that while the adapter is off.
  private var mayExist = false
  private var usesExtendedCommands = true
  /// Whether the kernel sends the adapter's own advertisement in its place.
  private var isOverridden = false
  private var pause = RetryPause()
  private var retry: Timers.Token?
  /// Counts the losses of the adapter: commands that were sent before one have no answer.
  private var epoch = 0
  private var onStop: (() -> Void)?

  /// - Parameters:
  ///   - queue: to the kernel's management, which was opened with CAP_NET_ADMIN
  ///   - index: of the adapter
  ///   - take: takes the number of an advertisement; nil if another program of this package has it
  init(
    _ queue: ManagementQueue, _ index: AdapterIndex, timers: Timers,
    take: @escaping (AdapterIndex, UInt8) -> AdvertisingNumber?
  ) {
    self.queue = queue
    self.index = index
    self.timers = timers
    self.take = take
  }

  deinit {
    timers.cancel(retry)
  }

  /// - Throws: if the kernel does not advertise in this way
  func setDesired(_ advertising: Advertising?) throws(StackError) {
    guard advertising != desired else { return }
    if case .directed = advertising?.kind {
      throw StackError("advertise to one central", .notOffered)
    }
    if let advertising { try checkLength(of: advertising) }
    desired = advertising
    timers.cancel(retry.take())
    onStop = nil
    if desired == nil { pause.end() }
    reconcile()
  }

  /// The kernel puts Flags in front of data without Flags, and does not check that there is room for them: it would write beyond
  /// its buffer (bluez/bluetooth-next 269, 275).
  private func checkLength(of advertising: Advertising) throws(StackError) {
    let hasFlags = AdvertisingData(advertising.data).flags != nil
    let room = (advertising.phys == nil ? LegacyAdvertisingData.capacity : Self.capacity) - (hasFlags ? 0 : 3)
    let count = max(advertising.data.count, advertising.scanResponse.count - (hasFlags ? 0 : 3))
    guard count > room else { return }
    let kind = hasFlags ? "" : " without Flags, which the kernel adds"
    throw StackError("advertise \(count) bytes\(kind)", .notOffered)
  }

  /// Advertises no longer, and calls `completion` when the kernel has answered.
  func stop(completion: @escaping () -> Void) {
    onStop = completion
    desired = nil
    timers.cancel(retry.take())
    reconcile()
  }

  // MARK: Events

  /// The adapter cannot be used. The kernel keeps its advertisement, unless the adapter was removed.
  func suspend() {
    epoch += 1
    timers.cancel(retry.take())
    state = .off
    if desired == nil { reconcile() }
  }

  /// The adapter can be used, with this index.
  func resume(_ index: AdapterIndex) {
    self.index = index
    reconcile()
  }

  /// Another program has ended an advertisement.
  func removed(_ instance: UInt8) {
    guard instance == taken?.value, case .on = state else { return }
    onNote?("another program has ended the advertisement; it is started again")
    scheduleRetry()
    settle(.off)
  }

  /// Whether another program has switched on the adapter's own advertising, on an adapter without sets.
  func setOverridden(_ isOverridden: Bool) {
    guard isOverridden != self.isOverridden else { return }
    self.isOverridden = isOverridden
    if case .on = state { reportStart() }
  }

  private func reportStart() {
    onResult?(isOverridden ? StackError(Self.operation, .advertisingOverridden) : nil)
  }

  // MARK: State

  private static let operation = "advertise"
  /// The most data of an advertisement: HCI_MAX_EXT_AD_LENGTH of the kernel.
  private static let capacity = 251

  private func reconcile() {
    switch state {
    case .changing: break
    case .on(let actual) where actual == desired: break
    case .on:
      state = .changing
      remove { [weak self] in self?.settle(.off) }
    case .off:
      guard let desired else {
        guard mayExist else { return onStop.take()?() ?? () }
        state = .changing
        return remove { [weak self] in self?.settle(.off) }
      }
      guard retry == nil else { return }
      state = .changing
      start(desired)
    }
  }

  private func settle(_ new: State) {
    state = new
    reconcile()
  }

  private func scheduleRetry() {
    timers.cancel(retry)
    retry = timers.schedule(after: pause.refused()) { [weak self] in
      self?.retry = nil
      self?.reconcile()
    }
  }

  private func started(_ advertising: Advertising) {
    pause.end()
    settle(.on(advertising))
    reportStart()
  }

  private func failed(_ error: StackError) {
    scheduleRetry()
    if desired != nil { onResult?(StackError(Self.operation, error)) }
    settle(.off)
  }

  // MARK: Commands

  /// Sends a command; `next` is not called if the adapter was lost meanwhile.
  private func send<Response>(
    _ command: ManagementCommand<Response>, then next: @escaping (Result<Response, StackError>) -> Void
  ) {
    let epoch = self.epoch
    queue.enqueue(command, to: index) { [weak self] result in
      if self?.epoch == epoch { next(result) }
    }
  }

  private func start(_ advertising: Advertising) {
    send(.readAdvertisingFeatures) { [weak self] result in
      guard let self else { return }
      switch result {
      case .failure(let error): failed(error)
      case .success(let features):
        guard let number = number(in: features) else {
          return failed(StackError(Self.operation, .advertisingInUse(Int(features.maximumInstances))))
        }
        guard !features.instances.contains(number) else {
          return remove { [weak self] in self?.add(advertising, as: number) }
        }
        add(advertising, as: number)
      }
    }
  }

  /// Takes a number: the one that this advertisement has, or the last one that is free.
  ///
  /// Read Advertising Features leaves out numbers that are greater than the count of the advertisements. bluetoothd takes the
  /// first ones, whether they are free or not, and the kernel reports no error; when it starts, it removes all advertisements
  /// if it sees any.
  private func number(in features: ManagementAdvertisingFeatures) -> UInt8? {
    if let taken, taken.index == index, taken.value <= features.maximumInstances { return taken.value }
    taken = nil
    var number = features.maximumInstances
    while number > 0, taken == nil {
      if !features.instances.contains(number) { taken = take(index, number) }
      number -= 1
    }
    return taken?.value
  }

  private func add(_ advertising: Advertising, as number: UInt8) {
    mayExist = true
    onLastCommand?(ManagementPacket(.removeAdvertising(number), to: index))
    guard usesExtendedCommands else { return addWithoutInterval(advertising, as: number) }
    let parameters = ManagementCommand.addExtendedAdvertisingParameters(
      number, flags: advertising.managementFlags, interval: advertising.intervalMin...advertising.intervalMax)
    send(parameters) { [weak self] result in
      guard let self else { return }
      switch result {
      case .failure(let error) where error.isAboutCommand:
        leaveExtendedCommands(error)
        addWithoutInterval(advertising, as: number)
      case .failure(let error): failed(error)
      case .success: addData(advertising, as: number)
      }
    }
  }

  private func addData(_ advertising: Advertising, as number: UInt8) {
    let data = ManagementCommand.addExtendedAdvertisingData(
      number, data: advertising.data, scanResponse: advertising.scanResponse)
    send(data) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success: started(advertising)
      case .failure(let error):
        // An advertisement that has parameters, and no data, would be in the way.
        remove { [weak self] in
          guard let self else { return }
          guard error.isAboutCommand else { return failed(error) }
          leaveExtendedCommands(error)
          addWithoutInterval(advertising, as: number)
        }
      }
    }
  }

  private func leaveExtendedCommands(_ error: StackError) {
    usesExtendedCommands = false
    onNote?("the advertising interval is the kernel's, as it takes none: \(error.reason)")
  }

  private func addWithoutInterval(_ advertising: Advertising, as number: UInt8) {
    let command = ManagementCommand.addAdvertising(
      number, flags: advertising.managementFlags, data: advertising.data,
      scanResponse: advertising.scanResponse)
    send(command) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success: started(advertising)
      case .failure(let error): failed(error)
      }
    }
  }

  /// Ends the advertisement, if there is one. The kernel refuses that if another program has ended it.
  private func remove(then next: @escaping () -> Void) {
    guard let taken else { return next() }
    send(.removeAdvertising(taken.value)) { [weak self] _ in
      self?.mayExist = false
      self?.onLastCommand?(nil)
      next()
    }
  }
}

extension Advertising {
  fileprivate var managementFlags: ManagementAdvertisingFlags {
    let flags: ManagementAdvertisingFlags = isConnectable ? .connectable : []
    return switch phys {
    case nil: flags
    case .le1M: flags.union(.secondary1M)
    case .le2M: flags.union(.secondary2M)
    case .leCoded: flags.union(.secondaryCoded)
    }
  }
}

extension StackError {
  /// Whether the kernel has refused the kind of a command, and another one may be accepted.
  fileprivate var isAboutCommand: Bool {
    let statuses: [ManagementStatus] = [.unknownCommand, .notSupported, .invalidParameters, .rejected]
    return statuses.map(StackError.management).contains { $0.reason == reason }
  }
}
