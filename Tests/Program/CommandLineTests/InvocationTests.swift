import Testing

@testable import HaloCommandLine

/// A command with one option of each type.
private enum Example {
  static let count = Option("--count", as: .count, help: "stop after N samples")
  static let time = Option("-d", "--duration", as: .time, help: "stop after this time")
  static let wait = Option("--wait", as: .time, default: "30s", help: "how long to wait")
  static let form = Option(
    "--form", as: .choice("FORM", [("full", 2), ("short", 1)]), bare: 1, help: "a form")
  static let file = Option("--out", as: .file(.writes), help: "a file")
  static let flag = Flag("--flag", help: "a flag")

  static func command(_ rules: [OptionRule] = []) -> CommandSpec {
    CommandSpec(
      name: "example", arguments: "[NAME]", summary: "", positionals: 0...1,
      options: [count, time, wait, form, file, flag], rules: rules, examples: [], sharedOptions: [],
      run: { _ in })
  }
}

@Suite struct InvocationTests {
  private func parse(_ line: String, _ rules: [OptionRule] = []) throws(Failure) -> Invocation {
    try Invocation(parsing: line.split(separator: " ").map(String.init), for: Example.command(rules))
  }

  private func usage(_ line: String, _ rules: [OptionRule] = []) -> String? {
    do throws(Failure) {
      _ = try parse(line, rules)
      return nil
    } catch {
      return error.code == .usage ? error.message : nil
    }
  }

  @Test func optionsStandAnywhereAndMayUseAnEqualsSign() throws {
    let invocation = try parse("--count=5 R02_BEEF --flag -d 2m")
    #expect(invocation.positionals == ["R02_BEEF"])
    #expect(invocation[Example.count] == 5)
    #expect(invocation[Example.time] == .seconds(120))
    #expect(invocation[Example.flag] && invocation.isGiven(Example.flag))
  }

  @Test func anOptionThatIsNotGivenHasItsDefault() throws {
    let invocation = try parse("")
    #expect(invocation[Example.count] == nil)
    #expect(invocation[Example.wait] == .seconds(30) && !invocation.isGiven(Example.wait))
    #expect(!invocation[Example.flag])
    #expect(Example.wait.spec.help == "how long to wait (default: 30s)")
    #expect(try parse("--wait 1s")[Example.wait] == .seconds(1))
  }

  @Test func aValueMayBeLeftOut() throws {
    #expect(try parse("")[Example.form] == nil)
    #expect(try parse("--form name")[Example.form] == 1)
    #expect(try parse("--form=full")[Example.form] == 2)
    #expect(usage("--form=tiny") == "--form wants full, short, not \"tiny\"")
  }

  @Test func treatsArgumentsAfterDoubleDashAsPositional() throws {
    #expect(try parse("-- --flag").positionals == ["--flag"])
  }

  @Test func errorsAreOneHelpfulLine() {
    #expect(usage("--cuont 5")?.contains("did you mean --count?") == true)
    #expect(usage("--count") == "--count wants a value: --count N")
    #expect(usage("--count x") == "--count wants a whole number, 1 or more, not \"x\"")
    #expect(usage("--flag=1") == "--flag takes no value")
    #expect(usage("one two") == "unexpected argument \"two\"; usage: halo-raw example [NAME]")
  }

  @Test func acceptsHelpDespiteInvalidArguments() throws {
    #expect(try parse("--count x --help one two")[CommonOptions.help])
  }

  @Test func rulesSayWhichOptionsGoTogether() {
    let exclusive = [OptionRule.exclusive([Example.count, Example.time])]
    #expect(usage("--count 1 --duration 1s", exclusive) == "--count and --duration exclude each other")
    #expect(usage("--count 1", exclusive) == nil && usage("", exclusive) == nil)
    let one = [OptionRule.one([Example.count, Example.flag])]
    #expect(usage("", one) == "give --count N or --flag")
    #expect(usage("--count 1 --flag", one) == "--count and --flag exclude each other")
    #expect(usage("--flag", one) == nil)
    let excludes = [OptionRule.excludes(Example.flag, [Example.count, Example.time])]
    #expect(usage("--flag --duration 1s", excludes) == "--flag and --duration exclude each other")
    #expect(usage("--count 1 --duration 1s", excludes) == nil)
    let needs = [OptionRule.needs(Example.count, Example.flag)]
    #expect(usage("--count 1", needs) == "--count needs --flag")
    #expect(usage("--count 1 --flag", needs) == nil && usage("--flag", needs) == nil)
    let needsOne = [OptionRule.needsOne(Example.count, [Example.flag, Example.time])]
    #expect(usage("--count 1", needsOne) == "--count needs --flag or --duration")
    #expect(usage("--count 1 -d 1s", needsOne) == nil && usage("", needsOne) == nil)
  }

  @Test func filesAreNamedWithTheirOption() throws {
    let files = try parse("--out a").files
    #expect(files.map(\.path) == ["a"] && files.map(\.option) == ["--out"] && files.map(\.use) == [.writes])
  }

  @Test(arguments: [
    ("30s", Duration.seconds(30)), ("500ms", .milliseconds(500)), ("1.5", .milliseconds(1500)),
    ("1h", .seconds(3600)), ("30d", .seconds(30 * 86400)), ("0", .zero),
  ])
  func timesHaveUnits(text: String, time: Duration) throws {
    #expect(try parse("--duration \(text)")[Example.time] == time)
  }

  @Test(arguments: ["soon", "-1s", "1w", "forever", "nan", "inf", "1e300", "s", "--"])
  func otherTimesAreRefused(text: String) throws {
    #expect(
      usage("--duration=\(text)") == "--duration wants a time such as 30s, 500ms, 2m or 30d, not \"\(text)\"")
  }

  @Test func parsesForeverAsUnlimited() throws {
    let type = ArgumentType<Duration>.timeOrForever
    #expect(try type.value("forever", of: "--x").asLimit == "until Ctrl-C")
    #expect(try type.value("60s", of: "--x").asLimit == "for 60 s")
    #expect(throws: Failure.self) { try type.value("for ever", of: "--x") }
  }
}
