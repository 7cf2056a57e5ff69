import HaloBluetoothCore

/// All advertisements of a controller, each in a set of its own. A controller of Bluetooth 4 has one: the first one that is
/// asked for.
final class AdvertisingSets {
  private let timers: Timers
  private let queue: CommandQueue
  private let commands: AdvertisingCommands
  private var controllers: [(set: AdvertisingSet, controller: AdvertisingController)] = []

  /// Asked about a refusal: whether it is a matter of this host alone, and no news.
  var onRefusal: ((StackError) -> Bool)?
  /// Called once, when nothing is advertised any more.
  private var onIdle: (() -> Void)?
  private var pauses: ActivityPauses = []
  /// Called once, when nothing is advertised while it is paused for the reason.
  private var onPaused: [(reason: ActivityPauses, action: () -> Void)] = []
  /// The number of LE Advertising Set Terminated since a central has connected.
  private var reports = 0
  private var missing: Timers.Token?

  init(
    _ queue: CommandQueue, timers: Timers, controller: ControllerInformation, own: OwnAddress
  ) {
    self.queue = queue
    self.timers = timers
    commands = AdvertisingCommands(controller, own)
  }

  deinit {
    timers.cancel(missing)
  }

  func setDesired(_ advertising: Advertising?, in set: AdvertisingSet) {
    if let controller = controllers.first(where: { $0.set === set })?.controller {
      return controller.setDesired(advertising)
    }
    guard let advertising, let controller = makeController(for: set) else { return }
    controllers.append((set, controller))
    controller.isPaused = !pauses.isEmpty
    controller.setDesired(advertising)
  }

  /// Ends all advertisements, and calls `done` once when the controller has answered that; at once if there is none.
  func stop(then done: @escaping () -> Void) {
    onIdle = done
    for each in controllers { each.controller.setDesired(nil) }
    if controllers.isEmpty { onIdle.take()?() }
  }

  /// Stops advertising until ``resume(from:)``; the closure is called when nothing is advertised.
  func pause(for reason: ActivityPauses, then whenOff: @escaping () -> Void = {}) {
    onPaused.append((reason, whenOff))
    setPauses(pauses.union(reason))
    checkPaused()
  }

  func resume(from reason: ActivityPauses) {
    onPaused.removeAll { $0.reason == reason }
    if pauses.contains(reason) { setPauses(pauses.subtracting(reason)) }
  }

  private func setPauses(_ pauses: ActivityPauses) {
    self.pauses = pauses
    for each in controllers { each.controller.isPaused = !pauses.isEmpty }
    tryNow()
  }

  private func checkPaused() {
    guard !pauses.isEmpty, controllers.allSatisfy(\.controller.isOff) else { return }
    let waiting = onPaused
    onPaused = []
    for each in waiting { each.action() }
  }

  /// The advertisements that the program wants.
  var desired: [Advertising] { controllers.compactMap(\.controller.desired) }

  /// The advertisements that are on, or about to be.
  var active: [Advertising] { controllers.compactMap(\.controller.active) }

  var hasDesired: Bool { controllers.contains { $0.controller.isDesired } }

  /// The answers of the controller about all advertisements that should be on.
  struct Evidence {
    /// Whether one of them is on.
    var isOn = false
    /// Whether one of them was off without an event of its end.
    var wasOff = false
  }

  /// Asks the controller whether each advertisement is on. One that is not is begun again.
  func check(then done: @escaping (Evidence) -> Void) {
    var left = controllers.count
    var evidence = Evidence()
    guard left > 0 else { return done(evidence) }
    for each in controllers {
      each.controller.askWhetherItIsOn { answer in
        evidence.isOn = evidence.isOn || answer == .isOn
        evidence.wasOff = evidence.wasOff || answer == .wasOff
        left -= 1
        if left == 0 { done(evidence) }
      }
    }
  }

  private func makeController(for set: AdvertisingSet) -> AdvertisingController? {
    // Handles end at 0xEF.
    let used = controllers.map(\.controller.set)
    guard let handle = (0...0xEF).first(where: { !used.contains($0) }) else { return nil }
    let controller = AdvertisingController(handle, commands, queue, timers: timers)
    controller.onResult = { [weak self] error in
      if let error, self?.onRefusal?(error) == true { return }
      set.onResult?(error)
    }
    controller.obstacle = { [weak self, weak controller] in
      guard let self, let controller else { return nil }
      return obstacle(to: controller)
    }
    controller.onOff = { [weak self, weak controller] in
      guard let self, let controller else { return }
      guard !controller.isDesired else { return checkPaused() }
      controllers.removeAll { $0.controller === controller }
      tryNow()
      checkPaused()
      if controllers.isEmpty { onIdle.take()?() }
    }
    return controller
  }

  /// Without sets, there is one advertisement at a time.
  private func obstacle(to controller: AdvertisingController) -> StackError? {
    guard !commands.usesSets, controllers.first?.controller !== controller else { return nil }
    return StackError("advertise", .advertisingInUse(1))
  }

  /// Something has changed: advertising that was refused may be accepted now.
  func tryNow() {
    for each in controllers { each.controller.tryNow() }
  }

  // MARK: Events

  /// Whether the controller advertises, so that a central may connect.
  var isConnectable: Bool { controllers.contains { $0.controller.isConnectable } }

  /// A central has connected, or a call to one central is over. Call ``tryNow()`` when the link was taken.
  ///
  /// The event does not name the advertisement that was answered. LE Advertising Set Terminated does; if it is missing, all
  /// that may have been are begun again.
  func ended(_ status: HCIErrorCode) {
    let candidates = controllers.map(\.controller).filter(\.mayHaveLink)
    let hasLink = status == .success
    guard candidates.count > 1 else { return candidates.first?.ended(hasLink: hasLink) ?? () }
    reports = 0
    timers.cancel(missing)
    missing = timers.schedule(after: AdvertisingController.endLimit) { [weak self] in
      guard let self, reports == 0 else { return }
      for controller in candidates { controller.ended(isReported: false, hasLink: hasLink) }
    }
  }

  /// The controller has ended a set.
  func terminated(_ event: LEAdvertisingSetTerminated) {
    reports += 1
    controllers.first { $0.controller.set == event.advertisingHandle }?.controller.terminated(event)
  }
}
