import ATT
import HaloBluetoothCore
import HaloCommandLine
import HaloDissection

/// The values that were written to attributes, as text: those that are alike in one line, with the bytes that vary, and the
/// answers below.
enum WriteText {
  /// The most lines of an attribute.
  private static let mostForms = 32
  /// The most bytes of a value that are shown.
  private static let shownBytes = 24
  private static let exampleBytes = 8

  /// - Parameter forms: those of an attribute together
  static func lines(_ forms: [WrittenForm]) -> [String] {
    var lines: [String] = []
    var rest = forms[...]
    while let handle = rest.first?.handle {
      let own = rest.prefix { $0.handle == handle }
      rest = rest.dropFirst(own.count)
      lines.append("\(handle)" + (own.compactMap(\.name).first.map { " \($0)" } ?? ""))
      for form in own.prefix(mostForms) {
        let count = CountedText.line(form.pattern.count, noun(form.operation))
        lines.append("  \(count): \(text(form.pattern, form.distinct, form.words))")
        lines += form.answers.map { "    \(answer($0))" }
      }
      let others = own.dropFirst(mostForms).reduce(0) { $0 + $1.pattern.count }
      if others > 0 {
        lines.append("  \(Console.counted(others, "more write")) of \(own.count - mostForms) other forms")
      }
    }
    return lines
  }

  private static func answer(_ answer: WrittenForm.Answer) -> String {
    let noun = answer.operation == .handleValueIndication ? "indications" : "notifications"
    let handle = answer.handle.map { " of \($0)" } ?? ""
    return
      "answered by \(CountedText.line(answer.pattern.count, noun))\(handle): \(text(answer.pattern, 1, nil))"
  }

  /// The kind of write, in the words of `--values`.
  static func noun(_ operation: ATTOpcode) -> String {
    switch operation {
    case .writeRequest: "write requests"
    case .writeCommand: "write commands"
    case .signedWriteCommand: "signed write commands"
    default: "prepared writes"
    }
  }

  private static func text(_ pattern: BytePattern, _ distinct: Int?, _ words: String?) -> String {
    var remarks = words.map { [$0] } ?? []
    let shown = min(pattern.bytes.count, shownBytes)
    let (shortest, longest) = (pattern.lengths.lowerBound, pattern.lengths.upperBound)
    if shortest != longest {
      remarks.append("\(shortest) to \(longest) bytes")
    } else if longest > shown {
      remarks.append("\(longest) bytes")
    }
    if let distinct, distinct > 1 { remarks.append("\(distinct) distinct") }
    if distinct == nil { remarks.append("the rest, not told apart") }
    if let varying = varying(pattern) { remarks.append(varying) }
    return digits(pattern, shown) + (remarks.isEmpty ? "" : " (\(remarks.joined(separator: ", ")))")
  }

  /// Hexadecimal digits, with `..` for bytes that vary.
  static func digits(_ pattern: BytePattern, _ shown: Int) -> String {
    guard pattern.lengths.upperBound > 0 else { return "empty" }
    guard (0..<shown).contains(where: { !pattern.varies($0) }) else { return example(pattern) }
    let bytes = pattern.bytes.span.bytes
    return TextBuffer.string { text in
      for place in 0..<shown {
        if place > 0 { text.write(" ") }
        if pattern.varies(place) {
          text.write("..")
        } else {
          text.writeHex(bytes.extracting(place..<place + 1))
        }
      }
      if pattern.lengths.upperBound > shown { text.write(shown > 0 ? " …" : "…") }
    }
  }

  /// The beginning of the first value, where all bytes vary.
  private static func example(_ pattern: BytePattern) -> String {
    let bytes = pattern.bytes.prefix(exampleBytes).map { Hex.string([$0]) }
    return (["first"] + bytes + (pattern.lengths.upperBound > bytes.count ? ["…"] : [])).joined(
      separator: " ")
  }

  /// `bytes 4 and 7 to 9 vary`; nil if none does.
  private static func varying(_ pattern: BytePattern) -> String? {
    var ranges: [ClosedRange<Int>] = []
    for place in pattern.varyingBytes {
      if let last = ranges.last, last.upperBound == place - 1 {
        ranges[ranges.count - 1] = last.lowerBound...place
      } else {
        ranges.append(place...place)
      }
    }
    guard let last = ranges.last else { return nil }
    if ranges.count == 1, last.count == 1 { return "byte \(last.lowerBound) varies" }
    let texts = ranges.map { $0.count == 1 ? "\($0.lowerBound)" : "\($0.lowerBound) to \($0.upperBound)" }
    let list =
      texts.count == 1
      ? texts[0] : "\(texts.dropLast().joined(separator: ", ")) and \(texts[texts.count - 1])"
    return "bytes \(list) vary"
  }
}
