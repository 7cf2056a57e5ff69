/// The connection events of a link, found in the times at which packets were received. A host does not see connection events,
/// but packets come soon after one: the grid of events is the one after which they come soonest.
///
/// The clocks of controller and host differ by some parts in a million, which is found with the grid, in pieces of
/// ``pieceLength``.
enum ConnectionEvents {
  /// Within a piece, a difference of the clocks is the same.
  private static let pieceLength: Int64 = 10_000_000_000
  /// Fewer packets show no grid.
  private static let fewest = 16
  /// The greatest difference of the clocks, in millionths, and the steps in which it is searched. A step shifts the end of a
  /// piece by 50 microseconds.
  private static let greatestDrift = 300
  private static let driftStep = 5

  /// How long after its connection event each packet was received, as far as that is known: the fastest packet of a piece
  /// has zero. Nil for packets in pieces with too few of them.
  ///
  /// - Parameters:
  ///   - times: when packets were received, in nanoseconds, in order
  ///   - interval: the connection interval, in nanoseconds
  static func delays(of times: [Int64], interval: Int64) -> [Int64?] {
    guard interval > 0 else { return times.map { _ in nil } }
    var delays: [Int64?] = []
    var rest = times[...]
    while let first = rest.first {
      // The last piece is longer, not shorter: differences of clocks are not found in short ones.
      let isLast = (times.last ?? first) - first < 2 * pieceLength
      let piece = isLast ? rest : rest.prefix { $0 - first < pieceLength }
      rest = rest.dropFirst(piece.count)
      guard piece.count >= fewest else {
        delays += piece.map { _ in nil }
        continue
      }
      let candidates = stride(from: -greatestDrift, through: greatestDrift, by: driftStep).map { drift in
        phases(of: piece.map { $0 - first - ($0 - first) / 1_000_000 * Int64(drift) }, interval)
      }
      let best = candidates.map { (delays: $0, sum: $0.reduce(0, +)) }.min { $0.sum < $1.sum }
      delays += (best?.delays ?? []).map { $0 }
    }
    return delays
  }

  /// How many connection events brought no packet although the usual one had, given that a peer that sends regularly never
  /// needs one more event than usual.
  ///
  /// - Parameters: as of ``delays(of:interval:)``
  static func missed(in times: [Int64], interval: Int64) -> Int {
    guard interval > 0 else { return 0 }
    let pauses: [Int64] = zip(times.dropFirst(), times).map { later, earlier in later - earlier }
    let steps = pauses.map { ($0 + interval / 2) / interval }.filter { $0 > 0 }
    guard !steps.isEmpty else { return 0 }
    let usual = steps.sorted()[steps.count / 2]
    return steps.reduce(0) { $0 + Int(max(0, $1 - usual - 1)) }
  }

  /// The times since the last event, for events that begin behind the longest pause of the interval.
  private static func phases(of times: [Int64], _ interval: Int64) -> [Int64] {
    let phases = times.map { ($0 % interval + interval) % interval }
    let sorted = phases.sorted()
    var (begin, longest) = (sorted[0], sorted[0] + interval - sorted[sorted.count - 1])
    for (earlier, later) in zip(sorted, sorted.dropFirst()) where later - earlier > longest {
      (begin, longest) = (later, later - earlier)
    }
    return phases.map { ($0 - begin + interval) % interval }
  }
}
