import ATT
import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

@Suite struct WriteValueTests {
  @Test func aValueIsWritten() {
    #expect(run(WriteValue(0x10, [1, 2]), [Exchange("12 1000 0102", "13")])?.output != nil)
    #expect(run(WriteValue(0x10, []), [Exchange("12 1000", "13")])?.output != nil)
  }

  @Test func aRefusalIsAnError() {
    let ending = run(WriteValue(0x10, [1]), [Exchange("12 1000 01", "01 12 1000 03")])
    #expect(ending?.error == .refused(refusal(0x12, 0x10, 0x03)))
  }
}

@Suite struct QueuedWriteTests {
  private let twenty = String(repeating: "11", count: 18)

  private func write(_ count: Int) -> QueuedWrite {
    QueuedWrite([(handle: 0x10, value: Array(repeating: 0x11, count: count))], mtu: 23)
  }

  @Test func partsAreEchoedThenExecuted() {
    let ending = run(
      write(20),
      [
        Exchange("16 1000 0000" + twenty, "17 1000 0000" + twenty),
        Exchange("16 1000 1200 1111", "17 1000 1200 1111"), Exchange("18 01", "19"),
      ])
    #expect(ending?.output != nil)
  }

  /// The peer exchanges a smaller MTU after the first part: the next ones fit.
  @Test func partsFitIntoAnMTUThatShrinks() {
    var mtus = [33, 23]
    let part = String(repeating: "11", count: 28)
    let ending = run(
      QueuedWrite(
        [(handle: 0x10, value: Array(repeating: 0x11, count: 40))],
        mtu: mtus.count > 1 ? mtus.removeFirst() : mtus[0]),
      [
        Exchange("16 1000 0000" + part, "17 1000 0000" + part),
        Exchange("16 1000 1c00" + twenty.prefix(24), "17 1000 1c00" + twenty.prefix(24)),
        Exchange("18 01", "19"),
      ], mtu: 33)
    #expect(ending?.output != nil)
  }

  @Test func severalValuesGoTogether() {
    let ending = run(
      QueuedWrite([(handle: 0x10, value: [1]), (handle: 0x12, value: [])], mtu: 23),
      [
        Exchange("16 1000 0000 01", "17 1000 0000 01"), Exchange("16 1200 0000", "17 1200 0000"),
        Exchange("18 01", "19"),
      ])
    #expect(ending?.output != nil)
  }

  @Test(arguments: [
    ("handle", "17 1100 0000 1111"), ("offset", "17 1000 0100 1111"), ("bytes", "17 1000 0000 1112"),
    ("length", "17 1000 0000 11"), ("more", "17 1000 0000 111111"),
  ])
  func anEchoThatDiffersCancelsThenFails(_ what: String, _ echo: String) {
    let ending = run(write(2), [Exchange("16 1000 0000 1111", echo), Exchange("18 00", "19")])
    #expect(ending?.isMisbehaviour == true)
  }

  @Test func malformedPrepareWriteResponseCancelsQueue() {
    let ending = run(write(2), [Exchange("16 1000 0000 1111", "17 1000"), Exchange("18 00", "19")])
    #expect(ending?.error?.code == .malformed)
  }

  @Test func aRefusedPartCancelsTheQueue() {
    let ending = run(
      write(20),
      [
        Exchange("16 1000 0000" + twenty, "17 1000 0000" + twenty),
        Exchange("16 1000 1200 1111", "01 16 1000 09"), Exchange("18 00", "19"),
      ])
    #expect(ending?.error == .refused(refusal(0x16, 0x10, 0x09)))
  }

  /// The first reason counts, not what the server thinks of the cancellation.
  @Test func refusedCancellationReportsOriginalError() {
    let ending = run(
      write(2), [Exchange("16 1000 0000 1111", "01 16 1000 03"), Exchange("18 00", "01 18 0000 06")])
    #expect(ending?.error == .refused(refusal(0x16, 0x10, 0x03)))
  }

  /// One that is given up is cancelled, unless it is being executed or cancelled already.
  @Test func aQueueThatIsGivenUpIsCancelledOnce() {
    func text(_ step: GATTStep<Void>) -> String {
      if case .request(let pdu) = step { Hex.string(Array(pdu.bytes)) } else { "over" }
    }
    let part = ATTPreparedWrite(handle: 0x10, offset: 0, value: [0x11])
    var queued = write(1)
    #expect(text(queued.start()) == "161000000011")
    #expect(queued.abandon().map { Hex.string(Array($0.bytes)) } == "1800")
    var executed = write(1)
    _ = executed.start()
    #expect(text(executed.next(.success(ATTPrepareWriteResponse(part)))) == "1801")
    #expect(executed.abandon() == nil)
    var refused = write(1)
    _ = refused.start()
    #expect(text(refused.next(.failure(.refused(refusal(0x16, 0x10, 0x03))))) == "1800")
    #expect(refused.abandon() == nil)
  }

  @Test func aRefusedExecutionIsAnError() {
    let ending = run(
      write(2),
      [Exchange("16 1000 0000 1111", "17 1000 0000 1111"), Exchange("18 01", "01 18 1000 0d")])
    #expect(ending?.error == .refused(refusal(0x18, 0x10, 0x0D)))
  }
}
