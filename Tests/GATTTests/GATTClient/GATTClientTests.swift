import ATT
import HaloGATT
import HaloBluetoothCore
import TestBearer
import TestLoop
import TestSupport
import Testing

@BluetoothActor
@Suite(.onTheLoop) struct GATTClientTests {
  let link = FakeBearer()

  @Test func serializesConcurrentReads() async throws {
    let client = link.client()
    link.answer("0a1000", "0b01")
    link.answer("0a1100", "0b02")
    async let first = client.read(AttributeHandle(0x10))
    async let second = client.read(AttributeHandle(0x11))
    #expect(try await [first, second] == [[1], [2]])
    #expect(Set(link.sent) == ["0a1000", "0a1100"])
  }

  /// Servers have few values of a type: a second request would cost a connection event for a refusal.
  @Test func theFirstValueOfATypeIsOneRequest() async throws {
    let client = link.client()
    link.answer("08 0100 ffff 262a", "09 05 0300 616263")
    #expect(try await client.readFirst(uuid: uuid("2a26")) == Array("abc".utf8))
    #expect(link.sent == ["080100ffff262a"])
  }

  @Test func valuesThatDoNotFitAreWrittenInParts() async throws {
    let client = link.client()
    link.answer("12 1000" + String(repeating: "07", count: 20), "13")
    try await client.write(Array(repeating: 7, count: 20), to: AttributeHandle(0x10))
    link.answer(
      "16 1000 0000" + String(repeating: "07", count: 18), "17 1000 0000" + String(repeating: "07", count: 18)
    )
    link.answer("16 1000 1200 070707", "17 1000 1200 070707")
    link.answer("18 01", "19")
    try await client.write(Array(repeating: 7, count: 21), to: AttributeHandle(0x10))
    await #expect(throws: StackError.tooLong(513)) {
      try await client.write(Array(repeating: 7, count: 513), to: AttributeHandle(0x10))
    }
  }

  @Test func theMTUIsThatOfBoth() async throws {
    let client = link.client()
    link.answer("02 0502", "03 f700")
    #expect(try await client.exchangeMTU() == 247)
    try client.writeWithoutResponse([1], to: AttributeHandle(0x10))
    #expect(link.sent.last == "52100001")
    #expect(throws: StackError.tooLong(count: 245, maximum: 244)) {
      try client.writeWithoutResponse(Array(repeating: 0, count: 245), to: AttributeHandle(0x10))
    }
  }

  @Test func disconnectionFailsPendingRequests() async throws {
    let client = link.client()
    var errors: [StackError] = []
    let tasks = ([1, 2, 3] as [AttributeHandle]).map { handle in
      spawn {
        do throws(StackError) {
          _ = try await client.read(handle)
        } catch {
          errors.append(error)
        }
      }
    }
    await settle()
    #expect(link.sent == ["0a0100"])
    link.lose("out of range")
    for task in tasks { _ = await task.result }
    let expected = StackError.closed("out of range")
    #expect(errors == [expected, expected, expected])
    await #expect(throws: expected) { try await client.read(AttributeHandle(0x10)) }
    #expect(link.sent == ["0a0100"])
  }

  /// The task returns at once; the request can't be taken back, and its answer is not taken for the next one's.
  @Test func aCancelledTaskReturnsAndTheNextGetsItsOwnAnswer() async throws {
    let client = link.client()
    let task = spawn { try await client.read(AttributeHandle(0x10)) }
    await settle()
    task.cancel()
    await #expect(throws: StackError.cancelled) { try await task.value }
    let next = spawn { try await client.read(AttributeHandle(0x11)) }
    link.answer("0a1100", "0b02")
    await settle()
    #expect(link.sent == ["0a1000"])
    link.receive("0b 01")
    #expect(try await next.value == [2])
  }

  @Test func cancelledQueuedRequestIsNotSent() async throws {
    let client = link.client()
    let first = spawn { try await client.read(AttributeHandle(0x10)) }
    await settle()
    let second = spawn { try await client.read(AttributeHandle(0x11)) }
    await settle()
    second.cancel()
    await #expect(throws: StackError.cancelled) { try await second.value }
    link.receive("0b 01")
    #expect(try await first.value == [1])
    await settle()
    #expect(link.sent == ["0a1000"])
  }

  @Test func returnsNilForMissingService() async throws {
    let client = link.client()
    link.answer("06 0100 ffff 0028 0a18", "01 06 0100 0a")
    link.answer("06 0100 ffff 0028 fb349b5f80000080001000000a180000", "01 06 0100 0a")
    #expect(try await client.firstService(uuid("180a")) == nil)
  }
}
