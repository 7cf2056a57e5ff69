/// Finds the recorded exchange that a request matches by its meaning. Repeated requests get the recorded exchanges one
/// after the other, and then the last one again.
struct ExchangeMatcher {
  struct Match {
    var exchange: RecordedDialogue.Exchange
    /// Whether it was not used before.
    var isNew: Bool
  }

  private struct Use: Hashable {
    var subject: RecordedDialogue.Subject
    /// What the values that were looked for have in common.
    var prefix: [UInt8]
  }

  private let dialogue: RecordedDialogue
  /// How often a request was matched.
  private var uses: [Use: Int] = [:]
  /// The exchanges about a subject by their values; made when a subject is first asked for.
  private var byValue: [RecordedDialogue.Subject: [[UInt8]: [Int]]] = [:]

  init(_ dialogue: RecordedDialogue) {
    self.dialogue = dialogue
  }

  /// The next exchange about a subject, whatever its value.
  mutating func next(_ subject: RecordedDialogue.Subject) -> Match? {
    take(dialogue.bySubject[subject] ?? [], Use(subject: subject, prefix: []))
  }

  /// The next exchange about a subject with exactly this value.
  mutating func next(_ subject: RecordedDialogue.Subject, _ value: [UInt8]) -> Match? {
    take(exchanges(about: subject)[value] ?? [], Use(subject: subject, prefix: value))
  }

  /// The next exchange about a subject with a similar value: the one with the longest common beginning.
  ///
  /// - Parameter accepts: whether a recorded value suits; nil if that is not known. Then a value suits that has the same
  ///   length and begins with more of the same bytes than all recorded ones do.
  mutating func nextAlike(
    _ subject: RecordedDialogue.Subject, _ value: [UInt8], accepts: ([UInt8]) -> Bool?
  ) -> Match? {
    let recorded = exchanges(about: subject)
    guard let first = recorded.keys.first else { return nil }
    // A beginning that all commands have says nothing.
    let shared = recorded.count == 1 ? 0 : recorded.keys.reduce(Int.max) { min($0, Self.common($1, first)) }
    let alike = recorded.filter { other, _ in
      accepts(other) ?? (other.count == value.count && Self.common(other, value) > shared)
    }
    guard let best = alike.keys.map({ Self.common($0, value) }).max() else { return nil }
    let found = alike.filter { Self.common($0.key, value) == best }.values.joined().sorted()
    return take(found, Use(subject: subject, prefix: Array(value.prefix(best))))
  }

  private mutating func take(_ found: [Int], _ use: Use) -> Match? {
    guard let last = found.last else { return nil }
    let number = uses[use, default: 0]
    uses[use] = number + 1
    let isNew = number < found.count
    return Match(exchange: dialogue.exchanges[isNew ? found[number] : last], isNew: isNew)
  }

  private mutating func exchanges(about subject: RecordedDialogue.Subject) -> [[UInt8]: [Int]] {
    if let known = byValue[subject] { return known }
    let made = Dictionary(grouping: dialogue.bySubject[subject] ?? []) { dialogue.exchanges[$0].value }
    byValue[subject] = made
    return made
  }

  private static func common(_ a: [UInt8], _ b: [UInt8]) -> Int {
    zip(a, b).prefix { $0 == $1 }.count
  }
}
