import BluetoothCore

/// Detects a controller that sends nothing although it holds data. One that has stopped working does not report its links
/// as disconnected; a command with a deadline checks whether it responds.
final class SilenceWatch {
  /// How long the controller may send nothing while it holds data.
  private static let limit = Duration.seconds(6)

  /// Called after each period of silence.
  var onSilence: (() -> Void)?

  private let timers: Timers
  private let isExpecting: () -> Bool
  /// When the last packet from the controller was read. It may have arrived long before, if the process was stopped.
  private var lastHeard = Instant(nanoseconds: 0)
  private var timer: Timers.Token?

  /// - Parameter isExpecting: whether the controller holds data
  init(timers: Timers, isExpecting: @escaping () -> Bool) {
    self.timers = timers
    self.isExpecting = isExpecting
  }

  /// A packet from the controller was read. On the hot path.
  func heard() { lastHeard = timers.now }

  /// Begins to watch, if the controller holds data.
  func begin() {
    if timer == nil, isExpecting() { watch(since: timers.now) }
  }

  private func watch(since start: Instant) {
    timer = timers.schedule(at: start + Self.limit) { [weak self] in
      guard let self else { return }
      timer = nil
      guard isExpecting() else { return }
      if lastHeard > start { return watch(since: lastHeard) }
      onSilence?()
      watch(since: timers.now)
    }
  }
}
