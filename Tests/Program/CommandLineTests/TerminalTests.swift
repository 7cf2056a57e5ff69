import Testing

@testable import HaloCommandLine

@Suite struct TerminalTests {
  @Test func textIsCutToColumns() {
    #expect("⠿⠿⠿".cut(to: 3) == "⠿⠿⠿")
    #expect("日本語".cut(to: 5) == "日本…")
    #expect("abc".cut(to: 2) == "a…")
  }
}
