import ATT
import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

/// Values that a program has: it gets what clients send, with the offsets.
@Suite struct LongValueHandlerTests {
  /// Two values of the program at 0x0003 and 0x0005, one of another program at 0x0007, and a stored one at 0x0009.
  private final class Program {
    var reads: [(offset: Int, reply: (Result<[UInt8], ATTErrorCode>) -> Void)] = []
    var writes: [(parts: String, reply: ((ATTErrorCode?) -> Void)?)] = []
    var others: [String] = []
    var otherRefusal: ATTErrorCode?
    let dialogue: ServerDialogue

    init() {
      let database = AttributeDatabase()
      dialogue = ServerDialogue(database)
      database.addService(uuid("ff00"))
      let all: CharacteristicProperties = [.read, .write, .writeWithoutResponse]
      let values = (0..<4).map { database.addCharacteristic(uuid("ff0\($0 + 1)"), all, value: [7]) }
      let ours = LongValueHandler(
        read: { [unowned self] in reads.append(($1, $3)) },
        write: { [unowned self] in writes.append((Self.text($0), $2)) })
      database.setHandler(of: values[0], ours)
      database.setHandler(of: values[1], ours)
      database.setHandler(
        of: values[2],
        LongValueHandler(
          read: { $3(.success([UInt8($1)])) },
          write: { [unowned self] in
            others.append(Self.text($0))
            $2?(otherRefusal)
          }))
    }

    /// Parts as `3@0 0102`.
    private static func text(_ parts: [ATTPreparedWrite]) -> String {
      parts.map { "\($0.handle.rawValue)@\($0.offset) \(Hex.string($0.value))" }.joined(separator: ", ")
    }
  }

  private let program = Program()
  private var dialogue: ServerDialogue { program.dialogue }

  @Test func aReadHasItsOffsetAndIsCut() {
    let dialogue = self.dialogue.exchanged(23)
    #expect(dialogue.ask("0a 0300") == "" && program.reads[0].offset == 0)
    program.reads[0].reply(.success([UInt8](repeating: 1, count: 30)))
    #expect(dialogue.takeSent() == "0b" + String(repeating: "01", count: 22))
    #expect(dialogue.ask("0c 0300 1600") == "" && program.reads[1].offset == 22)
    program.reads[1].reply(.success([1, 2]))
    program.reads[1].reply(.success([3]))
    #expect(dialogue.takeSent() == "0d0102")
    _ = dialogue.ask("0c 0300 ff00")
    program.reads[2].reply(.failure(.invalidOffset))
    #expect(dialogue.takeSent() == "010c030007")
  }

  @Test func aReadOfSeveralAsksForEach() {
    #expect(dialogue.ask("0e 0700 0300") == "" && program.reads[0].offset == 0)
    program.reads[0].reply(.success([5]))
    #expect(dialogue.takeSent() == "0f0005")
  }

  @Test func aWriteIsOnePart() {
    #expect(dialogue.ask("12 0300 aabb") == "")
    #expect(program.writes.map(\.parts) == ["3@0 aabb"])
    program.writes[0].reply?(nil)
    #expect(dialogue.takeSent() == "13" && dialogue.database.value(of: 3) == [7])
  }

  @Test func aCommandHasNoAnswer() {
    #expect(dialogue.ask("52 0300 aa") == "")
    #expect(program.writes.map(\.parts) == ["3@0 aa"] && program.writes[0].reply == nil)
    #expect(dialogue.ask("12 0900 01") == "13")
  }

  /// Each program gets its parts in the order in which the client sent them (3.4.6.3), also where those of two attributes
  /// alternate. All or nothing: what is stored is stored when both programs have accepted theirs.
  @Test func thePartsOfAnExecuteComeAsOne() {
    for part in [
      "16 0300 0000 aabb", "16 0900 0000 01", "16 0500 0400 cc", "16 0300 0200 dd", "16 0700 0000 ee",
    ] {
      #expect(dialogue.ask(part).hasPrefix("17"))
    }
    #expect(dialogue.ask("18 01") == "")
    #expect(program.writes.map(\.parts) == ["3@0 aabb, 5@4 cc, 3@2 dd"] && program.others == [])
    program.otherRefusal = .outOfRange
    program.writes[0].reply?(nil)
    #expect(program.others == ["7@0 ee"] && dialogue.takeSent() == "01180700ff")
    #expect(dialogue.database.value(of: 9) == [7])

    program.otherRefusal = nil
    for part in ["16 0700 0000 ee", "16 0900 0000 01"] { _ = dialogue.ask(part) }
    #expect(dialogue.ask("18 01") == "19" && dialogue.database.value(of: 9) == [1])
  }

  /// zephyrproject-rtos/zephyr, exec_write_reassemble in att.c: parts of one value that begin at its start again are another
  /// write of it, and not the end of the first one.
  @Test func aValueThatIsWrittenTwiceComesTwice() {
    for part in ["16 0300 0000 aa", "16 0500 0000 bb", "16 0300 0000 cc", "16 0500 0100 dd"] {
      #expect(dialogue.ask(part).hasPrefix("17"))
    }
    #expect(dialogue.ask("18 01") == "")
    #expect(program.writes.map(\.parts) == ["3@0 aa, 5@0 bb, 3@0 cc, 5@1 dd"])
  }

  @Test func aProgramRefusesAllParts() {
    for part in ["16 0300 0000 aabb", "16 0900 0000 01"] { _ = dialogue.ask(part) }
    #expect(dialogue.ask("18 01") == "")
    program.writes[0].reply?(.valueNotAllowed)
    #expect(dialogue.takeSent() == "0118030013" && dialogue.database.value(of: 9) == [7])
  }

  @Test func aPartBehindTheCapacityIsRefused() {
    _ = dialogue.ask("16 0300 ff01 aabb")
    #expect(dialogue.ask("18 01") == "011803000d" && program.writes.isEmpty)
  }

  @Test func permissionsAreThoseThatWereSetLast() {
    dialogue.database.setPermissions(of: 9, .read, readSecurity: .encrypted)
    #expect(dialogue.ask("0a 0900") == "010a090005" && dialogue.ask("12 0900 01") == "0112090003")
    dialogue.database.setPermissions(of: 9, .write, writeSecurity: .encrypted)
    #expect(dialogue.ask("0a 0900") == "010a090002" && dialogue.ask("12 0900 01") == "0112090005")
    dialogue.server.security = LinkSecurity(isEncrypted: true)
    #expect(dialogue.ask("12 0900 01") == "13")
  }

  @Test func reportsExchangedMTU() {
    var told: [Int] = []
    dialogue.server.onMTU = { told.append($0) }
    #expect(dialogue.exchanged(100).server.mtu == 100 && told == [100])
  }
}
