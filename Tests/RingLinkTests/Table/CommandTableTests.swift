import TestSupport
import Testing

@testable import RingLink

struct CommandTableTests {
  @Test func everyEntryOfAGroupIsListed() {
    for group in CommandTable.groups {
      let declared = Mirror(reflecting: group).children.flatMap { child -> [CommandEntry] in
        (child.value as? any CommandRow).map { [$0.entry] } ?? child.value as? [CommandEntry] ?? []
      }
      #expect(group.entries == declared, "\(type(of: group))")
    }
  }

  @Test func noTwoEntriesMeanTheSameFrames() {
    var seen: Set<String> = []
    for entry in CommandTable.all {
      for (direction, forms) in [("to", entry.requests), ("from", entry.replies)] where entry.danger == nil {
        for form in forms {
          let marks = form.marks.map { "\($0.offset)=\($0.byte)" }.joined(separator: " ")
          let key = "\(entry.subject) \(direction) \(marks)"
          if entry.shape != .multiFrame, entry.group != .actions, entry.group != .events {
            #expect(seen.insert(key).inserted, "\(entry.name): \(key)")
          }
        }
      }
    }
  }

  @Test func everyFieldLiesInsideOfTheFrame() {
    for entry in CommandTable.all {
      for field in (entry.requests + entry.replies).flatMap(\.fields) {
        #expect(field.range.lowerBound >= 1 && field.range.upperBound <= 15, "\(entry.name) \(field.name)")
      }
    }
  }

  /// What a setting writes is what it reads afterwards, whatever the numbers are.
  @Test func settingsSurviveTheirFrames() throws {
    for setting in CommandTable.settings {
      var numbers: [String: Int] = [:]
      for (index, field) in setting.fields.enumerated() {
        if case .flag = field.form { numbers[field.name] = 1 } else { numbers[field.name] = index + 1 }
      }
      let request = try setting.writeRequest(numbers)
      #expect(setting.isWriteReply(setting.acknowledgement))
      let reply = try setting.reply(afterWrite: request)
      #expect(setting.isReadReply(reply), "\(setting.entry.name)")
      #expect(try setting.numbers(in: reply) == numbers, "\(setting.entry.name)")
    }
  }

  @Test func dangerousFramesAreKnown() throws {
    for byte: UInt8 in [0x0F, 0x7C, 0x81, 0xBF, 0xC6, 0xC7, 0xC9, 0xCA, 0xCD, 0xCE] {
      #expect(CommandTable.danger(of: RingFrame(RingCommand(rawValue: byte))) != nil)
    }
    #expect(
      CommandTable.danger(of: try RingFrame(0x0A, payload: [2]))
        == "overwrites the wearer's profile with zeros")
    #expect(CommandTable.danger(of: try RingFrame(0x0A, payload: hex("020000001baf3c785a"))) == nil)
    #expect(CommandTable.danger(of: RingFrame(0x0A, 1)) == nil)
    #expect(CommandTable.danger(of: CommandTable.battery.request()) == nil)
  }
}
