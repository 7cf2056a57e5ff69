/// Follows the numbers of a counted stream's frames: which are lost, doubled or late. Numbers are unwrapped: they count on
/// where the byte begins again at 0. Adding a frame does not allocate.
///
/// A link delivers in order, so a number behind the newest one is a matter of the ring, or of a relay between. Up to 190
/// frames in a row that are lost are counted exactly. A pause in which more could be lost has ended the stream before: see
/// ``interrupt()``.
package struct PacketCounter: Sendable {
  /// The place of a frame among those before it.
  package struct Step: Hashable, Sendable {
    package enum Kind: Hashable, Sendable {
      /// The next one, or the first.
      case next
      /// As many are missing before it.
      case afterLoss(Int)
      /// One that was taken for lost.
      case late
      /// The same frame once more.
      case doubled
      /// Another frame with a number that was there already: the ring has begun to count anew.
      case restarted
    }

    package var kind: Kind
    /// Unwrapped, from the first number that was received. A doubled frame has the number of the one before, any other
    /// frame its own.
    package var number: Int
  }

  /// The frames, without those that are doubled.
  package private(set) var received = 0
  /// The numbers without a frame.
  package private(set) var lost = 0
  package private(set) var doubled = 0
  package private(set) var late = 0
  /// Whether the ring counts at all. Firmware that leaves the byte as it is does not.
  package private(set) var ringCounts = true

  /// The newest number as sent; nil if the next frame begins a count.
  private var newest: UInt8?
  /// The newest number, unwrapped.
  private var number = 0
  /// Bit N is 0 if the frame N before the newest one is missing.
  private var window = UInt64.max
  /// The fingerprints of the last frames of this count, in a circle.
  private var recent = InlineArray<8, UInt64>(repeating: 0)
  private var recentCount = 0
  /// The number with which the ring began to count.
  private var origin: UInt8 = 0
  /// For as many frames, one with the number ``origin`` begins a new count.
  private var restartFrames = 0
  private var restartsInARow = 0

  /// How far behind the newest number a late frame can be.
  private static let reach = 64
  /// How many frames a ring may take to count anew after a request.
  private static let framesToRestart = 64
  /// After this many repeated numbers in a row, the ring does not count.
  private static let maximumRestarts = 8

  package init() {}

  /// The part of the numbered frames that is lost; nil without a frame.
  package var lossRatio: Double? { received > 0 ? Double(lost) / Double(received + lost) : nil }

  /// The next frame begins a new count: how many are missing before it is not known.
  package mutating func interrupt() { newest = nil }

  /// The running stream was requested once more, so that it goes on: the ring may count anew.
  package mutating func requestedAgain() { restartFrames = Self.framesToRestart }

  /// Adds a frame that holds a sample.
  package mutating func add(_ sample: CountedSample) -> Step {
    let step = step(for: sample)
    if step.kind != .doubled { remember(sample.fingerprint) }
    return step
  }

  private mutating func step(for sample: CountedSample) -> Step {
    guard ringCounts, let newest else { return begin(.next, at: sample.packet) }
    restartFrames = max(0, restartFrames - 1)
    let distance = Int(sample.packet &- newest)
    let back = distance == 0 ? 0 : 256 - distance
    guard back < Self.reach else {
      if restartFrames > 0, distance > 1, sample.packet == origin {
        return begin(.restarted, at: sample.packet)
      }
      return advance(by: distance, to: sample.packet)
    }
    if window & 1 << UInt64(back) == 0 { return fill(back) }
    if isRecent(sample.fingerprint) {
      doubled += 1
      return Step(kind: .doubled, number: number - back)
    }
    restartsInARow += 1
    ringCounts = restartsInARow < Self.maximumRestarts
    return begin(.restarted, at: sample.packet)
  }

  private mutating func begin(_ kind: Step.Kind, at sent: UInt8) -> Step {
    number = received == 0 ? Int(sent) : number + 1
    received += 1
    newest = sent
    origin = sent
    window = .max
    recentCount = 0
    restartFrames = 0
    return Step(kind: kind, number: number)
  }

  private mutating func advance(by distance: Int, to sent: UInt8) -> Step {
    restartsInARow = 0
    received += 1
    lost += distance - 1
    number += distance
    newest = sent
    window = distance < UInt64.bitWidth ? window << UInt64(distance) | 1 : 1
    return Step(kind: distance == 1 ? .next : .afterLoss(distance - 1), number: number)
  }

  private mutating func fill(_ back: Int) -> Step {
    received += 1
    lost -= 1
    late += 1
    window |= 1 << UInt64(back)
    return Step(kind: .late, number: number - back)
  }

  private func isRecent(_ fingerprint: UInt64) -> Bool {
    for index in 0..<min(recentCount, recent.count) where recent[index] == fingerprint { return true }
    return false
  }

  private mutating func remember(_ fingerprint: UInt64) {
    recent[recentCount % recent.count] = fingerprint
    // Counts on within the circle once it is full.
    recentCount = recentCount + 1 < 2 * recent.count ? recentCount + 1 : recent.count
  }
}
