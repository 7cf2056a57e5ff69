import HaloBluetoothCore

/// Detects a controller that has stopped working although it holds data. One that sends nothing at all does not report its
/// links as disconnected; a command with a deadline checks whether it responds. Another one answers commands, and never
/// reports data as sent (zephyr#14899, bumble#946).
final class ControllerWatchdog {
  /// The packets of a link.
  struct Link {
    var handle: ConnectionHandle
    /// How many the controller holds.
    var packets: Int
    /// How many were sent.
    var sent: UInt64
    /// How long the link lasts without an acknowledgement by the peer.
    var supervisionTimeout: Duration
  }

  /// Packets that are held for too long.
  struct Held {
    var handle: ConnectionHandle
    var packets: Int
    var time: Duration
    /// Whether the controller has not sent packets of any other link in this time.
    var isOfAll: Bool
  }

  /// How long the controller may send nothing while it holds data.
  private static let longestSilence = Duration.seconds(6)
  private static let period = Duration.seconds(1)

  /// Called after each period of silence.
  var onSilence: (() -> Void)?
  /// Called when a link's packets are held for longer than it can last without an acknowledgement.
  var onHeld: ((Held) -> Void)?

  private struct Progress {
    var sent: UInt64
    /// Since when packets are held, and none was sent.
    var since: Instant
    /// When packets were seen to have been sent; nil if none were.
    var lastChange: Instant?
  }

  private let timers: Timers
  private let links: () -> [Link]
  /// When the last packet from the controller was read. It may have arrived long before, if the process was stopped.
  @exclusivity(unchecked) private var lastHeard = Instant.zero
  /// When the controller last answered, or was asked.
  private var lastSign = Instant.zero
  private var progress: [ConnectionHandle: Progress] = [:]
  @exclusivity(unchecked) private var timer: Timers.Token?

  /// - Parameter links: all links
  init(timers: Timers, links: @escaping () -> [Link]) {
    self.timers = timers
    self.links = links
  }

  /// A packet from the controller was read. On the hot path.
  func heard() { lastHeard = timers.now }

  /// The controller holds data. On the hot path.
  func begin() {
    guard timer == nil else { return }
    lastSign = timers.now
    note(links())
    tick()
  }

  private func tick() {
    timer = timers.schedule(after: Self.period) { [weak self] in
      guard let self else { return }
      timer = nil
      let links = self.links()
      guard links.contains(where: { $0.packets > 0 }) else { return progress = [:] }
      tick()
      check(links)
    }
  }

  private func check(_ links: [Link]) {
    let now = timers.now
    note(links)
    lastSign = max(lastSign, lastHeard)
    if now - lastSign >= Self.longestSilence {
      lastSign = now
      onSilence?()
    }
    for link in links {
      guard let since = progress[link.handle]?.since, now - since > link.supervisionTimeout + Self.period,
        // A silent controller is asked first.
        lastHeard > since
      else { continue }
      let isOfAll = !progress.values.contains { $0.lastChange.map { $0 > since } ?? false }
      onHeld?(Held(handle: link.handle, packets: link.packets, time: now - since, isOfAll: isOfAll))
      return
    }
  }

  private func note(_ links: [Link]) {
    let last = progress
    progress = [:]
    for link in links {
      let old = last[link.handle]
      var new = old ?? Progress(sent: link.sent, since: timers.now)
      if new.sent != link.sent { new.lastChange = timers.now }
      // Packets that the controller does not hold are not late.
      if new.sent != link.sent || link.packets == 0 { new.since = timers.now }
      new.sent = link.sent
      progress[link.handle] = new
    }
  }
}

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
