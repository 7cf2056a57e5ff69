import Testing

@testable import HaloCommandLine

@Suite struct LeadingOptionsTests {
  private static let adapter = Option("-i", "--adapter", as: .text, help: "an adapter")
  private static let verbose = Flag("-v", "--verbose", help: "more")
  private static let form = Option(
    "--form", as: .choice("FORM", [("full", 2), ("short", 1)]), bare: 1, help: "a form")
  private static let level = Option("--level", as: .count, help: "a level")

  private static let commands = [
    CommandSpec(
      name: "battery", summary: "", options: [adapter, verbose, form], examples: [], sharedOptions: [],
      run: { _ in }),
    CommandSpec(
      name: "replay", arguments: "FILE", summary: "", options: [level], examples: [], sharedOptions: [],
      wrapsCommand: true, run: { _ in }),
  ]

  private func moved(_ line: String) -> String {
    LeadingOptions.moved(line.split(separator: " ").map(String.init), for: Self.commands).joined(
      separator: " ")
  }

  @Test(arguments: [
    ("battery --adapter a", "battery --adapter a"), ("--adapter a battery", "battery --adapter a"),
    ("-v -i a battery ring", "battery -v -i a ring"), ("--adapter=a -v battery", "battery --adapter=a -v"),
    ("--form battery", "battery --form"), ("--form=full battery", "battery --form=full"),
    ("-v -- battery", "battery -v"), ("-v battery -- -x", "battery -v -- -x"), ("", ""),
  ])
  func theCommandComesFirst(line: String, ordered: String) {
    #expect(moved(line) == ordered)
  }

  @Test func helpAndTheVersionNeedNoCommand() {
    #expect(moved("-v --help battery") == "--help battery")
    #expect(moved("--adapter a -V") == "-V")
  }

  @Test func rejectsOptionsWithoutCommand() {
    #expect(moved("-v --adapter a") == "")
    #expect(moved("-v --adapter") == "")
  }

  @Test func unknownOptionsStayBeforeTheCommand() {
    #expect(moved("--cuont 5 battery") == "--cuont 5 battery")
  }

  @Test func movesOptionsToTheirCommand() {
    #expect(moved("-v --level 2 replay file battery") == "replay --level 2 file battery -v")
  }
}
