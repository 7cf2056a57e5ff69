import HaloBluetoothCore

/// Lets a scan and advertising take turns where the controller refuses one of them for the other (Core Specification Vol 4,
/// Part E, 7.8.27): five seconds each.
final class ScanTurns {
  static let length = Duration.seconds(5)
  /// How long a turn waits for a link that is being created, for which both may be paused.
  private static let wait = Duration.seconds(1)

  private enum Turn {
    /// Neither has been refused for the other.
    case none
    /// One of them is being paused for the other.
    case changing
    case scan
    case advertising
  }

  private let scan: ScanController
  private let advertiser: AdvertisingSets
  private let timers: Timers
  /// Whether no link is being created.
  private let isFree: () -> Bool
  private var turn = Turn.none
  /// Whether one of them was refused in its own turn: the other one is not the reason.
  private var isUseless = false
  private var timer: Timers.Token?

  init(
    _ scan: ScanController, _ advertiser: AdvertisingSets, timers: Timers, isFree: @escaping () -> Bool
  ) {
    (self.scan, self.advertiser, self.timers, self.isFree) = (scan, advertiser, timers, isFree)
  }

  deinit {
    timers.cancel(timer)
  }

  /// The controller has refused to scan, or scans again after that.
  ///
  /// - Returns: whether this is a matter of turns, and no news
  func scanResulted(_ refusal: HCIError?) -> Bool {
    if turn == .scan, let refusal { return giveUp(after: refusal) { advertiser.resume() } }
    if turn != .none { return true }
    guard canTakeTurns(after: refusal), !advertiser.active.isEmpty else { return false }
    beginScan()
    return true
  }

  /// The controller has refused to advertise.
  ///
  /// - Returns: whether this is a matter of turns, and no news
  func advertisingRefused(_ refusal: HCIError) -> Bool {
    if turn == .advertising { return giveUp(after: refusal) { scan.resume() } }
    if turn != .none { return true }
    guard canTakeTurns(after: refusal), scan.isOn else { return false }
    beginAdvertising()
    return true
  }

  private func canTakeTurns(after refusal: HCIError?) -> Bool {
    refusal?.isOfStates == true && !isUseless && isFree()
  }

  private func giveUp(after refusal: HCIError, _ resume: () -> Void) -> Bool {
    isUseless = true
    turn = .none
    timers.cancel(timer.take())
    resume()
    return false
  }

  private func beginScan() {
    turn = .changing
    advertiser.pause { [weak self] in
      self?.turn = .scan
      self?.scan.tryNow()
    }
    next { $0.beginAdvertising() }
  }

  private func beginAdvertising() {
    guard advertiser.hasDesired else {
      turn = .none
      return advertiser.resume()
    }
    turn = .changing
    scan.pause { [weak self] in
      self?.turn = .advertising
      self?.advertiser.resume()
    }
    next { turns in
      // If the controller refuses that, the next turn begins.
      turns.turn = .none
      turns.scan.resume()
    }
  }

  private func next(after time: Duration = length, _ action: @escaping (ScanTurns) -> Void) {
    timers.cancel(timer)
    timer = timers.schedule(after: time) { [weak self] in
      guard let self else { return }
      guard isFree() else { return next(after: Self.wait, action) }
      timer = nil
      action(self)
    }
  }
}

extension HCIError {
  /// Whether the controller may have refused a command for what else it does.
  var isOfStates: Bool {
    guard case .commandFailed(_, let status) = self else { return false }
    return [.commandDisallowed, .connectionRejectedLimitedResources, .invalidCommandParameters].contains(
      status)
  }
}
