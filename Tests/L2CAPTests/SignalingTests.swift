import HCI
import HaloBluetoothCore
import TestSupport
import Testing

@testable import L2CAP

@Suite struct SignalingTests {
  private func answer(_ frame: String, _ policy: ParameterPolicy = .accept) -> SignalingResponder.Answer {
    SignalingResponder.answer(to: hex(frame).span.bytes, as: .central) { policy == .accept && $0.isLegal }
  }

  private func reply(_ frame: String, _ policy: ParameterPolicy = .accept) -> String? {
    answer(frame, policy).reply.map { packet in
      var writer = ByteWriter()
      packet.write(into: &writer)
      return Hex.string(writer.bytes)
    }
  }

  /// 15 to 30 ms, latency 4, 5 s.
  private let request = "12 05 0800 0c00 1800 0400 f401"

  @Test func aLegalUpdateIsAcceptedAndCarriedOut() {
    let answer = answer(request)
    #expect(reply(request) == "130502000000")
    #expect(answer.isAccepted)
    #expect(answer.request?.intervalMin.rawValue == 12)
    #expect(answer.request?.intervalMax.rawValue == 24)
    #expect(answer.request?.latency == 4)
    #expect(answer.request?.supervisionTimeout.rawValue == 500)
  }

  /// A central has to use LE Connection Update; its command is rejected as one that is not understood (4.20).
  @Test func aPeripheralRejectsTheRequestOfACentral() {
    let answer = SignalingResponder.answer(to: hex(request).span.bytes, as: .peripheral) { _ in true }
    var writer = ByteWriter()
    answer.reply?.write(into: &writer)
    #expect(Hex.string(writer.bytes) == "010502000000")
    #expect(!answer.isAccepted && answer.request == nil)
  }

  @Test func keepPolicyRejectsParameterUpdate() {
    let answer = answer(request, .keep)
    #expect(reply(request, .keep) == "130502000100")
    #expect(!answer.isAccepted)
    #expect(answer.request?.latency == 4)
  }

  @Test(arguments: [
    ("interval too short", "12 05 0800 0500 1800 0000 f401"),
    ("interval too long", "12 05 0800 0c00 810c 0000 800c"),
    ("upside down", "12 05 0800 1800 0c00 0000 f401"),
    ("latency", "12 05 0800 0600 0600 f401 800c"),
    ("timeout too short", "12 05 0800 0600 0600 0000 0900"),
    ("timeout too long", "12 05 0800 0600 0600 0000 810c"),
    ("timeout below what the peripheral sleeps", "12 05 0800 0c00 1800 6300 0a00"),
    ("all ones", "12 05 0800 ffff ffff ffff ffff"),
    ("all zero", "12 05 0800 0000 0000 0000 0000"),
  ])
  func illegalParametersAreRejectedAndNotPassedOn(_ what: String, _ frame: String) {
    #expect(reply(frame) == "130502000100")
    #expect(!answer(frame).isAccepted)
  }

  @Test(arguments: [
    ("7f 06 0100 aa", "010602000000"),
    ("14 07 0a00 8000 4000 1700 1700 0a00", "010702000000"),
    ("17 08 0000", "010802000000"), ("06 09 0300 4000 41", "010902000000"),
    ("0a 0b 0200 0200", "010b02000000"), ("00 01 0000", "010102000000"),
  ])
  func unknownCommandsAreRejectedUnderTheirIdentifier(_ frame: String, _ expected: String) {
    #expect(reply(frame) == expected)
  }

  /// Reason 2, invalid CID: the channel that is to end does not exist (4.1, 4.6).
  @Test func theEndOfAnUnknownChannelIsRejectedWithItsIdentifiers() {
    #expect(reply("06 09 0400 4000 4100") == "010906000200" + "40004100")
    #expect(reply("06 09 0400 0500 0000") == "010906000200" + "05000000")
  }

  /// Reason 1, MTU exceeded: a frame is longer than the signalling MTU of an LE link, 23 bytes (4.1).
  @Test func aFrameThatIsTooLongIsRejectedWithTheMTU() {
    let data = String(repeating: "00", count: 20)
    #expect(reply("17 08 1400" + data) == "010804000100" + "1700")
    #expect(reply("7f 08 ff00" + data) == "010804000100" + "1700")
    #expect(reply("17 08 1300" + data.dropLast(2)) == "010802000000")
    #expect(answer("18 08 1400" + data) == SignalingResponder.Answer())
    #expect(answer("17 00 1400" + data) == SignalingResponder.Answer())
  }

  @Test(arguments: ["7f 00 0000", "12 00 0800 0c00 1800 0400 f401", "7f 00 0500"])
  func identifierZeroIsNotAnswered(_ frame: String) {
    #expect(answer(frame) == SignalingResponder.Answer())
  }

  /// Else two devices could reject each other for ever.
  @Test(arguments: [
    "01 05 0200 0000", "13 05 0200 0000", "07 05 0400 4000 4100", "15 05 0a00 00000000000000000000",
    "16 05 0400 40000a00", "18 05 0000", "1a 05 0200 0000", "01 05 ffff", "13 05",
    "03 05 0800 4000 4100 0000 0000", "05 05 0600 4000 0000 0000", "09 05 0000", "0b 05 0400 0200 0100",
  ])
  func answersAreNotAnswered(_ frame: String) {
    #expect(answer(frame) == SignalingResponder.Answer())
  }

  @Test(arguments: [
    // Length above, below and without the data; a request of the wrong size.
    "12 05 0900 0c00 1800 0400 f401", "12 05 0700 0c00 1800 0400 f401", "12 05", "12 05 08", "12 05 ffff",
    "12 05 0600 0c00 1800 0400", "12 05 0a00 0c00 1800 0400 f401 0000", "7f 05 0200 aa",
  ])
  func badLengthsAreRejected(_ frame: String) {
    #expect(reply(frame) == "010502000000")
    #expect(answer(frame).request == nil)
  }

  @Test(arguments: ["", "12", "7f"]) func doesNotAnswerFrameWithoutIdentifier(_ frame: String) {
    #expect(answer(frame) == SignalingResponder.Answer())
  }

  @Test func decodesDamagedSignalsWithoutCrashing() {
    for frame in [request, "7f 06 0100 aa", "01 05 0200 0000"] {
      checkDecoderIsTotal(hex(frame)) { bytes in
        for role in [LERole.central, .peripheral] {
          let answer = SignalingResponder.answer(to: bytes.span.bytes, as: role) { $0.isLegal }
          #expect(answer.reply?.identifier != 0)
          if answer.isAccepted { #expect(answer.request?.isLegal == true) }
        }
      }
    }
  }

  @Test func parameterUpdateRequestRoundTrips() throws {
    let data = hex("0c00 1800 0400 f401")
    let request = try data.withReader { reader throws(DecodeError) in
      try ConnectionParameterUpdateRequest(parsing: &reader)
    }
    #expect(request.encoded() == data)
  }
}
