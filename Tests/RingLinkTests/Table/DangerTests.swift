import HaloBluetoothCore
import RingLink
import TestSupport
import Testing

struct DangerTests {
  @Test(arguments: [
    "0f", "0f00000000000000000000000000000f", "7c01", "81", "bf", "c66c", "c7", "c9", "ca", "cd", "ce00",
    "bc01", "bc02000000ffff", "bc05", "bc", "0a02000000000000000000000000000c", "0a02",
    "0a0200000000000000000000000000ff",
    "0a0200000000000000000000000000000000",
  ])
  func noValueThatHarmsIsWritten(text: String) {
    #expect(CommandTable.danger(ofWriting: hex(text)) != nil)
  }

  @Test(arguments: [
    "", "03", "a104", "0801", "ff6666", "bc2aff", "bc0600", "0a0200000022", "0a01", "00", "ff",
  ])
  func permitsHarmlessWrites(text: String) {
    #expect(CommandTable.danger(ofWriting: hex(text)) == nil)
  }

  /// Only what the table describes is sent without a question.
  @Test(
    arguments: [
      ("03", nil), ("6901", nil), ("a104", nil), ("1601", nil), ("0204", nil), ("10", nil), ("0a01", nil),
      ("0800", "this restarts the ring or switches it off"),
      ("0801", "this restarts the ring or switches it off"),
      ("0802", "this restarts the ring or switches it off"), ("ff6666", "this erases all data on the ring"),
      ("5401", "this switches the ring's radio off; only its charger switches it on again"),
      ("5402", "no source says what a frame does that begins with 54 02"),
      ("021a", "no source says what a frame does that begins with 02 1a"),
      ("1603", "no source says what a frame does that begins with 16 03"),
      ("55", "no source says what a frame does that begins with 55 00"),
      // A report of the ring is no command.
      ("7801", "no source says what a frame does that begins with 78 01"),
    ] as [(String, String?)])
  func theUserIsAsked(start: String, question: String?) throws {
    #expect(CommandTable.consequence(of: .frame(try frame(start))) == question)
  }

  @Test func theUserIsAskedAboutBulkFrames() {
    #expect(CommandTable.consequence(of: .bulk(0x27, payload: [0xFF, 1])) == nil)
    #expect(
      CommandTable.consequence(of: .bulk(0x60, payload: []))
        == "no source says what a bulk frame of id 0x60 does")
  }

  @Test func dangerousCommandsCiteTheReference() {
    let blocked = CommandTable.all.filter { $0.danger != nil }
    #expect(
      blocked.count == 15 && blocked.allSatisfy { $0.source.hasPrefix("4.16 [") || $0.source == "6.5 [A]" })
    #expect(CommandTable.entries(for: .frame(0x7C)).first?.source == "4.16 [F][S]")
  }

  @Test func closingFramesStopStartedOperations() {
    func closing(_ command: RingCommand, _ second: UInt8, _ third: UInt8 = 0) -> [RingFrame] {
      CommandTable.closing(RingFrame(command, second, third))
    }
    #expect(closing(0xA1, 4) == RawControl.stopSequence)
    #expect(closing(0xA1, 2).isEmpty && closing(0xA1, 5).isEmpty)
    #expect(closing(0x69, 1, 1) == [RingFrame(0x6A, 1)])
    #expect(closing(0x69, 6, 1) == [RingFrame(0x69, 6, 4)])
    #expect(closing(0x1E, 1) == [RingFrame(0x1E, 2)])
    #expect(closing(0x02, 4) == [RingFrame(0x02, 6)])
    #expect(closing(0x77, 1, 7) == [RingFrame(0x77, 4, 7)])
    #expect(closing(0x77, 4, 7).isEmpty && closing(0x03, 0).isEmpty)
  }
}
