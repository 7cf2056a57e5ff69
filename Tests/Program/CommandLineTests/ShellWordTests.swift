import Testing

@testable import HaloCommandLine

/// Commands that a message suggests are typed into a shell.
@Suite struct ShellWordTests {
  @Test(arguments: [
    ("/home/pi/ring.btsnoop.gz", "/home/pi/ring.btsnoop.gz"), ("a b", "'a b'"), ("it's", #"'it'\''s'"#),
    ("x;reboot", "'x;reboot'"), ("$(reboot)", "'$(reboot)'"), ("-rf", "./-rf"), ("-r f", "'./-r f'"),
    ("", "''"), ("~root", "'~root'"), ("a\nb", #"'a\x0ab'"#),
  ])
  func quotesShellWords(name: String, word: String) {
    #expect(shellWord(name) == word)
  }
}
