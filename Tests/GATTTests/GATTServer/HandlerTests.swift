import ATT
import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

/// Values that a program answers for: at once, later, twice, or not at all.
@Suite struct HandlerTests {
  /// A characteristic at 0x0003 whose reads and writes wait for the test, and a stored one at 0x0005.
  private final class Program {
    var reads: [(Result<[UInt8], ATTErrorCode>) -> Void] = []
    var writes: [(value: [UInt8], reply: (ATTErrorCode?) -> Void)] = []
    let dialogue: ServerDialogue

    init() {
      let database = AttributeDatabase()
      dialogue = ServerDialogue(database)
      database.addService(uuid("180f"))
      database.addCharacteristic(
        uuid("2a19"), [.read, .write, .writeWithoutResponse],
        read: { [weak self] _, reply in
          self?.reads.append(reply)
        },
        write: { [weak self] value, _, reply in self?.writes.append((value, reply)) })
      database.addCharacteristic(uuid("2a1a"), [.read, .write, .notify], value: [5])
    }
  }

  private let program = Program()
  private var dialogue: ServerDialogue { program.dialogue }

  @Test func aReadIsAnsweredLaterAndOnce() {
    #expect(dialogue.ask("0a 0300") == "")
    program.reads[0](.success([1, 2]))
    program.reads[0](.success([3]))
    program.reads[0](.failure(.unlikelyError))
    #expect(dialogue.takeSent() == "0b0102")
    #expect(dialogue.ask("0a 0300") == "")
    program.reads[1](.failure(.valueNotAllowed))
    #expect(dialogue.takeSent() == "010a030013")
  }

  @Test func aWriteIsAnsweredLaterAndOnce() {
    #expect(dialogue.ask("12 0300 aa") == "" && dialogue.takeEvents() == [])
    program.writes[0].reply(nil)
    program.writes[0].reply(.outOfRange)
    #expect(dialogue.takeSent() == "13" && dialogue.takeEvents() == [.written(3, [0xAA])])
    _ = dialogue.ask("12 0300 bb")
    program.writes[1].reply(.outOfRange)
    #expect(dialogue.takeSent() == "01120300ff" && dialogue.takeEvents() == [])
  }

  /// A request arrives before the program has answered a command.
  @Test func aCommandIsTakenWhileARequestWaits() {
    #expect(dialogue.ask("52 0300 aa") == "")
    #expect(dialogue.ask("0a 0300") == "")
    program.writes[0].reply(nil)
    #expect(dialogue.takeEvents() == [.written(3, [0xAA])])
    program.reads[0](.success([1]))
    #expect(dialogue.takeSent() == "0b01")
  }

  @Test func responseCancelsDeadlineTimer() {
    _ = dialogue.ask("0a 0300")
    #expect(dialogue.timers.nextDeadline != nil)
    program.reads[0](.success([1]))
    #expect(dialogue.timers.nextDeadline == nil)
  }

  /// A client gives up after 30 seconds, and uses its link no more; it gets an error before.
  @Test func anAnswerHasADeadline() {
    #expect(dialogue.ask("0a 0300") == "")
    dialogue.timers.advance(by: .milliseconds(24_999))
    #expect(dialogue.takeSent() == "")
    dialogue.timers.advance(by: .milliseconds(1))
    #expect(dialogue.takeSent() == "010a03000e" && dialogue.takeEvents() == [.unanswered(3)])
    // An answer that comes after all is none, also for the next request.
    #expect(dialogue.ask("0a 0300") == "")
    program.reads[0](.success([9]))
    #expect(dialogue.takeSent() == "")
    program.reads[1](.success([1]))
    #expect(dialogue.takeSent() == "0b01")
    dialogue.timers.advance(by: .seconds(60))
    #expect(dialogue.takeSent() == "" && dialogue.takeEvents() == [])
  }

  /// Further requests wait, a bounded number of them; commands and notifications do not.
  @Test func queuesBoundedNumberOfFurtherRequests() {
    _ = dialogue.ask("12 0600 0100")
    #expect(dialogue.ask("0a 0300") == "" && dialogue.ask("0a 0500") == "" && dialogue.ask("3f") == "")
    #expect(dialogue.server.notify([7], of: 5) == .sent && dialogue.takeSent() == "1b050007")
    #expect(dialogue.ask("52 0300 cc") == "" && program.writes.map(\.value) == [[0xCC]])
    program.reads[0](.success([1]))
    #expect(dialogue.takeSent() == "0b01 0b05 013f000006")
    #expect(dialogue.ask("0a 0300") == "")
    for _ in 0..<16 { #expect(dialogue.ask("0a 0500") == "") }
    #expect(dialogue.ask("0a 0500") == "010a000011")
    program.reads[1](.success([1]))
    #expect(dialogue.takeSent().split(separator: " ").count == 17)
  }

  @Test func severalValuesAreAskedForOneAfterTheOther() {
    #expect(dialogue.ask("0e 0300 0500") == "" && program.reads.count == 1)
    program.reads[0](.success([1, 2]))
    #expect(dialogue.takeSent() == "0f010205")
    #expect(dialogue.ask("20 0300 0300") == "")
    program.reads[1](.success([1]))
    program.reads[1](.success([2]))
    program.reads[2](.success([3]))
    #expect(dialogue.takeSent() == "21" + "010001" + "010003")
    #expect(dialogue.ask("08 0100 ffff 192a") == "")
    program.reads[3](.success([4]))
    #expect(dialogue.takeSent() == "0903030004")
    // A value that is computed is not compared.
    #expect(dialogue.ask("06 0100 ffff 192a 04") == "010601000a" && program.reads.count == 4)
  }

  /// The parts of a long value are those of one value, though the program has another one by then (espressif/esp-idf 3102,
  /// apache/mynewt-nimble 1090: the program was asked again for each part, and had to keep the value by itself).
  @Test func aLongReadIsOfOneValue() {
    let long = (0..<50).map { UInt8($0) }
    _ = dialogue.ask("0a 0300")
    program.reads[0](.success(long))
    #expect(dialogue.takeSent() == "0b" + Hex.string(Array(long[..<22])))
    #expect(dialogue.ask("0c 0300 1600") == "0d" + Hex.string(Array(long[22..<44])))
    #expect(dialogue.ask("0c 0300 2c00") == "0d" + Hex.string(Array(long[44...])))
    #expect(program.reads.count == 1)
    // It was read to its end: what is read next is another one, from any offset.
    #expect(dialogue.ask("0c 0300 1600") == "")
    program.reads[1](.success([2]))
    #expect(dialogue.takeSent() == "010c030007")
  }

  /// BlueZ has one queue for the requests of all programs (struct bt_att in src/shared/att.c): what one reads comes between the
  /// parts that another one reads.
  @Test func aReadOfAnotherValueComesBetweenTheParts() {
    let long = (0..<50).map { UInt8($0) }
    _ = dialogue.ask("0a 0300")
    program.reads[0](.success(long))
    _ = dialogue.takeSent()
    #expect(dialogue.ask("0a 0500") == "0b05")
    #expect(dialogue.ask("0c 0300 1600") == "0d" + Hex.string(Array(long[22..<44])))
    #expect(program.reads.count == 1)
  }

  /// A client that reads another part than the next one, as that is what a notification has left out, means the value of now.
  @Test func aPartThatDoesNotFollowIsOfAnotherValue() {
    _ = dialogue.ask("0a 0300")
    program.reads[0](.success(Array(repeating: 1, count: 30)))
    _ = dialogue.takeSent()
    #expect(dialogue.ask("0c 0300 1400") == "")
    program.reads[1](.success(Array(repeating: 2, count: 21)))
    #expect(dialogue.takeSent() == "0d02")
  }

  /// A program gets all parts of a long write as one value, over what it had if they do not begin at its start.
  @Test func aLongWriteIsOneValue() {
    for part in ["16 0300 0000 01", "16 0500 0000 07", "16 0300 0100 02"] { _ = dialogue.ask(part) }
    #expect(dialogue.ask("18 01") == "" && program.writes.map(\.value) == [[1, 2]])
    #expect(dialogue.database.value(of: 5) == [5])
    program.writes[0].reply(.outOfRange)
    // One that is refused keeps the stored ones from being written.
    #expect(dialogue.takeSent() == "01180300ff" && dialogue.database.value(of: 5) == [5])
    _ = dialogue.ask("16 0300 0200 03")
    #expect(dialogue.ask("18 01") == "")
    program.reads[0](.success([1, 2]))
    program.writes[1].reply(nil)
    #expect(program.writes[1].value == [1, 2, 3] && dialogue.takeSent() == "19")
    #expect(dialogue.takeEvents() == [.written(3, [1, 2, 3])])
  }

  @Test func ignoresRepliesAfterDisconnection() {
    _ = dialogue.ask("0a 0300")
    _ = dialogue.ask("0a 0500")
    _ = dialogue.ask("52 0300 01")
    dialogue.unlinked.bearer.close("gone")
    program.reads[0](.success([1]))
    program.writes[0].reply(nil)
    dialogue.timers.advance(by: .seconds(60))
    #expect(dialogue.takeSent() == "" && dialogue.takeEvents() == [])
    #expect(dialogue.timers.nextDeadline == nil)
  }

  /// An attribute that goes while its handler is asked: the client gets an answer all the same.
  @Test func theTableMayChangeMeanwhile() {
    _ = dialogue.ask("08 0100 ffff 192a")
    dialogue.database.removeService(at: 1)
    program.reads[0](.success([1]))
    #expect(dialogue.takeSent() == "0903030001")
    #expect(dialogue.ask("0a 0300") == "010a030001")
  }
}
