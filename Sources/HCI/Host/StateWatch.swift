import HaloBluetoothCore

/// Asks an idle controller whether its state is that of this host: its links, and its advertising. Otherwise no command is sent
/// for as long as no central connects, and a lost event, or a restart without an event, is never noticed (apache/mynewt-nimble
/// 1148, raspberrypi/linux 5460, zephyrproject-rtos/zephyr 55648).
///
/// A controller that does not know a link has lost the event of its end, or all of its state. If it still knows another, it has
/// not restarted: then the links that it does not know are given up, and the rest stays.
final class StateWatch {
  /// How often it is asked.
  static let period = Duration.seconds(30)
  /// After a hint it is asked at once, if the last time was longer ago.
  private static let shortestPeriod = Duration.seconds(10)

  /// Called when the controller knows no link and no advertisement that it should: it may have restarted.
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
  /// The links that the controller does not know, of this round.
  private var unknown: [LEConnection] = []

  init(
    _ commands: CommandQueue, timers: Timers, links: LinkTable, advertiser: AdvertisingSets,
    controller: ControllerInformation
  ) {
    self.commands = commands
    self.timers = timers
    self.links = links
    self.advertiser = advertiser
    readsRSSI = controller.supportedCommands.contains(ReadRSSI.self)
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
      guard !links.isEmpty || advertiser.hasDesired else { return }
      begin()
      check()
    }
  }

  /// The controller has sent an event as after a start.
  func hint() {
    guard timer != nil, timers.now - lastTime >= Self.shortestPeriod else { return }
    check()
  }

  private func check() {
    guard !isAsking else { return }
    isAsking = true
    lastTime = timers.now
    unknown = []
    ask(links.all[...])
  }

  private func ask(_ rest: ArraySlice<LEConnection>) {
    guard readsRSSI, let link = rest.first else {
      return advertiser.check { [weak self] in self?.finish($0) }
    }
    // One that has sent data since the last time is there, whatever is answered.
    guard !link.takeHeard(), link.isConnected else { return ask(rest.dropFirst()) }
    commands.send(ReadRSSI(handle: link.handle), allowsTimeout: true) { [weak self] result in
      guard let self else { return }
      if case .failure(let error) = result {
        if error.refusal == .unknownConnectionIdentifier { unknown.append(link) }
        if error.refusal == .unknownCommand { readsRSSI = false }
        if error.code == .commandTimedOut {
          // It need not answer this command. One that answers none has failed.
          readsRSSI = false
          commands.send(ReadBDADDR()) { _ in }
        }
      }
      ask(rest.dropFirst())
    }
  }

  private func finish(_ advertising: AdvertisingSets.Evidence) {
    isAsking = false
    // Links may have ended, begun or been heard in between.
    let gone = unknown.filter { $0.isConnected && !$0.wasHeard }
    let knowsNoLink = links.all.allSatisfy { link in gone.contains { $0 === link } }
    if knowsNoLink, !advertising.isOn, advertising.wasOff || !gone.isEmpty { return onStateLost?() ?? () }
    for link in gone { links.remove(link.handle, .unknownConnectionIdentifier) }
  }
}
