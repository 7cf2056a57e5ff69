import Testing

@testable import HaloCommandLine

/// The rules of https://no-color.org and https://bixense.com/clicolors.
@Suite struct ColorChoiceTests {
  @Test(
    arguments: [
      ([:], nil), (["NO_COLOR": ""], nil), (["NO_COLOR": "1"], false), (["NO_COLOR": "0"], false),
      (["CLICOLOR_FORCE": "1"], true), (["CLICOLOR_FORCE": "0"], nil), (["CLICOLOR_FORCE": ""], nil),
      (["CLICOLOR": "0"], false), (["CLICOLOR": "1"], nil), (["CLICOLOR": "0", "CLICOLOR_FORCE": "1"], true),
      (["NO_COLOR": "1", "CLICOLOR_FORCE": "1"], false),
    ] as [([String: String], Bool?)])
  func theEnvironmentChooses(variables: [String: String], choice: Bool?) {
    #expect(ColorChoice.choice { variables[$0] } == choice)
  }

  @Test func theCommandLineCountsMore() {
    // No descriptor, so no terminal.
    #expect(ColorChoice.always.isUsed(on: -1) && !ColorChoice.never.isUsed(on: -1))
  }
}
