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
