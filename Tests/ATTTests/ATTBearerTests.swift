import ATT
import HaloBluetoothCore
import TestSupport
import Testing

/// One request at a time, and who gets which answer.
@Suite struct ATTBearerTransactionTests {
  let dialogue = BearerDialogue()

  @Test func oneRequestAtATime() {
    let first = dialogue.request(ATTReadRequest(0x0010))
    let second = dialogue.request(ATTWriteRequest(0x0011, value: [1]))
    #expect(dialogue.takeSent() == ["0a1000"])
    dialogue.receive("0b aa")
    #expect(first.response == ATTReadResponse([0xAA]))
    #expect(dialogue.takeSent() == ["12110001"])
    #expect(second.results.isEmpty)
    dialogue.receive("13")
    #expect(second.response == ATTWriteResponse())
    #expect(dialogue.takeSent() == [])
  }

  @Test func queuesRequestMadeFromResponseCallback() {
    var order: [String] = []
    dialogue.bearer.request(ATTReadRequest(1)) { _ in
      order.append("first")
      self.dialogue.bearer.request(ATTReadRequest(3)) { _ in order.append("third") }
    }
    dialogue.bearer.request(ATTReadRequest(2)) { _ in order.append("second") }
    for _ in 0..<3 { dialogue.receive("0b") }
    #expect(order == ["first", "second", "third"])
    #expect(dialogue.takeSent() == ["0a0100", "0a0200", "0a0300"])
  }

  @Test func anAnswerWithoutAQuestionIsDropped() {
    dialogue.receive("0b aa")
    dialogue.receive("13")
    dialogue.receive("01 0a 1000 0a")
    #expect(dialogue.bearer.counters.unexpectedResponses == 3)
    let read = dialogue.request(ATTReadRequest(0x0010))
    #expect(read.results.isEmpty)
    dialogue.receive("0b bb")
    #expect(read.response == ATTReadResponse([0xBB]))
  }

  @Test func theSameAnswerTwiceIsTakenOnce() {
    let first = dialogue.request(ATTReadRequest(0x0010))
    dialogue.receive("0b aa")
    dialogue.receive("0b aa")
    #expect(first.results.count == 1)
    #expect(dialogue.bearer.counters.unexpectedResponses == 1)
  }

  /// Both copies come with one read. The second is not the answer to the request that the first has caused.
  @Test func anAnswerOlderThanItsRequestIsDropped() {
    var second: BearerDialogue.Outcome?
    dialogue.bearer.request(ATTReadRequest(1)) { _ in second = self.dialogue.request(ATTReadRequest(2)) }
    dialogue.receive("0b aa", read: 2)
    dialogue.receive("0b aa", read: 2)
    dialogue.receive("01 0a 1000 02", read: 2)
    #expect(
      second?.response == nil && second?.error == nil && dialogue.bearer.counters.unexpectedResponses == 2)
    dialogue.receive("0b bb", read: 3)
    #expect(second?.response == ATTReadResponse([0xBB]))
  }

  // MARK: Error Responses that come late

  private func discovering() -> BearerDialogue.Outcome {
    _ = dialogue.request(ATTReadByTypeRequest(HandleRange(1, 0xFFFF), type: BluetoothUUID(UInt16(0x2803))))
    dialogue.receive("09 07 0100 02 0300 002a")
    let second = dialogue.request(
      ATTReadByTypeRequest(HandleRange(4, 0xFFFF), type: BluetoothUUID(UInt16(0x2803))))
    _ = dialogue.takeSent()
    return second
  }

  /// A peer answers the first request once more, and late (Danielhiversen/pySwitchbot 565, home-assistant/core 181222): the
  /// answer of the second one comes behind it.
  @Test func anErrorForTheRequestBeforeIsDropped() {
    let second = discovering()
    dialogue.receive("01 08 0100 0a")
    #expect(second.results.isEmpty && dialogue.bearer.counters.unexpectedResponses == 1)
    dialogue.timers.advance(by: .milliseconds(300))
    dialogue.receive("09 07 0400 02 0600 012a")
    #expect(second.response is ATTReadByTypeResponse)
    // The next request is not ended by what was kept.
    let third = dialogue.request(ATTReadRequest(6))
    dialogue.timers.advance(by: .seconds(5))
    #expect(third.results.isEmpty)
  }

  /// Some servers name any handle (the SIG's case BV-04-C): nothing else comes, and this was the answer.
  @Test func anErrorThatOnlyLooksLateIsTheAnswer() {
    let second = discovering()
    dialogue.receive("01 08 0100 0a")
    dialogue.timers.advance(by: .seconds(2))
    #expect(
      second.error
        == .refused(ATTErrorResponse(request: .readByTypeRequest, handle: 1, code: .attributeNotFound)))
    // It is known from then on.
    _ = dialogue.request(ATTReadByTypeRequest(HandleRange(5, 0xFFFF), type: BluetoothUUID(UInt16(0x2803))))
    dialogue.receive("09 07 0500 02 0700 012a")
    let third = dialogue.request(
      ATTReadByTypeRequest(HandleRange(8, 0xFFFF), type: BluetoothUUID(UInt16(0x2803))))
    dialogue.receive("01 08 0500 0a")
    #expect(third.error != nil)
  }

  /// The right answer comes nevertheless, later than was waited for: what was found since may not be all, and the link is given
  /// up.
  @Test func anAnswerBehindAnErrorThatWasTakenEndsTheBearer() {
    var timeouts: [StackError] = []
    dialogue.bearer.onTimeout = { timeouts.append($0) }
    let second = discovering()
    dialogue.receive("01 08 0100 0a")
    dialogue.timers.advance(by: .seconds(2))
    #expect(second.error != nil && !dialogue.bearer.isClosed)
    dialogue.receive("09 07 0400 02 0600 012a")
    #expect(dialogue.bearer.isClosed && timeouts == [.timedOut(.readByTypeResponse)])
  }

  @Test(arguments: ["0000", "0400", "0300", "ffff"]) func anErrorWithAnotherHandleIsTheAnswer(
    _ handle: String
  ) {
    let second = discovering()
    dialogue.receive("01 08 " + handle + " 0a")
    #expect(second.error != nil)
  }

  // MARK: Times

  /// The exchange of the MTU is optional. A peer that never answers it (h2zero/NimBLE-Arduino 125, embassy-rs/trouble 619) has
  /// five seconds, not thirty, and the bearer says what was missing.
  @Test func anMTUThatIsNotAnsweredHasFiveSeconds() {
    var results: [Result<Int, StackError>] = []
    var timeouts: [StackError] = []
    dialogue.bearer.onTimeout = { timeouts.append($0) }
    #expect(!dialogue.bearer.lacksMTUAnswer)
    dialogue.bearer.exchangeMTU { results.append($0) }
    dialogue.timers.advance(by: .milliseconds(4999))
    #expect(results.isEmpty && dialogue.bearer.lacksMTUAnswer)
    dialogue.timers.advance(by: .milliseconds(1))
    #expect(
      results == [.failure(.timedOut(.exchangeMTURequest))] && timeouts == [.timedOut(.exchangeMTURequest)])
    #expect(dialogue.bearer.lacksMTUAnswer && dialogue.bearer.isClosed)
  }

  /// The budget of the command is nearly over: a request that is made now has five seconds.
  @Test func noRequestOutlivesTheLimit() {
    dialogue.bearer.limit = .zero + .seconds(12)
    let read = dialogue.request(ATTReadRequest(1))
    dialogue.timers.advance(by: .seconds(10))
    #expect(read.results.isEmpty)
    dialogue.receive("0b")
    let late = dialogue.request(ATTReadRequest(1))
    dialogue.timers.advance(by: .milliseconds(4999))
    #expect(late.results.isEmpty)
    dialogue.timers.advance(by: .milliseconds(1))
    #expect(late.error == .timedOut(.readRequest))
  }

  @Test func anAnswerOfAnotherKindDoesNotEndTheRequest() {
    let read = dialogue.request(ATTReadRequest(0x0010))
    for other in ["13", "0d aa", "0f", "03 1700", "19", "05 01 01000028"] { dialogue.receive(other) }
    #expect(read.results.isEmpty)
    #expect(dialogue.bearer.counters.unexpectedResponses == 6)
    dialogue.receive("0b")
    #expect(read.response == ATTReadResponse([]))
  }

  /// Some servers answer a Write Command (shmuelzon/esp32-ble2mqtt 74). That is no answer to the request after it.
  @Test func theAnswerToACommandIsDropped() throws {
    try dialogue.bearer.writeWithoutResponse(0x0011, [1])
    let read = dialogue.request(ATTReadRequest(0x0010))
    dialogue.receive("13")
    #expect(read.results.isEmpty && dialogue.bearer.counters.unexpectedResponses == 1)
    dialogue.receive("0b 01")
    #expect(read.response == ATTReadResponse([1]))
  }

  /// Some servers count the types of attributes without their handles, and answer with more than the MTU
  /// (Emill/node-ble-host 20): what arrives whole is understood.
  @Test func aResponseLongerThanTheMTUIsUnderstood() {
    let find = dialogue.request(ATTFindInformationRequest(.all))
    dialogue.receive("05 01" + (1...10).map { " \(Hex.string([UInt8($0)]))00 0028" }.joined())
    #expect((find.response as? ATTFindInformationResponse)?.entries.count == 10)
  }

  @Test func anErrorResponseThatNamesAnotherRequestIsDropped() {
    let read = dialogue.request(ATTReadRequest(0x0010))
    dialogue.receive("01 12 1000 03")
    #expect(read.results.isEmpty)
    #expect(dialogue.bearer.counters.unexpectedResponses == 1)
    dialogue.receive("01 0a 1000 02")
    #expect(read.error?.attCode == .readNotPermitted)
  }

  /// Servers often send another handle than the one that was asked for.
  @Test func theHandleInAnErrorResponseIsInformative() {
    let find = dialogue.request(ATTFindInformationRequest(.all))
    dialogue.receive("01 04 0000 0a")
    #expect(find.error?.attCode == .attributeNotFound)
  }

  @Test(arguments: [UInt8(0x00), 0x14, 0x80, 0x9F, 0xA0, 0xFF])
  func anyErrorCodeEndsTheRequest(_ code: UInt8) {
    let read = dialogue.request(ATTReadRequest(0x0010))
    dialogue.receive("01 0a 1000 " + Hex.string([code]))
    #expect(read.error?.attCode?.rawValue == code)
  }

  @Test func aMalformedResponseEndsItsRequestAndNotTheNext() {
    let group = dialogue.request(ATTReadByGroupTypeRequest(.all, type: uuid("2800")))
    let read = dialogue.request(ATTReadRequest(0x0010))
    dialogue.receive("11 06 0100")
    #expect(group.error?.code == .malformed)
    #expect(group.error?.description.hasPrefix("the peer's \(ATTOpcode.readByGroupTypeResponse)") == true)
    dialogue.receive("0b")
    #expect(read.response == ATTReadResponse([]))
  }

  @Test func aMalformedResponseToAnotherRequestDoesNotEndThisOne() {
    let read = dialogue.request(ATTReadRequest(0x0010))
    dialogue.receive("11 00")
    dialogue.receive("01 0a 10")
    #expect(read.results.isEmpty)
    #expect(dialogue.bearer.counters.malformed == 2)
    dialogue.receive("0b")
    #expect(read.results.count == 1)
  }

  @Test func anEmptyPDUIsCountedOnly() {
    let read = dialogue.request(ATTReadRequest(0x0010))
    dialogue.receive("")
    #expect(dialogue.bearer.counters.malformed == 1)
    #expect(read.results.isEmpty)
  }

  @Test func aRequestThatDoesNotFitIsNotSent() {
    let write = dialogue.request(ATTWriteRequest(0x0010, value: Array(repeating: 0, count: 21)))
    let read = dialogue.request(ATTReadRequest(0x0010))
    #expect(write.error == .tooLong(count: 24, maximum: 23))
    #expect(dialogue.takeSent() == ["0a1000"])
    dialogue.receive("0b")
    #expect(read.results.count == 1)
  }

  @Test func sendsWriteCommandDuringRequestUpToTheMTU() throws {
    _ = dialogue.request(ATTReadRequest(0x0010))
    try dialogue.bearer.writeWithoutResponse(0x0011, Array(repeating: 7, count: 20))
    #expect(dialogue.takeSent() == ["0a1000", "521100" + String(repeating: "07", count: 20)])
    #expect(throws: StackError.tooLong(count: 21, maximum: 20)) {
      try dialogue.bearer.writeWithoutResponse(0x0011, Array(repeating: 7, count: 21))
    }
    dialogue.bearer.close("gone")
    #expect(throws: StackError.self) { try dialogue.bearer.writeWithoutResponse(0x0011, []) }
  }
}

/// ATT has no transaction numbers: after a timeout the bearer is finished.
@Suite struct ATTBearerEndTests {
  let dialogue = BearerDialogue()

  @Test func aServerThatDoesNotAnswerFinishesTheBearer() {
    var reported: [StackError] = []
    dialogue.bearer.onTimeout = { reported.append($0) }
    let first = dialogue.request(ATTReadRequest(0x0010))
    let second = dialogue.request(ATTReadRequest(0x0011))
    dialogue.timers.advance(by: .milliseconds(29_999))
    #expect(first.results.isEmpty)
    dialogue.timers.advance(by: .milliseconds(1))
    #expect(first.error == .timedOut(.readRequest))
    #expect(second.error?.code == .closed)
    #expect(reported == [.timedOut(.readRequest)])
    #expect(dialogue.bearer.isClosed)
    #expect(dialogue.takeSent() == ["0a1000"])

    // A late answer is nobody's, and nothing is sent any more: no answer, no confirmation, no request.
    dialogue.receive("0b aa")
    dialogue.receive("1d 1000 aa")
    dialogue.receive("02 1700")
    let late = dialogue.request(ATTReadRequest(0x0012))
    #expect(late.results.count == 1)
    dialogue.bearer.close("gone")
    dialogue.timers.advance(by: .seconds(300))
    #expect(dialogue.takeSent() == [])
    #expect(first.results.count == 1 && second.results.count == 1 && late.results.count == 1)
    #expect(reported.count == 1)
  }

  @Test func theTimeIsCountedFromTheSendingOfTheRequest() {
    let first = dialogue.request(ATTReadRequest(1))
    let second = dialogue.request(ATTReadRequest(2))
    dialogue.timers.advance(by: .seconds(20))
    dialogue.receive("0b")
    dialogue.timers.advance(by: .seconds(20))
    #expect(first.results.count == 1)
    #expect(second.results.isEmpty)
    dialogue.receive("0b")
    #expect(second.response == ATTReadResponse([]))
    dialogue.timers.advance(by: .seconds(100))
    #expect(!dialogue.bearer.isClosed)
  }

  @Test func closingFailsEverythingAtOnceExactlyOnce() {
    var timeouts = 0
    dialogue.bearer.onTimeout = { _ in timeouts += 1 }
    let outcomes = (1...4).map { dialogue.request(ATTReadRequest(AttributeHandle($0))) }
    dialogue.bearer.close("the peer left")
    dialogue.bearer.close("again")
    for outcome in outcomes { #expect(outcome.error == .closed("the peer left")) }
    dialogue.timers.advance(by: .seconds(60))
    #expect(timeouts == 0)
    #expect(outcomes.allSatisfy { $0.results.count == 1 })
    #expect(dialogue.takeSent() == ["0a0100"])
  }

  /// Who hears of the end may try again at once: that fails too, and comes back.
  @Test func aRequestFromWithinTheEndFails() {
    var inner: Result<any ATTPDU, StackError>?
    dialogue.bearer.request(ATTReadRequest(1)) { _ in
      self.dialogue.bearer.request(ATTReadRequest(2)) { inner = $0 }
    }
    dialogue.bearer.close("gone")
    #expect(inner != nil)
  }
}

/// What a server sends of its own accord.
@Suite struct ATTBearerNotificationTests {
  let dialogue = BearerDialogue()

  @Test func aNotificationBetweenRequestAndResponseReachesItsSink() {
    var heard: [String] = []
    dialogue.bearer.onNotification = { handle, value, time in
      heard.append("\(handle) \(Hex.string(Array(value))) \(time.nanoseconds)")
    }
    dialogue.timers.advance(to: Instant(nanoseconds: 77))
    let read = dialogue.request(ATTReadRequest(0x0010))
    dialogue.receive("1b 1200 a103")
    #expect(heard == ["0x0012 a103 77"])
    #expect(read.results.isEmpty)
    dialogue.receive("0b")
    #expect(read.results.count == 1)
    #expect(dialogue.takeSent() == ["0a1000"])
  }

  @Test func strangeNotificationsAreHandedOnOrCounted() {
    var heard: [String] = []
    dialogue.bearer.onNotification = { handle, value, _ in heard.append("\(handle) \(value.byteCount)") }
    dialogue.receive("1b 0000")
    dialogue.receive("1b ffff" + String(repeating: "00", count: 600))
    dialogue.receive("1b")
    dialogue.receive("1b 12")
    #expect(heard == ["0x0000 0", "0xffff 600"])
    #expect(dialogue.bearer.counters.malformed == 2)
    #expect(dialogue.takeSent() == [])
  }

  @Test func anIndicationIsConfirmedOnceWhileARequestIsOpen() {
    var heard: [String] = []
    dialogue.bearer.onIndication = { handle, value, _ in
      heard.append("\(handle) \(Hex.string(Array(value)))")
    }
    let read = dialogue.request(ATTReadRequest(0x0010))
    dialogue.receive("1d 1200 0102")
    #expect(dialogue.takeSent() == ["0a1000", "1e"])
    #expect(heard == ["0x0012 0102"])
    dialogue.receive("0b")
    #expect(read.results.count == 1)
  }

  /// Nobody listens, and the handle is unknown, or zero: confirmed all the same (Vol 3, Part F, 3.4.7.3).
  @Test func everyReadableIndicationIsConfirmed() {
    for bytes in ["1d 3412 aa", "1d 0000", "1d ffff"] { dialogue.receive(bytes) }
    #expect(dialogue.takeSent() == ["1e", "1e", "1e"])
    for bytes in ["1d", "1d 12"] { dialogue.receive(bytes) }
    #expect(dialogue.takeSent() == [])
    #expect(dialogue.bearer.counters.malformed == 2)
  }

  @Test func severalValuesInOneNotificationComeOneByOne() {
    var heard: [String] = []
    dialogue.bearer.onNotification = { handle, value, _ in
      heard.append("\(handle) \(Hex.string(Array(value)))")
    }
    dialogue.receive("23 1000 0200 aabb 1200 0000 1300 0100 cc")
    #expect(heard == ["0x0010 aabb", "0x0012 ", "0x0013 cc"])
    dialogue.receive("23 1000 0300 aabb")
    dialogue.receive("23")
    #expect(heard.count == 3)
    #expect(dialogue.bearer.counters.malformed == 2)
  }
}
