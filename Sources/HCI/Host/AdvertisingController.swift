import HaloBluetoothCore

/// Keeps the controller's advertising in the desired state. That state persists while the controller refuses it, and may
/// change while a command is pending.
///
/// A link ends advertising; it begins again for the next central, if it is still desired. Controllers and hosts may
/// disagree about the state. Public reports tell of these cases, which are handled here:
/// - parameters that are refused while the controller still advertises, as the host has missed that (apache/mynewt-nimble
///   211, bluez/bluetooth-next 600), or as it has to be stopped once more after a link (zephyrproject-rtos/zephyr 90757);
/// - a stop that is refused as nothing is advertised (arduino-libraries/ArduinoBLE 196);
/// - extended advertising that can't begin before the controller has reported its end (zephyrproject-rtos/zephyr 33897);
/// - advertising that is refused while there are links (zephyrproject-rtos/zephyr 12362).
final class AdvertisingController {
  /// Called when the controller has refused to advertise, which is tried again; and with nil when it advertises
  /// nevertheless.
  var onRefusal: ((HCIError?) -> Void)?

  private enum State {
    case off
    /// Commands are on their way.
    case changing
    case on(Advertising)
    /// A link has ended it; LE Advertising Set Terminated is awaited.
    case ending(Timers.Token)
  }

  /// How long LE Advertising Set Terminated is awaited.
  static let endLimit = Duration.seconds(1)
  /// The only advertising set.
  private static let set: UInt8 = 0

  private let timers: Timers
  private let commands: CommandQueue
  private let address: BluetoothAddress
  private let ownAddressType: OwnAddressType
  private var usesExtendedCommands: Bool
  private var desired: Advertising?
  private var state = State.off
  /// Whether a link has ended it while commands were on their way.
  private var wasEnded = false
  private var pause = RetryPause()
  private var retry: Timers.Token?

  init(_ commands: CommandQueue, timers: Timers, controller: ControllerInformation) {
    self.commands = commands
    self.timers = timers
    address = controller.address
    ownAddressType = controller.ownAddressType
    usesExtendedCommands = controller.usesExtendedAdvertising
  }

  deinit {
    timers.cancel(retry)
    if case .ending(let limit) = state { timers.cancel(limit) }
  }

  func setDesired(_ advertising: Advertising?) {
    guard advertising != desired else { return }
    desired = advertising
    tryNow()
  }

  /// Something has changed: advertising that was refused may be accepted now.
  func tryNow() {
    timers.cancel(retry.take())
    if desired == nil { pause.end() }
    reconcile()
  }

  // MARK: Events

  /// Whether the controller advertises, so that a central may connect.
  var isAdvertising: Bool { if case .on = state { true } else { false } }

  /// A central has connected, or directed advertising is over. Call ``tryNow()`` when the link was taken.
  func ended() {
    switch state {
    case .off, .ending: break
    case .changing: wasEnded = true
    case .on: state = ending
    }
  }

  /// The controller has ended the advertising set.
  func terminated(_ event: LEAdvertisingSetTerminated) {
    guard event.advertisingHandle == Self.set else { return }
    switch state {
    case .off: break
    case .changing: wasEnded = true
    case .ending(let limit):
      timers.cancel(limit)
      settle(.off)
    case .on: settle(.off)
    }
  }

  /// The state after a link has ended advertising.
  private var ending: State {
    guard usesExtendedCommands else { return .off }
    return .ending(timers.schedule(after: Self.endLimit) { [weak self] in self?.settle(.off) })
  }

  // MARK: State

  private func reconcile() {
    switch state {
    case .changing, .ending: break
    case .on(let actual) where actual == desired: break
    case .on:
      state = .changing
      run([enabling(false)]) { [weak self] result in
        if case .failure(let error) = result, !error.isDisallowed { self?.refused(error) }
        self?.settle(.off)
      }
    case .off:
      guard let desired, retry == nil else { return }
      state = .changing
      start(desired)
    }
  }

  private func settle(_ new: State) {
    state = new
    if wasEnded, case .on = new { state = ending }
    wasEnded = false
    reconcile()
  }

  /// - Parameter isRetry: whether what the controller still advertises is stopped for this
  private func start(_ advertising: Advertising, isRetry: Bool = false) {
    wasEnded = false
    run(starting(advertising)) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success:
        let wasRefused = pause.refusals > 0
        pause.end()
        settle(.on(advertising))
        if wasRefused { onRefusal?(nil) }
      // The controller claims these commands, and does not have them.
      case .failure(.commandFailed(_, .unknownCommand)) where usesExtendedCommands:
        usesExtendedCommands = false
        start(advertising)
      case .failure(let error) where error.isDisallowed && !isRetry:
        run([enabling(false)]) { [weak self] _ in self?.start(advertising, isRetry: true) }
      case .failure(let error):
        refused(error)
        settle(.off)
      }
    }
  }

  private func refused(_ error: HCIError) {
    timers.cancel(retry)
    retry = timers.schedule(after: pause.refused()) { [weak self] in
      self?.retry = nil
      self?.reconcile()
    }
    if desired != nil { onRefusal?(error) }
  }

  // MARK: Commands

  /// Sends commands, each after the success of the one before; `done` gets the first failure.
  private func run(
    _ list: [any HCICompletingCommand], then done: @escaping (Result<Void, HCIError>) -> Void
  ) {
    guard let command = list.first else { return done(.success(())) }
    commands.enqueue(command, endsWithStatus: false) { [weak self] result in
      guard case .failure(let error) = result else {
        self?.run(Array(list.dropFirst()), then: done)
        return
      }
      done(.failure(error))
    }
  }

  private func enabling(_ isEnabled: Bool) -> any HCICompletingCommand {
    guard usesExtendedCommands else { return LESetAdvertisingEnable { $0.isEnabled = isEnabled } }
    return LESetExtendedAdvertisingEnable {
      $0.isEnabled = isEnabled
      $0.sets = [.init { $0.handle = Self.set }]
    }
  }

  private func starting(_ advertising: Advertising) -> [any HCICompletingCommand] {
    usesExtendedCommands ? startingSet(advertising) : startingLegacy(advertising)
  }

  private func startingLegacy(_ advertising: Advertising) -> [any HCICompletingCommand] {
    [
      LESetAdvertisingParameters {
        $0.intervalMin = advertising.intervalMin
        $0.intervalMax = advertising.intervalMax
        $0.type = advertising.isConnectable ? .connectableUndirected : .scannableUndirected
        $0.ownAddressType = ownAddressType
      },
      LESetAdvertisingData { $0.data = advertising.data },
      LESetScanResponseData { $0.data = advertising.scanResponse },
      enabling(true),
    ]
  }

  private func startingSet(_ advertising: Advertising) -> [any HCICompletingCommand] {
    var list: [any HCICompletingCommand] = [
      LESetExtendedAdvertisingParameters {
        $0.advertisingHandle = Self.set
        $0.properties =
          advertising.isConnectable ? [.legacy, .connectable, .scannable] : [.legacy, .scannable]
        $0.intervalMin = ExtendedAdvertisingInterval(advertising.intervalMin)
        $0.intervalMax = ExtendedAdvertisingInterval(advertising.intervalMax)
        $0.ownAddressType = ownAddressType
      }
    ]
    // A set has a random address of its own (7.8.52).
    if ownAddressType == .random {
      list.append(
        LESetAdvertisingSetRandomAddress {
          $0.advertisingHandle = Self.set
          $0.address = address
        })
    }
    list += [
      LESetExtendedAdvertisingData {
        $0.advertisingHandle = Self.set
        $0.data = advertising.data.bytes
      },
      LESetExtendedScanResponseData {
        $0.advertisingHandle = Self.set
        $0.data = advertising.scanResponse.bytes
      },
      enabling(true),
    ]
    return list
  }
}

extension HCIError {
  /// Whether the controller has refused a command because of its state.
  fileprivate var isDisallowed: Bool {
    if case .commandFailed(_, .commandDisallowed) = self { true } else { false }
  }
}
