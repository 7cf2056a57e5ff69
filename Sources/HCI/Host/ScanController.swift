import HaloBluetoothCore

/// Keeps the controller's scan in the desired state. That state persists while the scan is paused for connecting, while the
/// controller refuses it, and may change while a command is pending.
///
/// A scan that is refused is tried again, and one that brings no report is started again: public reports describe both, with no
/// other sign of a fault (python-bleson#84, abandonware/noble#79, home-assistant/core#77043, bluez/bluez#1554).
package final class ScanController {
  /// A scan without a report for this time is started again.
  package static let longestSilence = Duration.seconds(90)
  /// How long after another program has switched the scan off it is started again. The kernel switches it off before it
  /// creates a link, too: the creation is seen within this time.
  static let restartTime = Duration.milliseconds(50)
  /// How long a scan that was switched off waits for the end of a creation.
  static let longestCreation = Duration.seconds(5)

  /// Called when the controller has refused the scan, which is tried again; and with nil when it scans nevertheless.
  package var onRefusal: ((StackError?) -> Void)?
  /// Called when an active scan of this host has ended, for any reason.
  package var onActiveEnd: (() -> Void)?
  /// Called when the scan is started again because it brings no report, with how often that was done in a row.
  package var onSilence: ((Int) -> Void)?

  private let timers: Timers
  private let commands: CommandQueue
  private let canUseExtendedCommands: Bool
  private var usesExtendedCommands: Bool
  private let ownAddressType: OwnAddressType
  /// Whether other programs also send commands to the controller, so that one of them may have started a scan.
  private let isShared: Bool
  private var desired: ScanParameters?
  private var pauses: ActivityPauses = []
  /// The current scan of the controller; nil if it does not scan.
  private var actual: ScanParameters?
  private var isBusy = false
  private var whenOff: [() -> Void] = []
  private var pause = RetryPause()
  private var retry: Timers.Token?
  /// Whether another program has switched the scan off, and it was not started again.
  private var wasSwitchedOff = false
  /// The parameters that another program has set last; nil if they are not those of a scan for all devices.
  private var others: ScanParameters?
  /// Whether another program scans with parameters that suffice here, too: all programs get its reports.
  private var isCovered = false
  /// When another program has last begun to scan.
  private var othersBegan: Instant?
  /// When the scan began, or the last report came.
  private var lastReport = Instant.zero
  /// How often in a row the scan was started again because no report came.
  private var silences = 0
  private var watch: Timers.Token?
  /// Whether the controller has refused to scan on LE Coded.
  private var lacksCoded = false

  package init(
    _ commands: CommandQueue, timers: Timers, usesExtendedCommands: Bool, ownAddressType: OwnAddressType,
    isShared: Bool = false
  ) {
    self.commands = commands
    self.timers = timers
    canUseExtendedCommands = usesExtendedCommands
    self.usesExtendedCommands = usesExtendedCommands
    self.ownAddressType = ownAddressType
    self.isShared = isShared
  }

  deinit {
    timers.cancel(retry)
    timers.cancel(watch)
  }

  /// Whether the controller scans.
  var isOn: Bool { actual != nil }
  /// Whether an active scan is on, or about to be.
  package var isActive: Bool {
    actual?.isActive ?? (isBusy && pauses.isEmpty && desired?.isActive == true)
  }

  /// Whether another program has begun to scan within the last second.
  package var mayBeOthers: Bool { othersBegan.map { timers.now - $0 < .seconds(1) } ?? false }

  package func setDesired(_ parameters: ScanParameters?) {
    guard parameters != desired else { return }
    desired = parameters
    isCovered = false
    tryNow()
  }

  /// Stops scanning until ``resume(from:)``; the closure is called when it has stopped.
  package func pause(for reason: ActivityPauses = .creation, then whenOff: @escaping () -> Void = {}) {
    pauses.insert(reason)
    self.whenOff.append(whenOff)
    reconcile()
  }

  package func resume(from reason: ActivityPauses = .creation) {
    if pauses.remove(reason) != nil { tryNow() }
  }

  /// A report has come.
  package func heard(at time: Instant) {
    lastReport = max(lastReport, time)
    silences = 0
  }

  /// The owner of a shared controller uses these commands. A controller does not accept the others then (Core Specification
  /// Vol 4, Part E, 3.1.1).
  package func ownerUses(extendedCommands: Bool) {
    guard isShared, canUseExtendedCommands, !isBusy, actual == nil else { return }
    usesExtendedCommands = extendedCommands
  }

  // MARK: Other programs

  /// Another program, or the kernel for it, switches the scan off: it cannot know that it is wanted here. While a command of
  /// this host is under way, that one comes after it, and counts.
  package func switchedOff() {
    guard isShared, !isBusy, actual != nil || isCovered else { return }
    isCovered = false
    forgetActual()
    wasSwitchedOff = true
    timers.cancel(watch.take())
    tryAgain(after: Self.restartTime)
  }

  /// Another program sets the parameters of its scan.
  ///
  /// - Parameter parameters: nil if they are not those of a scan for all devices
  package func othersSet(_ parameters: ScanParameters?) { others = parameters }

  /// Another program begins to scan, after it has switched this one off. If its scan brings the reports that are wanted here,
  /// it is left alone: two programs that replaced each other's scans would never end.
  ///
  /// - Parameter filtersDuplicates: whether a device is reported to it once
  package func othersBegan(filtersDuplicates: Bool) {
    guard isShared, !isBusy, actual == nil else { return }
    othersBegan = timers.now
    guard let desired, let others, !filtersDuplicates || desired.filtersDuplicates,
      others.isActive || !desired.isActive, others.includesCoded || !desired.includesCoded
    else { return }
    isCovered = true
    timers.cancel(retry.take())
  }

  /// The kernel creates a link, for which it may have switched the scan off.
  package func creationBegan() {
    if wasSwitchedOff, actual == nil, !isBusy { tryAgain(after: Self.longestCreation) }
  }

  /// It has, or has not, got the link.
  package func creationEnded() {
    if wasSwitchedOff, actual == nil { tryNow() }
  }

  // MARK: State

  /// Something has changed: a scan that was refused may be accepted now.
  private func tryNow() {
    timers.cancel(retry.take())
    if desired == nil { pause.end() }
    reconcile()
  }

  private func reconcile() {
    guard !isBusy else { return }
    let wanted = pauses.isEmpty ? desired : nil
    if actual != nil, actual != wanted {
      // Parameters can't be changed while a scan runs.
      isBusy = true
      disable { [weak self] in self?.settle(nil) }
    } else if actual == nil, let wanted, retry == nil, !isCovered {
      isBusy = true
      enable(wanted)
    } else if actual == nil, !whenOff.isEmpty {
      let waiting = whenOff
      whenOff = []
      for action in waiting { action() }
    }
  }

  private func forgetActual() {
    let wasActive = actual?.isActive == true
    actual = nil
    if wasActive { onActiveEnd?() }
  }

  private func settle(_ state: ScanParameters?) {
    forgetActual()
    actual = state
    isBusy = false
    timers.cancel(watch.take())
    if state != nil { watchForReports(since: timers.now) }
    reconcile()
  }

  private func started(_ parameters: ScanParameters) {
    let wasRefused = pause.refusals > 0
    pause.end()
    wasSwitchedOff = false
    settle(parameters)
    if parameters.includesCoded, !scansCoded(parameters) {
      onRefusal?(.codedScanNotSupported)
    } else if wasRefused {
      onRefusal?(nil)
    }
  }

  private func refused(_ error: StackError) {
    if isShared, canUseExtendedCommands, error.refusal == .commandDisallowed {
      // The owner of the controller may use the other set of commands.
      usesExtendedCommands.toggle()
    }
    tryAgain(after: pause.refused())
    settle(nil)
    if desired != nil { onRefusal?(error) }
  }

  private func tryAgain(after time: Duration) {
    timers.cancel(retry)
    retry = timers.schedule(after: time) { [weak self] in
      self?.retry = nil
      self?.reconcile()
    }
  }

  private func watchForReports(since start: Instant) {
    lastReport = max(lastReport, start)
    watch = timers.schedule(at: lastReport + Self.longestSilence) { [weak self] in
      guard let self, !isBusy else { return }
      watch = nil
      if lastReport > start { return watchForReports(since: lastReport) }
      silences += 1
      isBusy = true
      disable { [weak self] in self?.settle(nil) }
      onSilence?(silences)
    }
  }

  // MARK: Commands

  private func disable(then next: @escaping () -> Void) {
    let done = { [weak self] (result: Result<NoReturnParameters, StackError>) -> Void in
      switch result {
      // If the scan is already off, this is the desired state; some controllers reject a second stop (0x0C).
      case .failure(let error) where error.refusal != .commandDisallowed: self?.refused(error)
      case .success, .failure: next()
      }
    }
    if usesExtendedCommands {
      commands.send(LESetExtendedScanEnable(isEnabled: false), completion: done)
    } else {
      commands.send(LESetScanEnable(isEnabled: false), completion: done)
    }
  }

  /// - Parameter isRetry: whether a scan that another program has started, or that could not be stopped, is stopped for this
  private func enable(_ parameters: ScanParameters, isRetry: Bool = false) {
    let finish = { [weak self] (result: Result<NoReturnParameters, StackError>) -> Void in
      guard let self else { return }
      switch result {
      case .success: started(parameters)
      // The controller claims these commands, and does not have them.
      case .failure(let error) where error.refusal == .unknownCommand && usesExtendedCommands:
        usesExtendedCommands = false
        enable(parameters)
      // Listening on LE Coded is optional. Programs that share a controller find out by trying.
      case .failure(let error)
      where scansCoded(parameters) && error.command == LESetExtendedScanParameters.opcode
        && [.unsupportedFeatureOrParameterValue, .invalidCommandParameters].contains(error.refusal):
        lacksCoded = true
        enable(parameters)
      // Parameters can't be set during a scan.
      case .failure(let error)
      where !isRetry && error.refusal == .commandDisallowed
        && [LESetScanParameters.opcode, LESetExtendedScanParameters.opcode].contains(error.command):
        disable { [weak self] in self?.enable(parameters, isRetry: true) }
      case .failure(let error): refused(error)
      }
    }
    setParameters(parameters) { [weak self] result in
      if case .success = result { self?.sendEnable(parameters, finish) } else { finish(result) }
    }
  }

  /// Whether it scans on LE Coded, too, as far as is known.
  private func scansCoded(_ parameters: ScanParameters) -> Bool {
    parameters.includesCoded && usesExtendedCommands && !lacksCoded
  }

  private func setParameters(
    _ parameters: ScanParameters, _ done: @escaping (Result<NoReturnParameters, StackError>) -> Void
  ) {
    let includesCoded = scansCoded(parameters)
    let scan = PHYScanParameters(
      type: parameters.isActive ? .active : .passive, interval: parameters.interval,
      window: min(parameters.window, parameters.interval.longestWindow(besideCoded: includesCoded)))
    if usesExtendedCommands {
      commands.send(
        LESetExtendedScanParameters {
          $0.ownAddressType = ownAddressType
          $0.le1M = scan
          $0.leCoded = includesCoded ? scan : nil
        }, completion: done)
    } else {
      commands.send(
        LESetScanParameters {
          $0.scan = scan
          $0.ownAddressType = ownAddressType
        }, completion: done)
    }
  }

  private func sendEnable(
    _ parameters: ScanParameters, _ done: @escaping (Result<NoReturnParameters, StackError>) -> Void
  ) {
    if usesExtendedCommands {
      commands.send(
        LESetExtendedScanEnable(isEnabled: true, duplicates: parameters.filtersDuplicates ? .on : .off),
        completion: done)
    } else {
      commands.send(
        LESetScanEnable(isEnabled: true, filtersDuplicates: parameters.filtersDuplicates), completion: done)
    }
  }
}
