/// Lines that come in pieces, with their numbers. Lines longer than the limit are not kept.
package struct InputLines {
  /// A line; its text is nil if it is too long.
  package struct Line: Hashable, Sendable {
    package let number: Int
    package let text: String?

    init(number: Int, text: String?) {
      self.number = number
      self.text = text
    }

    /// A line that is typed on a terminal: it has no number.
    package init(typed text: String) { self.init(number: 0, text: text) }
  }

  private let longest: Int
  private var bytes: [UInt8] = []
  private var isTooLong = false
  private var number = 1

  /// - Parameter longest: the length of a line, in bytes, without its end
  package init(longest: Int) { self.longest = longest }

  /// - Returns: the lines that end in the next piece
  package mutating func take(_ piece: ArraySlice<UInt8>) -> [Line] {
    var lines: [Line] = []
    var rest = piece
    while let end = rest.firstIndex(of: UInt8(ascii: "\n")) {
      keep(rest[..<end])
      lines.append(takeLine())
      rest = rest[(end + 1)...]
    }
    keep(rest)
    return lines
  }

  /// - Returns: the text behind the last end of a line; nil if there is none
  package mutating func finish() -> Line? { bytes.isEmpty && !isTooLong ? nil : takeLine() }

  private mutating func keep(_ part: ArraySlice<UInt8>) {
    isTooLong = isTooLong || bytes.count + part.count > longest
    if isTooLong { bytes = [] } else { bytes += part }
  }

  private mutating func takeLine() -> Line {
    defer { (bytes, isTooLong, number) = ([], false, number + 1) }
    return Line(number: number, text: isTooLong ? nil : String(decoding: bytes, as: UTF8.self))
  }
}
