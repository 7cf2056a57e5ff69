import HaloBluetoothCore

/// Asks an idle controller whether it knows of what this host knows: its links, and that it advertises. Otherwise no command is
/// sent for as long as nobody comes, and a lost event, or a restart without a word, is never noticed
/// (apache/mynewt-nimble 1148, raspberrypi/linux 5460, zephyrproject-rtos/zephyr 55648).
///
/// A controller that does not know a link has lost the event of its end, or all of its state. If it knows another link, it has
/// not restarted.
final class StateWatch {
  /// How often it is asked.
  static let period = Duration.seconds(30)
  /// After a hint it is asked at once, if the last time was longer ago.
  private static let shortestPeriod = Duration.seconds(10)

  /// Called when the controller knows nothing of what it should: it may have restarted.
  var onStateLost: (() -> Void)?

  private let timers: Timers
  private let commands: CommandQueue
  private let links: LinkTable
  private let advertiser: AdvertisingSets
  /// Whether it has Read RSSI, and answers it.
  private var readsRSSI: Bool
  private var timer: Timers.Token?
  private var lastTime = Instant.zero
  private var isAsking = false
  /// The answers since it was asked.
  private var hasKnownLink = false
  private var unknownLinks: [ConnectionHandle] = []
  private var wasOff = false

  init(
    _ commands: CommandQueue, timers: Timers, links: LinkTable, advertiser: AdvertisingSets,
    controller: ControllerInformation
  ) {
    self.commands = commands
    self.timers = timers
    self.links = links
    self.advertiser = advertiser
    readsRSSI = controller.supportedCommands.contains(ReadRSSI.self)
    advertiser.onLost = { [weak self] in self?.wasOff = true }
  }

  deinit {
    timers.cancel(timer)
  }

  /// There may be something to ask for.
  func begin() {
    guard timer == nil else { return }
    timer = timers.schedule(after: Self.period) { [weak self] in
      guard let self else { return }
      timer = nil
      guard !links.isEmpty || !advertiser.active.isEmpty else { return }
      begin()
      check()
    }
  }

  /// The controller has said something that it says after a start.
  func hint() {
    guard timer != nil, timers.now - lastTime >= Self.shortestPeriod else { return }
    check()
  }

  private func check() {
    guard !isAsking else { return }
    isAsking = true
    lastTime = timers.now
    (hasKnownLink, unknownLinks, wasOff) = (false, [], false)
    ask(links.handles[...])
  }

  private func ask(_ handles: ArraySlice<ConnectionHandle>) {
    guard readsRSSI, let handle = handles.first else {
      return advertiser.check { [weak self] in self?.finish() }
    }
    commands.send(ReadRSSI(handle: handle), isExpendable: true) { [weak self] result in
      guard let self else { return }
      switch result {
      case .success: hasKnownLink = true
      case .failure(.commandFailed(_, .unknownConnectionIdentifier)): unknownLinks.append(handle)
      case .failure(.commandFailed(_, .unknownCommand)): readsRSSI = false
      case .failure(.commandTimedOut):
        // It need not answer this command. One that answers none has failed.
        readsRSSI = false
        commands.send(ReadBDADDR()) { _ in }
      case .failure: break
      }
      ask(handles.dropFirst())
    }
  }

  private func finish() {
    isAsking = false
    guard wasOff || !unknownLinks.isEmpty else { return }
    if !hasKnownLink { return onStateLost?() ?? () }
    for handle in unknownLinks { links.remove(handle, .unknownConnectionIdentifier) }
  }
}
