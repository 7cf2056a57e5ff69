/// The writes to one value, with and without a response: they leave in the order of the calls. Requests wait in the client's
/// queue and commands for room on the link, so that a command would overtake a request, or the other way round.
struct WriteOrder {
  enum Kind {
    case request, command
  }

  private var underWay: (kind: Kind, count: Int)?
  private var waiting: [(kind: Kind, start: () -> Void)] = []

  /// Whether writes are being started just now.
  var isStarting = false

  /// Whether every write has left.
  var isEmpty: Bool { underWay == nil && waiting.isEmpty }

  /// Adds a write. Nothing has started yet: see ``next()``.
  mutating func add(_ kind: Kind, start: @escaping () -> Void) { waiting.append((kind, start)) }

  /// The write that may start now, which counts as started; nil while it has to wait. Writes of one kind do not wait for each
  /// other.
  mutating func next() -> (() -> Void)? {
    guard let kind = waiting.first?.kind, underWay.map({ $0.kind == kind }) ?? true else { return nil }
    underWay = (kind, (underWay?.count ?? 0) + 1)
    return waiting.removeFirst().start
  }

  /// One that has started has left, or has failed.
  mutating func finished() {
    underWay?.count -= 1
    if underWay?.count == 0 { underWay = nil }
  }
}
