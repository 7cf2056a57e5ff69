import HaloBluetoothCore
import TestLoop
import TestSupport
import Testing

@testable import RingLink

/// Settings of a ring, read and changed field by field: what is written, and what the ring has afterwards (ring
/// reference, 4.7).
@BluetoothActor
@Suite(.onTheLoop) struct RingSettingTests {
  private let device = ScriptedRing()
  private let touch = CommandTable.touch

  /// The device has a value of the setting, and takes what is written unless it keeps its own.
  private func store(_ start: String, keeps: Bool = false) throws {
    var stored = try frame(start)
    let touch = self.touch
    device.answer = { request in
      if request == touch.readRequest { return [stored] }
      guard touch.isWriteReply(request) else { return [] }
      if !keeps, let reply = try? touch.reply(afterWrite: request) { stored = reply }
      return [touch.acknowledgement]
    }
  }

  @Test func aFieldIsChangedAndTheOthersStay() async throws {
    let ring = try await device.open()
    try store("3b0100 03 09 01")
    let value = try await ring.change(touch, ["sensitivity": 10])
    #expect(value["mode"] == 3 && value["sensitivity"] == 10 && value["sleep"] == 1)
    #expect(device.takeAsked() == ["3b01", "3b0200030a01", "3b01"])
    #expect(try await ring.numbers(of: touch) == value)
    #expect(try await ring.numbers(of: touch) == ["mode": 3, "sensitivity": 10, "sleep": 1])
    #expect(try await ring.change(touch, ["sleep": 0])["sleep"] == 0)
    #expect(device.takeAsked().contains("3b0200030a"))
  }

  /// A ring that tells nothing gets the usual values.
  @Test func aSilentSettingHasTheUsualValues() async throws {
    let ring = try await device.open()
    try store("3b0100")
    let value = try await ring.change(touch, ["mode": 4])
    #expect(value["mode"] == 4 && value["sensitivity"] == 1)
    #expect(device.takeAsked() == ["3b01", "3b02000401", "3b01"])
  }

  /// Acknowledged, and not taken: only what was changed is missed.
  @Test func aValueThatIsNotTakenIsNamed() async throws {
    let ring = try await device.open()
    try store("3b0100 03 09 01", keeps: true)
    let (error, _) = await failure { () throws(RingError) in
      _ = try await ring.change(CommandTable.touch, ["sensitivity": 10, "sleep": 0])
    }
    #expect(error == .notTaken(.frame(0x3B), ["touch sensitivity, sleep"]))
    let same = try await ring.change(touch, ["sensitivity": 9])
    #expect(same["sensitivity"] == 9)
  }

  @Test func aNumberOutOfRangeIsNotSent() async throws {
    let ring = try await device.open()
    try store("3b0100 03 09 01")
    let (error, _) = await failure { () throws(RingError) in
      _ = try await ring.change(CommandTable.touch, ["sensitivity": 31])
    }
    let field = try touch.field("sensitivity")
    #expect(error == .invalidSetting(.value("31", field)))
    #expect(device.takeAsked() == ["3b01"])
    let (unknown, _) = await failure { () throws(RingError) in
      _ = try await ring.change(CommandTable.touch, ["x": 1])
    }
    #expect(
      unknown == .invalidSetting(.unknownField("x", setting: "touch", has: ["mode", "sensitivity", "sleep"])))
  }

  /// The answer to a write is not the answer to a read, and the other way round.
  @Test func distinguishesReadAndWriteReplies() async throws {
    let ring = try await device.open()
    let touch = self.touch
    device.answer = { request in
      let value = RingFrame(0x3B, 1, 0, 5)
      return request == touch.readRequest ? [touch.acknowledgement, value] : [value, touch.acknowledgement]
    }
    let value = touch.defaults.merging(["mode": 5]) { $1 }
    #expect(try await ring.write(value, to: touch)["mode"] == 5)
    #expect(device.takeAsked() == ["3b02000501", "3b01"])
  }

  @Test func aSettingMayBeMissing() async throws {
    let ring = try await device.open()
    #expect(try await ring.numbersIfSupported(touch) == nil)
    device.answer = { RingFrame.refusal(of: $0.command).map { [$0] } ?? [] }
    #expect(try await ring.numbersIfSupported(touch) == nil)
    #expect(device.takeAsked() == ["3b01", "3b01"])
    let all = ["1601", "2c01", "3601", "3801", "3a0301"]
    #expect(try await ring.measurementSettings().isEmpty)
    #expect(device.takeAsked() == all)
    #expect(try await ring.automaticMeasurements().isEmpty)
    #expect(device.takeAsked() == all)
    device.link.lose(.remote(.connectionTimeout))
    let (error, _) = await failure { () throws(RingError) in
      _ = try await ring.numbersIfSupported(CommandTable.touch)
    }
    guard case .disconnected = error else {
      Issue.record("\(error.map { "\($0)" } ?? "no error")")
      return
    }
  }
}
