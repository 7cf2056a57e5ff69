/// The only source of a fact about the ring that no capture, no firmware and no second client has shown. Such facts may be
/// wrong: tools mark them, and the virtual ring has them in bytes of its own, so that an error here is not repeated there.
package enum LoneSource: String, Hashable, Sendable, CaseIterable {
  /// The vendor's app.
  case app = "the app"
  /// The vendor's library for other apps, or its manual.
  case sdk = "the SDK"
  case client = "one client"
  case guess = "a weak source"

  /// `by the SDK; no capture`
  package var note: String { "by \(rawValue); no capture" }

  /// The suffix of a fact: ` (by the SDK; no capture)`; empty if there are better sources.
  package static func suffix(_ source: LoneSource?) -> String { source.map { " (\($0.note))" } ?? "" }

  /// The marks of the ring reference, as they follow a section: `4.15 [F][C]`.
  static func marks(of source: String) -> [Substring] {
    Array(source.split { $0 == "[" || $0 == "]" }.dropFirst())
  }

  /// - Returns: nil if one of the marks is that of firmware, of captures or of several clients
  init?(marks: [Substring]) {
    guard !marks.contains(where: { $0 == "F" || $0 == "C" || (Int($0) ?? 0) > 1 }) else { return nil }
    if marks.contains("S") {
      self = .sdk
    } else if marks.contains("A") {
      self = .app
    } else {
      self = marks.contains("1") ? .client : .guess
    }
  }
}

extension CommandEntry {
  /// The only source of the whole entry; nil if there are better ones, or if its fields have marks of their own.
  package var loneSource: LoneSource? { LoneSource(marks: LoneSource.marks(of: source)) }

  /// The facts that have one source alone, with names for users: the entry, or some of its fields and words.
  var loneFacts: [(fact: String, source: LoneSource)] {
    if let loneSource { return [(name, loneSource)] }
    var facts: [(fact: String, source: LoneSource)] = loneContents.map { ($0.key, $0.value) }
    for field in (requests + replies).flatMap(\.fields) {
      for fact in field.loneFacts where !facts.contains(where: { $0.fact == fact.fact }) {
        facts.append(fact)
      }
    }
    return facts
  }
}

extension FrameField {
  /// The same field, which has one source alone; or only some of its words.
  func only(_ source: LoneSource, words numbers: some Collection<Int> = []) -> FrameField {
    var loneWords = self.loneWords
    for number in numbers { loneWords[number] = source }
    return FrameField(
      name, at: offset, form, unit, words: words, settable: settable, believed: believed, usual: usual,
      loneSource: numbers.isEmpty ? source : loneSource, loneWords: loneWords)
  }

  /// The only source of the field, or of the word for its number in a frame.
  package func loneSource(in frame: RingFrame) -> LoneSource? {
    loneSource ?? (loneWords.isEmpty ? nil : loneWords[form.read(frame, at: offset)])
  }

  /// The most words that are listed one by one.
  private static let mostWords = 8

  fileprivate var loneFacts: [(fact: String, source: LoneSource)] {
    if let loneSource { return [("`\(name)`", loneSource)] }
    return Dictionary(grouping: loneWords.keys, by: { loneWords[$0] }).compactMap { source, numbers in
      source.map { (numbers.sorted(), $0) }
    }.sorted { $0.1.rawValue < $1.1.rawValue }.map { numbers, source in
      let list = numbers.map { "\($0) \(words[$0] ?? "?")" }.joined(separator: ", ")
      return numbers.count > Self.mostWords
        ? ("\(numbers.count) of the \(words.count) names of `\(name)`", source)
        : ("`\(name)` \(list)", source)
    }
  }
}

extension RecordField {
  func only(_ source: LoneSource, words: some Collection<Int> = []) -> RecordField {
    RecordField(field.only(source, words: words), access)
  }
}
