import ATT
import HaloGATT
import HaloBluetoothCore
import HaloCommandLine
import Testing

@testable import HaloCommands

/// The lines of `connect`. bluetoothctl's and gatttool's users write handles and UUIDs, with and without 0x.
@Suite struct SessionLineTests {
  private func line(_ text: String) throws -> SessionLine? { try SessionLine(text) }

  private let battery = AttributeChoice.uuid(BluetoothUUID(0x2A19 as UInt16))
  private let handle = AttributeChoice.handle(AttributeHandle(0x12))

  @Test func ignoresEmptyLinesAndComments() throws {
    for text in ["", "  \t", "# read 2A19", "  # x"] { #expect(try line(text) == nil) }
  }

  @Test func attributesAreHandlesOrUUIDs() throws {
    #expect(try line("read 2A19") == .read(battery))
    #expect(try line("  read\t0x0012 ") == .read(handle))
    #expect(try line("read 18") == .read(handle))
    for text in ["read", "read 2A19 2A1A", "read xyz", "read 0x0", "read 0x10000"] {
      #expect(throws: Failure.self, "\(text)") { try line(text) }
    }
  }

  @Test func valuesAreDigitsOrText() throws {
    #expect(try line("write 0x0012 01 00") == .write(handle, [1, 0], isWithoutResponse: false))
    #expect(try line("command 0x0012 0100") == .write(handle, [1, 0], isWithoutResponse: true))
    #expect(try line("write --without-response 0x0012 01") == .write(handle, [1], isWithoutResponse: true))
    #expect(
      try line("write 0x0012 --text two  words")
        == .write(handle, Array("two  words".utf8), isWithoutResponse: false))
    for text in [
      "write", "write 0x0012", "write 0x0012 1", "write 0x0012 zz",
      "write 0x0012 \(String(repeating: "00", count: 513))",
    ] {
      #expect(throws: Failure.self, "\(text)") { try line(text) }
    }
  }

  @Test func subscriptionsMayAskForIndications() throws {
    #expect(try line("subscribe 2A19") == .subscribe(battery, nil))
    #expect(try line("subscribe 2A19 --indicate") == .subscribe(battery, .indication))
    #expect(try line("unsubscribe 2A19") == .unsubscribe(battery))
  }

  @Test func waitTakesATimeOrAnAttribute() throws {
    #expect(try line("wait 500ms") == .pause(.milliseconds(500)))
    #expect(try line("wait 2s") == .pause(.seconds(2)))
    #expect(try line("wait 2A19") == .await(battery, .seconds(10)))
    #expect(try line("wait 0x0012 3s") == .await(handle, .seconds(3)))
    for text in ["wait", "wait soon", "wait 2A19 soon", "wait 2A19 1s 2s"] {
      #expect(throws: Failure.self, "\(text)") { try line(text) }
    }
  }

  @Test func framesOfARingHaveNames() throws {
    #expect(try line("send battery") == .send([0x03], isConfirmed: false))
    #expect(try line("send 03") == .send([0x03], isConfirmed: false))
    #expect(try line("send a1 04 --yes") == .send([0xA1, 0x04], isConfirmed: true))
    #expect(throws: Failure.self) { try line("send") }
    #expect(throws: Failure.self) { try line("send batery") }
  }

  /// A frame of zeros would set the clock to a day that does not exist.
  @Test func aFrameWithValuesIsNotSentByItsNameAlone() {
    #expect(throws: Failure.self) { try line("send set-time") }
  }

  @Test func everyNamedFrameIsOneOfItsCommand() throws {
    var sent = 0
    for name in RingFrames.names {
      guard let bytes = try? RingFrames.request(named: name) else { continue }
      #expect(bytes.count <= 15, "\(name)")
      sent += 1
    }
    #expect(sent > 10)
  }

  @Test(arguments: ["", "read 2A19", "send", "wait", "\u{0}", "write 0x1 --text \u{FF}"])
  func parsesArbitraryWordsWithoutCrashing(_ start: String) {
    for word in ["", "é", "0x", "--", "--text", "--yes", String(repeating: "9", count: 2000)] {
      _ = try? SessionLine("\(start) \(word)")
      _ = try? SessionLine("\(start)\(word)")
    }
  }
}
