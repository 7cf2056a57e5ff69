import HaloBluetoothCore

/// Lets a scan and advertising take turns where the controller refuses one of them for the other (Core Specification Vol 4,
/// Part E, 7.8.27): five seconds each. Then both are tried again.
///
/// Each is held by a pause of its own, apart from that for a link that is created, after which the side that has the turn
/// resumes.
final class ScanTurns {
  enum Side {
    case scan, advertising
  }

  static let length = Duration.seconds(5)
  /// One that is refused in its own turn has another reason. For so long, no turns are taken, unless a link ends.
  static let rest = Duration.seconds(600)

  private let scan: ScanController
  private let advertiser: AdvertisingSets
  private let timers: Timers
  /// Whether no link is being created.
  private let isFree: () -> Bool
  /// Who has the turn; nil if both may be on.
  private var turn: Side?
  private var timer: Timers.Token?
  private var notBefore = Instant.zero

  init(_ scan: ScanController, _ advertiser: AdvertisingSets, timers: Timers, isFree: @escaping () -> Bool) {
    (self.scan, self.advertiser, self.timers, self.isFree) = (scan, advertiser, timers, isFree)
  }

  deinit {
    timers.cancel(timer)
  }

  /// The controller has refused one of them.
  ///
  /// - Returns: whether this is a matter of turns, and no news
  func refused(_ side: Side, _ error: StackError) -> Bool {
    guard error.isOfStates else { return false }
    // While the other one is on its way off, or a link is created, a refusal proves nothing; it is tried again.
    let isExcused = isOtherOn(side) || !isFree()
    if turn == side, !isExcused {
      notBefore = timers.now + Self.rest
      give(to: nil)
      return false
    }
    if turn == nil, timers.now >= notBefore, isFree(), isOtherOn(side) { give(to: side) }
    return turn != nil
  }

  /// A link has ended, which may have been the reason of a refusal.
  func linkEnded() { notBefore = .zero }

  private func isOtherOn(_ side: Side) -> Bool {
    side == .scan ? !advertiser.active.isEmpty : scan.isOn
  }

  private func give(to side: Side?) {
    turn = side
    timers.cancel(timer.take())
    if side != nil {
      timer = timers.schedule(after: Self.length) { [weak self] in
        guard let self else { return }
        timer = nil
        give(to: turn == .scan && advertiser.hasDesired ? .advertising : nil)
      }
    }
    // Commands keep their order: the held side is off before the other one begins.
    if side == .advertising { scan.pause(for: .turn) }
    if side == .scan { advertiser.pause(for: .turn) } else { advertiser.resume(from: .turn) }
    if side != .advertising { scan.resume(from: .turn) }
  }
}

/// Why a scan, or advertising, is off for a while, whatever is desired.
package struct ActivityPauses: OptionSet, Sendable {
  package let rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  /// A link is created.
  package static let creation = ActivityPauses(rawValue: 1)
  /// The other one of the two has its turn: see ``ScanTurns``.
  static let turn = ActivityPauses(rawValue: 2)
  /// Commands are sent that the controller refuses otherwise: see ``QuietCommands``.
  static let quiet = ActivityPauses(rawValue: 4)
}

extension StackError {
  /// Whether the controller may have refused a command because of another state that it is in.
  var isOfStates: Bool {
    [.commandDisallowed, .connectionRejectedLimitedResources, .invalidCommandParameters].contains(refusal)
  }
}
