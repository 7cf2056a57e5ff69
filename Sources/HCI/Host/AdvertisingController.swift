import HaloBluetoothCore

/// Keeps one advertisement of the controller in the desired state. That state persists while the controller refuses it, and may
/// change while a command is pending.
///
/// A link ends advertising; it begins again for the next central, if it is still desired. Controllers and hosts may disagree
/// about the state. These cases from public reports are handled here:
/// - parameters that are refused while the controller still advertises, as the host has missed that (apache/mynewt-nimble
///   211, bluez/bluetooth-next 600, espressif/esp-iot-solution 771), or as it has to be stopped once more after a link
///   (zephyrproject-rtos/zephyr 90757);
/// - a stop that is refused as nothing is advertised (arduino-libraries/ArduinoBLE 196);
/// - extended advertising that can't begin before the controller has reported its end (zephyrproject-rtos/zephyr 33897);
/// - advertising that is refused while there are links (zephyrproject-rtos/zephyr 12362);
/// - a directed advertisement that is over after 1.28 s, which not all controllers report in the same way
///   (zephyrproject-rtos/zephyr 29557, apache/mynewt-nimble 70): it goes on with a low duty.
final class AdvertisingController {
  /// Called with nil when the controller has begun to advertise; and with the reason when it has refused to, which is tried
  /// again.
  var onResult: ((StackError?) -> Void)?
  /// Called when it does not advertise any more, and is not to, or is paused.
  var onOff: (() -> Void)?
  /// Asked before it begins: why it must not.
  var obstacle: (() -> StackError?)?

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

  /// The handle of the advertising set.
  let set: UInt8
  private let timers: Timers
  private let queue: CommandQueue
  private let commands: AdvertisingCommands
  private(set) var desired: Advertising?
  /// Whether it is off for a while, whatever is desired; call ``tryNow()`` after a change.
  var isPaused = false
  private var state = State.off
  /// Whether a link has ended it while commands were on their way.
  private var wasEnded = false
  /// Whether the call to one central is over.
  private var isCalmed = false
  /// The advertisement that was begun last.
  private var last: Advertising?
  private var pause = RetryPause()
  private var retry: Timers.Token?

  init(_ set: UInt8, _ commands: AdvertisingCommands, _ queue: CommandQueue, timers: Timers) {
    self.set = set
    self.commands = commands
    self.queue = queue
    self.timers = timers
  }

  deinit {
    timers.cancel(retry)
    if case .ending(let limit) = state { timers.cancel(limit) }
  }

  func setDesired(_ advertising: Advertising?) {
    guard advertising != desired else { return }
    desired = advertising
    isCalmed = false
    tryNow()
  }

  /// Something has changed: advertising that was refused may be accepted now.
  func tryNow() {
    timers.cancel(retry.take())
    if desired == nil { pause.end() }
    reconcile()
  }

  var isDesired: Bool { desired != nil }

  /// The advertisement that is on, or about to be.
  var active: Advertising? {
    switch state {
    case .on(let actual): actual
    case .changing: last
    case .off, .ending: nil
    }
  }

  /// Whether nothing is advertised, and no command about it is under way.
  var isOff: Bool { if case .off = state { true } else { false } }

  // MARK: Whether it is on

  /// The answer of the controller about an advertisement that should be on.
  enum Evidence {
    case isOn
    /// It was off, without an event.
    case wasOff
    /// There was no question, or no answer about it.
    case none
  }

  /// Asks the controller whether it advertises: there is no command for that, but parameters are refused while it does (Vol 4,
  /// Part E, 7.8.5 and 7.8.53). If it does not, it begins again.
  func askWhetherItIsOn(then done: @escaping (Evidence) -> Void) {
    guard case .on(let actual) = state, commands.areParametersRefusedWhileOn else { return done(.none) }
    offerParameters(of: actual) { [weak self] answer in
      guard let self, answer == .taken else { return done(answer == .refused ? .isOn : .none) }
      if case .directed(_, isHighDuty: true) = actual.kind {
        // A call to one central ends on its own.
        isCalmed = true
        settle(.off)
        return done(.none)
      }
      start(actual) { [weak self] isOn in
        guard let self, isOn, case .on(actual) = state else { return done(.none) }
        // It is on now. A controller that takes parameters nevertheless has said nothing by taking them before.
        offerParameters(of: actual) { [weak self] answer in
          guard let self, answer == .taken else { return done(answer == .refused ? .wasOff : .none) }
          commands.areParametersRefusedWhileOn = false
          start(actual) { _ in done(.none) }
        }
      }
    }
  }

  private enum ParameterAnswer {
    case refused, taken
    /// Another error, or a central has connected in between.
    case nothing
  }

  /// Sends the parameters of the current advertisement once more. Unless they are accepted, the state is settled.
  private func offerParameters(of actual: Advertising, then done: @escaping (ParameterAnswer) -> Void) {
    state = .changing
    run(Array(commands.starting(actual, in: set).prefix(1))) { [weak self] result in
      guard let self else { return done(.nothing) }
      switch result {
      case .failure(let error):
        settle(.on(actual))
        // It may have been ended and begun in between.
        if case .on = state { onResult?(nil) }
        done(error.refusal == .commandDisallowed ? .refused : .nothing)
      case .success where wasEnded:
        settle(.off)
        done(.nothing)
      case .success: done(.taken)
      }
    }
  }

  // MARK: Events

  /// Whether the controller advertises, so that a central may connect.
  var isConnectable: Bool { if case .on(let actual) = state { actual.isConnectable } else { false } }

  /// Whether a central that has connected may have answered this advertisement.
  var mayHaveLink: Bool {
    switch state {
    case .off, .ending: false
    case .changing: last?.isConnectable == true
    case .on(let actual): actual.isConnectable
    }
  }

  /// A central has connected, or a call to one central is over. Call ``tryNow()`` when the link was taken.
  ///
  /// - Parameters:
  ///   - isReported: whether LE Advertising Set Terminated follows, or there are no sets
  ///   - hasLink: whether a central has connected
  func ended(isReported: Bool = true, hasLink: Bool = true) {
    isCalmed = !hasLink
    switch state {
    case .off, .ending: break
    case .changing: wasEnded = true
    case .on: isReported ? state = ending : settle(.off)
    }
  }

  /// The controller has ended the advertising set.
  func terminated(_ event: LEAdvertisingSetTerminated) {
    if event.status == .advertisingTimeout { isCalmed = true }
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
    guard commands.usesSets else { return .off }
    return .ending(timers.schedule(after: Self.endLimit) { [weak self] in self?.settle(.off) })
  }

  // MARK: State

  private var wanted: Advertising? { isPaused ? nil : isCalmed ? desired?.lowDutyCycle : desired }

  private func reconcile() {
    switch state {
    case .changing, .ending: break
    case .on(let actual) where actual == wanted: break
    case .on:
      state = .changing
      run([commands.stopping(set)]) { [weak self] result in
        if case .failure(let error) = result, error.refusal != .commandDisallowed { self?.refused(error) }
        self?.settle(.off)
      }
    case .off:
      guard let wanted else { onOff?(); return }
      guard retry == nil else { return }
      if wanted.phys != nil, !commands.usesSets { return refused(.extendedAdvertisingNotSupported) }
      if let obstacle = obstacle?() { return refused(obstacle) }
      state = .changing
      prepare(wanted)
    }
  }

  private func settle(_ new: State) {
    state = new
    if wasEnded, case .on = new { state = ending }
    wasEnded = false
    reconcile()
  }

  /// Makes a set anew that was of another kind: its data would be refused.
  private func prepare(_ advertising: Advertising) {
    let isOther = last.map { $0.kind != advertising.kind || $0.phys != advertising.phys } ?? false
    last = advertising
    guard isOther, commands.usesSets else { return start(advertising) }
    run([commands.removing(set)]) { [weak self] _ in self?.start(advertising) }
  }

  /// - Parameters:
  ///   - isRetry: whether a current advertisement is stopped for this
  ///   - done: called with whether it advertises
  private func start(
    _ advertising: Advertising, isRetry: Bool = false, then done: @escaping (Bool) -> Void = { _ in }
  ) {
    wasEnded = false
    run(commands.starting(advertising, in: set)) { [weak self] result in
      guard let self else { return done(false) }
      switch result {
      case .success:
        pause.end()
        settle(.on(advertising))
        onResult?(nil)
        done(true)
      // The controller claims these commands, and does not have them.
      case .failure(let error) where error.refusal == .unknownCommand && commands.usesSets:
        commands.usesSets = false
        settle(.off)
        done(false)
      case .failure(let error) where error.refusal == .commandDisallowed && !isRetry:
        run([commands.stopping(set)]) { [weak self] _ in
          self?.start(advertising, isRetry: true, then: done) ?? done(false)
        }
      case .failure(let error):
        refused(error)
        settle(.off)
        done(false)
      }
    }
  }

  private func refused(_ error: StackError) {
    timers.cancel(retry)
    retry = timers.schedule(after: pause.refused()) { [weak self] in
      self?.retry = nil
      self?.reconcile()
    }
    if desired != nil { onResult?(error) }
  }

  /// Sends commands, each after the success of the one before; `done` gets the first failure.
  private func run(
    _ list: [any HCICompletingCommand], then done: @escaping (Result<Void, StackError>) -> Void
  ) {
    guard let command = list.first else { return done(.success(())) }
    queue.enqueue(command, endsWithStatus: false) { [weak self] result in
      guard case .failure(let error) = result else {
        self?.run(Array(list.dropFirst()), then: done)
        return
      }
      done(.failure(error))
    }
  }
}
