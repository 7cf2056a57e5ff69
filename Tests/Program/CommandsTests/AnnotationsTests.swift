import HaloBluetoothCore
import RingLink
import TestLoop
import Testing

@testable import HaloCommands

/// Marks of people in the records of a command.
@Suite(.onTheLoop) @BluetoothActor struct AnnotationsTests {
  private static let first = BluetoothAddress(0x3035_3841_BEEF, .public)
  private static let second = BluetoothAddress(0x3035_3841_BEF0, .random)

  @Test func aMarkReachesTheRecordsThatAreMeant() {
    let annotations = Annotations(testTimers)
    var taken: [String] = []
    func record(_ ring: BluetoothAddress, name: String?) -> () -> Void {
      annotations.onMark(of: ring, name: name) { text, time in
        taken.append("\(name ?? "-"): \(text) at \(time.nanoseconds)")
      }
    }
    let forget = record(Self.first, name: "R02_BEEF")
    _ = record(Self.second, name: nil)
    let time = Instant(nanoseconds: 7)
    #expect(annotations.add("coffee", to: nil, at: time) == ["R02_BEEF", "30:35:38:41:BE:F0"])
    #expect(annotations.add("stairs", to: Self.second, at: time) == ["30:35:38:41:BE:F0"])
    #expect(annotations.add("nobody", to: BluetoothAddress(1, .public), at: time).isEmpty)
    #expect(annotations.add("two\nlines", to: nil, at: time).isEmpty)
    forget()
    #expect(annotations.add("later", to: nil, at: time) == ["30:35:38:41:BE:F0"])
    #expect(taken == ["R02_BEEF: coffee at 7", "-: coffee at 7", "-: stairs at 7", "-: later at 7"])
  }

  @Test(
    arguments: [
      ("coffee", nil), ("a \\ b, \"c\"", nil), ("Treppe 🪜 hinauf", nil),
      (String(repeating: "ä", count: 200), nil),
      (String(repeating: "x", count: 201), "this one has 201"), ("", "empty"), (" \u{a0}", "empty"),
      ("a\u{0}", "control"), ("\u{1b}[31m", "control"), ("a\tb", "control"), ("a\u{202e}b", "control"),
    ] as [(String, String?)])
  nonisolated func aMarkIsOneLineOfVisibleText(text: String, fault: String?) {
    let found = Annotations.fault(of: text)
    #expect((found == nil) == (fault == nil) && found?.contains(fault ?? "") ?? true, "\(found ?? "none")")
  }

  @Test func aRequestIsReadAsItWasSent() throws {
    let longest = String(repeating: "\u{10FFFD}", count: Annotations.longest)
    for (text, ring, name) in [
      ("coffee", nil, nil), (longest, .name("R02_BEEF"), "R02_BEEF"),
      ("x", .address(Self.second.value, .random), "30:35:38:41:BE:F0"),
    ] as [(String, RingSelector?, String?)] {
      let bytes = MarkRequest(text, ring: ring, at: Instant(nanoseconds: 12_345)).bytes
      let request = try #require(MarkRequest(bytes))
      #expect(request.text == text && request.ring == name && request.time.nanoseconds == 12_345)
      #expect(bytes.count <= MarkRequest.longest)
    }
    for bytes in ["", "{}", "[]", "7", "{\"text\":7,\"monotonic_ns\":1}", "{\"text\":\"x\"}"] {
      #expect(MarkRequest(Array(bytes.utf8)) == nil)
    }
    #expect(MarkRequest([0x22, 0xFF]) == nil)
  }
}
