import HaloCommandLine
import Testing

@Suite struct InputLinesTests {
  private func lines(_ pieces: String..., longest: Int = 5) -> [String] {
    var lines = InputLines(longest: longest)
    var found = pieces.flatMap { lines.take(Array($0.utf8)[...]) }
    if let last = lines.finish() { found.append(last) }
    return found.map { "\($0.number) \($0.text ?? "too long")" }
  }

  @Test func linesComeInAnyPieces() {
    let expected = ["1 ab", "2 ", "3 c d"]
    #expect(lines("ab\n\nc d\n") == expected)
    #expect(lines("a", "b", "\n", "\nc", " d") == expected)
    #expect(lines() == [] && lines("", "\n") == ["1 "])
  }

  @Test func aLongLineIsCountedAndNotKept() {
    #expect(lines("12345\n123456\n7") == ["1 12345", "2 too long", "3 7"])
    #expect(lines("1234", "56", "78\n1") == ["1 too long", "2 1"] && lines("1234567") == ["1 too long"])
  }
}
