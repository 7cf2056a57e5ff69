import ATT
import HaloGATT
import HaloBluetoothCore
import TestBearer
import TestLoop
import TestSupport
import Testing

/// Writes without response on a link that takes a bounded number of them: what waits keeps its order, and each ends once.
@BluetoothActor
@Suite(.onTheLoop) struct WaitingWriteTests {
  private let link = FakeBearer()
  private let client: GATTClient
  private let other = Characteristic(
    uuid: uuid("ff02"), properties: [.read, .write], declaration: 0x1F, valueHandle: 0x20, end: 0x20)

  init() {
    client = link.client()
  }

  @BluetoothActor private final class Results {
    var all: [(UInt8, StackError?)] = []
    var numbers: [UInt8] { all.map(\.0) }
    func error(of number: UInt8) -> StackError? { all.first { $0.0 == number }?.1 }
  }

  private func post(_ number: UInt8, _ results: Results, within time: Duration = .seconds(10)) {
    client.postWithoutResponse([number], to: AttributeHandle(0x10), within: time) { result in
      if case .failure(let error) = result {
        results.all.append((number, error))
      } else {
        results.all.append((number, nil))
      }
    }
  }

  /// There is room for some more PDUs.
  private func offerRoom(_ count: Int?) {
    link.makeRoom(count)
  }

  @Test func throwsNoRoomWhenQueueIsFull() {
    link.room = 0
    #expect(throws: StackError.noRoom) { try client.writeWithoutResponse([1], to: AttributeHandle(0x10)) }
    #expect(link.sent == [])
  }

  @Test func sendsWaitingWritesInOrder() throws {
    let results = Results()
    link.room = 1
    for number in 1...4 as ClosedRange<UInt8> { post(number, results) }
    #expect(link.takeSent() == ["52100001"] && results.numbers == [1])
    offerRoom(2)
    #expect(link.takeSent() == ["52100002", "52100003"] && results.numbers == [1, 2, 3])
    // A new one does not overtake what waits.
    link.room = 1
    post(5, results)
    #expect(throws: StackError.noRoom) { try client.writeWithoutResponse([6], to: AttributeHandle(0x10)) }
    #expect(link.takeSent() == ["52100004"])
    offerRoom(nil)
    #expect(link.takeSent() == ["52100005"] && results.numbers == [1, 2, 3, 4, 5])
    try client.writeWithoutResponse([7], to: AttributeHandle(0x10))
    #expect(results.all.allSatisfy { $0.1 == nil })
  }

  /// The time of the second of three has passed: it, and no other, is not sent.
  @Test func doesNotSendExpiredWrite() async {
    let results = Results()
    link.room = 0
    post(1, results)
    post(2, results, within: .seconds(2))
    post(3, results)
    await testTimers.sleep(for: .milliseconds(1999))
    #expect(results.all.isEmpty)
    await testTimers.sleep(for: .milliseconds(2))
    #expect(results.numbers == [2] && results.error(of: 2) == .noRoomInTime(seconds: 2))
    offerRoom(nil)
    #expect(link.sent == ["52100001", "52100003"])
    // Their deadlines are over with them.
    await testTimers.sleep(for: .seconds(60))
    #expect(results.numbers == [2, 1, 3] && results.error(of: 1) == nil && results.error(of: 3) == nil)
  }

  /// A program sends data without response, and asks for their checksum (NordicSemiconductor/IOS-DFU-Library, with 27 bytes in a
  /// packet): the request overtook 291 of 300 commands, as they were for another characteristic.
  @Test func aRequestDoesNotOvertakeCommands() {
    let results = Results()
    link.room = 2
    for number in 1...4 as ClosedRange<UInt8> { post(number, results) }
    _ = client.write([6], to: other) { _ in results.all.append((100, nil)) }
    post(5, results)
    #expect(link.takeSent() == ["52100001", "52100002"])
    offerRoom(nil)
    #expect(link.takeSent() == ["52100003", "52100004", "12200006", "52100005"])
    link.receive("13")
    #expect(results.numbers == [1, 2, 3, 4, 5, 100])
  }

  /// A request waits for the answer to the one before it, and commands wait for a request that was called before them to be sent:
  /// not for its answer.
  @Test func aCommandFollowsTheRequestsThatWereCalledBefore() {
    let results = Results()
    for number in 1...2 as ClosedRange<UInt8> {
      _ = client.write([number], to: other) { _ in results.all.append((number + 100, nil)) }
    }
    post(1, results)
    #expect(link.takeSent() == ["12200001"])
    link.receive("13")
    #expect(link.takeSent() == ["12200002", "52100001"] && results.numbers == [101, 1])
    link.receive("13")
    #expect(results.numbers == [101, 1, 102])
  }

  @Test func aCommandFollowsTheLastPartOfALongWrite() {
    let results = Results()
    _ = client.write([UInt8](repeating: 7, count: 30), to: other) { _ in }
    post(1, results)
    for _ in 0..<2 {
      let part = link.takeSent().last ?? ""
      #expect(part.hasPrefix("16"))
      link.receive("17" + part.dropFirst(2))
    }
    #expect(link.takeSent() == ["1801"] && results.all.isEmpty)
    link.receive("19")
    #expect(link.takeSent() == ["52100001"])
  }

  /// A new link: the MTU is asked for, and the program writes at once.
  @Test func aCommandFollowsARequestThatWaitsForTheMTU() {
    let results = Results()
    client.exchangeMTU { _ in }
    _ = client.write([1], to: other) { _ in }
    post(1, results)
    #expect(link.takeSent().map { $0.prefix(2) } == ["02"])
    link.receive("031700")
    #expect(link.takeSent() == ["12200001", "52100001"])
  }

  @Test func doesNotSendCancelledWrite() async {
    link.room = 0
    let client = self.client
    let tasks = (1...3 as ClosedRange<UInt8>).map { number in
      spawn {
        try await client.writeWithoutResponse([number], to: AttributeHandle(0x10), within: .seconds(10))
      }
    }
    for _ in 0..<3 { await settle() }
    tasks[1].cancel()
    await #expect(throws: StackError.cancelled) { try await tasks[1].value }
    offerRoom(nil)
    for task in [tasks[0], tasks[2]] { await #expect(throws: Never.self) { try await task.value } }
    #expect(link.sent == ["52100001", "52100003"])
  }

  @Test func disconnectionFailsWaitingWrites() async {
    let results = Results()
    link.room = 0
    for number in 1...3 as ClosedRange<UInt8> { post(number, results) }
    link.lose("out of range")
    let error = StackError.closed("out of range")
    #expect(results.numbers == [1, 2, 3] && results.all.allSatisfy { $0.1 == error })
    offerRoom(nil)
    await testTimers.sleep(for: .seconds(60))
    #expect(link.sent == [] && results.all.count == 3)
    // There is no room on a link that has ended, and that is not the reason.
    post(4, results)
    #expect(results.error(of: 4) == error)
  }
}
