import ATT
import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

@Suite struct ReadValueTests {
  private func bytes(_ count: Int) -> String { String(repeating: "aa", count: count) }

  @Test(arguments: [0, 1, 21]) func shortValuesTakeOneRequest(_ count: Int) {
    let ending = run(ReadValue(0x10, mtu: 23), [Exchange("0a 1000", "0b" + bytes(count))])
    #expect(ending?.output == Array(repeating: 0xAA, count: count))
  }

  @Test func longValuesAreReadOn() {
    let ending = run(
      ReadValue(0x10, mtu: 23),
      [
        Exchange("0a 1000", "0b" + bytes(22)), Exchange("0c 1000 1600", "0d" + bytes(22)),
        Exchange("0c 1000 2c00", "0d" + bytes(3)),
      ])
    #expect(ending?.output?.count == 47)
  }

  /// The value is exactly as long as what has been read: four ways of saying so. A small server has no Read Blob.
  @Test(arguments: ["0d", "01 0c 1000 07", "01 0c 1000 0b", "01 0c 1000 06"])
  func anExactFitEnds(_ answer: String) {
    let ending = run(
      ReadValue(0x10, mtu: 23), [Exchange("0a 1000", "0b" + bytes(22)), Exchange("0c 1000 1600", answer)])
    #expect(ending?.output?.count == 22)
  }

  /// The peer has exchanged a larger MTU after the first part: what comes then fills more than the old one.
  @Test(arguments: [("0d", 122), ("0d" + "aabb", 124), ("01 0c 1000 07", 122)])
  func readsWholeValueWhenMTUGrowsDuringRead(_ last: String, _ count: Int) {
    let ending = run(
      ReadValue(0x10, mtu: 23),
      [
        Exchange("0a 1000", "0b" + bytes(22)), Exchange("0c 1000 1600", "0d" + bytes(100)),
        Exchange("0c 1000 7a00", last),
      ])
    #expect(ending?.output?.count == count)
  }

  /// The peer exchanges a smaller MTU during the read of 300 bytes: a part that fills it is not the last one.
  @Test func readsWholeValueWhenMTUShrinksDuringRead() {
    let mtus = [100, 100, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50, 50]
    var count = 0
    func mtu() -> Int {
      defer { count += 1 }
      return mtus[min(count, mtus.count - 1)]
    }
    var exchanges = [Exchange("0a 1000", "0b" + bytes(99))]
    for (offset, length) in [(99, 49), (148, 49), (197, 49), (246, 49), (295, 5)] {
      exchanges.append(
        Exchange("0c 1000 " + Hex.string([UInt8(offset & 0xFF), UInt8(offset >> 8)]), "0d" + bytes(length)))
    }
    #expect(run(ReadValue(0x10, mtu: mtu()), exchanges, mtu: 100)?.output?.count == 300)
  }

  @Test func attributeNotLongAtTheBeginningIsAnError() {
    let ending = run(ReadValue(0x10, mtu: 23), [Exchange("0a 1000", "01 0a 1000 0b")])
    #expect(ending?.error == .refused(refusal(0x0A, 0x10, 0x0B)))
  }

  @Test func otherErrorsHalfWayAreErrors() {
    let ending = run(
      ReadValue(0x10, mtu: 23),
      [Exchange("0a 1000", "0b" + bytes(22)), Exchange("0c 1000 1600", "01 0c 1000 02")])
    #expect(ending?.error == .refused(refusal(0x0C, 0x10, 0x02)))
  }

  @Test func aValueThatShrinksHalfWayEnds() {
    let ending = run(
      ReadValue(0x10, mtu: 23),
      [
        Exchange("0a 1000", "0b" + bytes(22)), Exchange("0c 1000 1600", "0d" + bytes(22)),
        Exchange("0c 1000 2c00", "01 0c 1000 07"),
      ])
    #expect(ending?.output?.count == 44)
  }

  /// No attribute value is longer than 512 bytes, whatever a server sends.
  @Test func aReadThatNeverBecomesShortIsGivenUp() {
    var exchanges = [Exchange("0a 1000", "0b" + bytes(22))]
    for offset in stride(from: UInt16(22), through: 506, by: 22) {
      exchanges.append(
        Exchange("0c 1000 " + Hex.string([UInt8(offset & 0xFF), UInt8(offset >> 8)]), "0d" + bytes(22)))
    }
    #expect(run(ReadValue(0x10, mtu: 23), exchanges)?.isMisbehaviour == true)
  }

  @Test func theLongestValueNeedsNoQuestionBehindItsEnd() {
    let exchanges = [Exchange("0a 1000", "0b" + bytes(256)), Exchange("0c 1000 0001", "0d" + bytes(256))]
    #expect(run(ReadValue(0x10, mtu: 257), exchanges, mtu: 257)?.output?.count == 512)
  }

  @Test func moreThanTheMTUIsTakenAsItComes() {
    let exchanges = [Exchange("0a 1000", "0b" + bytes(100)), Exchange("0c 1000 6400", "0d")]
    #expect(run(ReadValue(0x10, mtu: 23), exchanges)?.output?.count == 100)
    #expect(run(ReadValue(0x10, mtu: 23), [Exchange("0a 1000", "0b" + bytes(513))])?.isMisbehaviour == true)
  }
}

@Suite struct ReadByUUIDTests {
  @Test func allValuesOfAType() {
    let ending = run(
      ReadByUUID(uuid("2a19")),
      [
        Exchange("08 0100 ffff 192a", "09 03 1000 64 2000 32"),
        Exchange("08 2100 ffff 192a", "09 05 3000 010203"),
        Exchange("08 3100 ffff 192a", "01 08 3100 0a"),
      ])
    #expect(
      ending?.output == [
        ATTHandleAndValue(handle: 0x10, value: [0x64]), ATTHandleAndValue(handle: 0x20, value: [0x32]),
        ATTHandleAndValue(handle: 0x30, value: [1, 2, 3]),
      ])
  }

  /// Exactly as many as are wanted need no further request, and more are left.
  @Test(arguments: [1, 2]) func noMoreThanTheLimitIsRead(_ limit: Int) {
    let ending = run(
      ReadByUUID(uuid("2a19"), limit: limit),
      [Exchange("08 0100 ffff 192a", "09 03 1000 64 2000 32")])
    #expect(ending?.output?.map(\.handle) == ([0x10, 0x20] as [AttributeHandle]).prefix(limit).map { $0 })
  }

  @Test func emptyValuesAreValues() {
    let ending = run(
      ReadByUUID(uuid("2a19"), in: range(1, 0x10)), [Exchange("08 0100 1000 192a", "09 02 1000")])
    #expect(ending?.output == [ATTHandleAndValue(handle: 0x10, value: [])])
  }

  @Test func aRangeUpsideDownIsNotAsked() {
    #expect(run(ReadByUUID(uuid("2a19"), in: range(5, 4)), [])?.output == [])
  }

  @Test(arguments: ["09 03 1100 64", "09 03 0000 64", "09 03 0500 64 0500 64", "09 03 0500 64 0400 64"])
  func valuesOutsideEndIt(_ response: String) {
    let ending = run(
      ReadByUUID(uuid("2a19"), in: range(1, 0x10)), [Exchange("08 0100 1000 192a", response)])
    #expect(ending?.isMisbehaviour == true)
  }

  @Test func aServerThatNeverEndsIsGivenUp() {
    var procedure = ReadByUUID(uuid("2a19"))
    var step = procedure.start()
    var requests = 0
    while case .request(let request as ATTReadByTypeRequest) = step {
      requests += 1
      step = procedure.next(
        .success(ATTReadByTypeResponse([ATTHandleAndValue(handle: request.range.start, value: [])])))
    }
    guard case .failed(let error) = step, error.code == .misbehaved else {
      Issue.record("\(step)")
      return
    }
    #expect(requests < 5000)
  }
}
