import BluetoothCore

/// The parameters of a scan.
public struct ScanParameters: Hashable, Sendable {
  /// Whether scan requests are sent.
  public var isActive: Bool
  public var interval: ScanInterval
  /// How long to listen in each interval.
  public var window: ScanInterval
  /// Whether the controller filters duplicate reports.
  public var filtersDuplicates: Bool

  public init(
    isActive: Bool = true, interval: ScanInterval = ScanInterval(.milliseconds(80)),
    window: ScanInterval = ScanInterval(.milliseconds(10)), filtersDuplicates: Bool = false
  ) {
    self.isActive = isActive
    self.interval = interval
    self.window = min(window, interval)
    self.filtersDuplicates = filtersDuplicates
  }

  /// Listens 1/8 of the time: on a Raspberry Pi, Wi-Fi shares the antenna.
  public static let gentle = ScanParameters()
  /// Listens continuously.
  public static let aggressive = ScanParameters(window: ScanInterval(.milliseconds(80)))
}

/// Keeps the controller's scan in the desired state. That state persists while the scan is paused for connecting, and
/// may change while a command is pending.
final class ScanController {
  private let commands: CommandQueue
  private let usesExtendedCommands: Bool
  private let ownAddressType: OwnAddressType
  /// Whether other programs also send commands to the controller, so that one of them may have started a scan.
  private let isShared: Bool
  private var desired: ScanParameters?
  private var isPaused = false
  /// The current scan of the controller; nil if it does not scan.
  private var actual: ScanParameters?
  private var isBusy = false
  private var whenOff: [() -> Void] = []

  /// Called when the controller rejects a scan. The desired scan is removed.
  var onFailure: ((HCIError) -> Void)?

  init(
    _ commands: CommandQueue, usesExtendedCommands: Bool, ownAddressType: OwnAddressType,
    isShared: Bool = false
  ) {
    self.commands = commands
    self.usesExtendedCommands = usesExtendedCommands
    self.ownAddressType = ownAddressType
    self.isShared = isShared
  }

  func setDesired(_ parameters: ScanParameters?) {
    desired = parameters
    reconcile()
  }

  /// Stops scanning until ``resume()``; the closure is called when it has stopped.
  func pause(then whenOff: @escaping () -> Void) {
    isPaused = true
    self.whenOff.append(whenOff)
    reconcile()
  }

  func resume() {
    isPaused = false
    reconcile()
  }

  private func reconcile() {
    guard !isBusy else { return }
    let wanted = isPaused ? nil : desired
    if actual != wanted {
      isBusy = true
      // Parameters can't be changed while a scan runs.
      if actual != nil { disable() } else if let wanted { enable(wanted) }
    } else if actual == nil, !whenOff.isEmpty {
      let waiting = whenOff
      whenOff = []
      for action in waiting { action() }
    }
  }

  private func settle(_ state: ScanParameters?) {
    actual = state
    isBusy = false
    reconcile()
  }

  private func disable() {
    disable { [weak self] in self?.settle(nil) }
  }

  private func disable(then next: @escaping () -> Void) {
    let done = { [weak self] (result: Result<NoReturnParameters, HCIError>) -> Void in
      switch result {
      // If the scan is already off, this is the desired state; some controllers reject a second stop (0x0C).
      case .success, .failure(.commandFailed(_, .commandDisallowed)): next()
      case .failure(let error): self?.giveUp(error)
      }
    }
    if usesExtendedCommands {
      commands.send(LESetExtendedScanEnable(isEnabled: false), completion: done)
    } else {
      commands.send(LESetScanEnable(isEnabled: false), completion: done)
    }
  }

  /// - Parameter isRetry: whether another program's scan has been stopped for this
  private func enable(_ parameters: ScanParameters, isRetry: Bool = false) {
    let type: ScanType = parameters.isActive ? .active : .passive
    let enabled = { [weak self] (result: Result<NoReturnParameters, HCIError>) -> Void in
      self?.finishEnabling(parameters, result)
    }
    let configured = {
      [weak self, commands, usesExtendedCommands] (result: Result<NoReturnParameters, HCIError>) in
      guard case .success = result else {
        // Parameters can't be set during a scan, including one that another program has started.
        if case .failure(.commandFailed(_, .commandDisallowed)) = result, let self, isShared, !isRetry {
          disable { [weak self] in self?.enable(parameters, isRetry: true) }
        } else {
          self?.finishEnabling(parameters, result)
        }
        return
      }
      if usesExtendedCommands {
        commands.send(
          LESetExtendedScanEnable(
            isEnabled: true, duplicates: parameters.filtersDuplicates ? .on : .off), completion: enabled)
      } else {
        commands.send(
          LESetScanEnable(isEnabled: true, filtersDuplicates: parameters.filtersDuplicates),
          completion: enabled)
      }
    }
    let scan = PHYScanParameters(type: type, interval: parameters.interval, window: parameters.window)
    if usesExtendedCommands {
      commands.send(
        LESetExtendedScanParameters {
          $0.ownAddressType = ownAddressType
          $0.le1M = scan
        }, completion: configured)
    } else {
      commands.send(
        LESetScanParameters {
          $0.scan = scan
          $0.ownAddressType = ownAddressType
        }, completion: configured)
    }
  }

  private func finishEnabling(
    _ parameters: ScanParameters, _ result: Result<NoReturnParameters, HCIError>
  ) {
    if case .failure(let error) = result { giveUp(error) } else { settle(parameters) }
  }

  private func giveUp(_ error: HCIError) {
    desired = nil
    settle(nil)
    onFailure?(error)
  }
}
