import HaloCommandLine
import Testing

@testable import HaloCommands

/// How --exec divides its command: what POSIX says of quotes (Shell Command Language, 2.2), without what a shell adds.
@Suite struct EventProgramTests {
  @Test(arguments: [
    ("turn-page", ["turn-page"]), ("  a  b\tc ", ["a", "b", "c"]),
    ("say 'next page' \"it's\"", ["say", "next page", "it's"]),
    (#"a\ b "c\"d" 'e\f'"#, ["a b", #"c"d"#, #"e\f"#]), ("x '' \"\"", ["x", "", ""]),
    ("a'b'\"c\"d", ["abcd"]),
    ("echo $HOME `id` $(id) ; rm *", ["echo", "$HOME", "`id`", "$(id)", ";", "rm", "*"]),
    ("é 'ü x'", ["é", "ü x"]),
  ])
  func aCommandIsDividedIntoWords(text: String, words: [String]) throws {
    #expect(try ArgumentType.commandWords.value(text, of: "--exec") == words)
  }

  @Test(arguments: ["", "  ", "a 'b", "\"", "a\\", "a \u{0}"])
  func aCommandThatIsNoneIsRefused(text: String) {
    #expect(throws: Failure.self) { try ArgumentType.commandWords.value(text, of: "--exec") }
  }
}
