import ATT
import GATTClient
import HaloBluetoothCore
import HaloGATT
import TestBearer
import TestLoop
import TestSupport
import Testing

/// When the client asks for Service Changed, which no program has asked for: not while a program makes requests, and not
/// for one that polls, which would lose its link if the server did not answer.
@BluetoothActor
@Suite(.onTheLoop) struct QuietTimeTests {
  private let link = FakeBearer()
  private let client: GATTClient
  private let characteristic = Characteristic(
    uuid: uuid("2a37"), properties: .notify, declaration: 0x0F, valueHandle: 0x10, end: 0x11)
  /// The first request: the service with Service Changed, by its UUID.
  private let question = "060100ffff00280118"

  init() {
    client = link.client()
    link.answer("04 1100 1100", "05 01 1100 0229")
    link.answer("12 1100 0100", "13")
    link.answer("0a1000", "0b01")
    link.answer(question, "01 06 0100 0a")
  }

  private func asks(after time: Duration) async -> Bool {
    _ = link.takeSent()
    await testTimers.sleep(for: time)
    return link.takeSent().contains(question)
  }

  @Test func aProgramThatSubscribesIsQuietAfterThreeQuartersOfASecond() async throws {
    _ = try await client.subscribe(to: characteristic) { _, _ in }
    #expect(await asks(after: .milliseconds(749)) == false)
    #expect(await asks(after: .milliseconds(2)))
    // A server without it promises that nothing changes: it is not asked again.
    _ = try await client.subscribe(to: characteristic) { _, _ in }
    #expect(await asks(after: .seconds(60)) == false)
  }

  @Test func eachRequestBeginsTheQuietTimeAgain() async throws {
    _ = try await client.subscribe(to: characteristic) { _, _ in }
    _ = try await client.read(0x10)
    for _ in 0..<3 {
      #expect(await asks(after: .milliseconds(9900)) == false)
      _ = try await client.read(0x10)
    }
    #expect(await asks(after: .milliseconds(9990)) == false)
    #expect(await asks(after: .milliseconds(20)))
  }

  /// It has handles that may change, and learns of it only if it asks for that.
  @Test func aProgramThatPollsIsLeftAlone() async throws {
    client.keepHandles()
    _ = try await client.read(0x10)
    #expect(await asks(after: .seconds(600)) == false)
    client.whenServicesChanged { _ in }
    _ = try await client.read(0x10)
    #expect(await asks(after: .milliseconds(9990)) == false)
    #expect(await asks(after: .milliseconds(20)))
  }

  @Test func aProgramWithoutHandlesIsLeftAlone() async throws {
    client.whenServicesChanged { _ in }
    _ = try await client.read(0x10)
    #expect(await asks(after: .seconds(600)) == false)
  }

  @Test func aPeerThatWasSilentBeforeIsNotAsked() async throws {
    client.watchesServiceChanges = false
    _ = try await client.subscribe(to: characteristic) { _, _ in }
    #expect(await asks(after: .seconds(600)) == false)
  }

  @Test func nothingIsAskedAfterTheEnd() async throws {
    _ = try await client.subscribe(to: characteristic) { _, _ in }
    link.lose("the link is lost")
    #expect(testTimers.nextDeadline == nil)
    #expect(await asks(after: .seconds(600)) == false)
  }

  /// A server that does not answer stays connected, and goes on sending; the next request would end the link.
  @Test func aServerThatDoesNotAnswerStaysConnected() async throws {
    link.answer(question)
    var silences = 0
    client.onSilence = { silences += 1 }
    var values = 0
    _ = try await client.subscribe(to: characteristic) { _, _ in values += 1 }
    // The transaction's time is 30 s (Core Specification Vol 3, Part F, 3.3.3).
    #expect(await asks(after: .milliseconds(30_700)))
    #expect(silences == 0)
    await testTimers.sleep(for: .milliseconds(100))
    #expect(silences == 1 && !link.isLost)
    link.receive("1b 1000 01")
    #expect(values == 1)
    await testTimers.sleep(for: .seconds(600))
    #expect(silences == 1 && !link.isLost)
  }
}
