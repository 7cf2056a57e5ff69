import HaloBluetoothCore
import HaloStorage
import Testing

@testable import HaloCommandLine

/// What a terminal obeys is not shown as it is.
@Suite struct TerminalTextTests {
  @Test func textOfOthersIsPrintable() {
    let name = "ring\u{1b}[2J\u{202e}gnir, \"x\""
    #expect(Field.text(name).printable.csv == #""ring\x1b[2J\u{202e}gnir, ""x""""#)
    #expect(Field.list(["a\u{7f}", "b"]).printable.csv == #"a\x7f b"#)
    #expect(Field.text("R02\u{3164}").printable.csv == #"R02\u{3164}"#)
    #expect(Field.number(3).printable.csv == "3")
  }

  @Test func jsonHasTheSameValueWithoutThem() throws {
    let text = Field.text("a\u{202e}b\u{9b}c\u{E0001}d").json
    #expect(text.withoutFormatCharacters == #""a\u202eb\u009bc\udb40\udc01d""#)
    #expect(
      try JSONValue(parsing: Array(text.withoutFormatCharacters.utf8)[...])
        == .string("a\u{202e}b\u{9b}c\u{E0001}d"))
    let marks = String(repeating: "\u{301}", count: 5)
    let four = String(String.UnicodeScalarView(marks.unicodeScalars.prefix(4)))
    #expect(
      Field.text("a\u{3164}b\(marks)").json.withoutFormatCharacters == #""a\u3164b"# + four + #"\u0301""#)
  }
}
