import ATT
import Testing

@testable import HaloCommandLine

@testable import HaloCommands

/// What every command declares.
@Suite struct CommandTests {
  @Test func entriesHaveTheNamesOfTheirCommands() {
    let entries = Commands.entries.flatMap(\.commands)
    #expect(entries.map(\.name) == entries.map(\.spec.name))
  }

  static let commands = Commands.groups.flatMap(\.commands)

  @Test(arguments: commands.map(\.name))
  func optionsAreDeclaredOnce(name: String) throws {
    let command = try Commands.named(name)
    let names = command.allOptions.flatMap(\.spec.names)
    #expect(Set(names).count == names.count)
    for option in command.allOptions { #expect(!option.spec.help.isEmpty) }
  }

  @Test(arguments: commands.map(\.name))
  func helpFitsOn80Columns(name: String) throws {
    let help = HelpPage(try Commands.named(name)).text
    #expect(help.split(separator: "\n").filter { $0.count > 80 } == [])
  }

  @Test func theOverviewAndTheTopicsFitOn80Columns() {
    for page in [HelpPage.overview(Commands.groups)] + HelpTopic.allCases.map(\.page) {
      #expect(page.text.split(separator: "\n").filter { $0.count > 80 } == [])
    }
  }

  /// Else one before the command could not be told from its value.
  @Test func optionsOfOneNameTakeValuesAlike() {
    var takesValue: [String: Bool] = [:]
    for spec in Self.commands.flatMap(\.allOptions).map(\.spec) {
      for name in spec.names {
        let takes = spec.placeholder != nil && !spec.isValueOptional
        #expect(takesValue[name] ?? takes == takes, "\(name)")
        takesValue[name] = takes
      }
    }
  }

  @Test func noTopicHasTheNameOfACommand() {
    #expect(Set(HelpTopic.allCases.map(\.rawValue)).isDisjoint(with: Self.commands.map(\.name)))
  }

  @Test(arguments: commands.map(\.name))
  func theOptionsOfTheHelpComeFirst(name: String) throws {
    let command = try Commands.named(name)
    let titles = HelpPage(command).text.split(separator: "\n").filter {
      ["Options", "Examples", "Example"].contains($0)
    }
    #expect(titles.first == "Options" && titles.count == 2)
    for option in CommonOptions.ofLinks where !command.opensLinks && !["scan", "doctor"].contains(name) {
      #expect(!command.allOptions.contains { $0.spec.name == option.spec.name })
    }
  }

  @Test func aCommandIsFoundByItsWholeName() throws {
    #expect(try Commands.named("stream").name == "stream")
    #expect(throws: Failure.self) { try Commands.named("steam") }
  }

  @Test func replayedCommandKeepsItsOptions() throws {
    let line = ["file.btsnoop", "stream", "--count", "5", "--lenient"]
    let invocation = try Invocation(parsing: line, for: try Commands.named("replay"))
    #expect(invocation.positionals == line)
  }

  @Test func handlesAreDecimalOrHexadecimal() throws {
    let type = ArgumentType<AttributeHandle>.handle
    #expect(try type.value("0x0012", of: "--handle") == 0x12)
    #expect(try type.value("18", of: "--handle") == 0x12)
    for text in ["0", "0x10000", "-1", "65536", "x"] {
      #expect(throws: Failure.self) { try type.value(text, of: "--handle") }
    }
  }
}
