import ATT
import HaloGATT
import HaloBluetoothCore
import TestBearer
import TestLoop
import TestSupport
import Testing

/// The subscription to Service Changed, which is a part of making a link usable (zephyrproject-rtos/zephyr 46695 and 104970,
/// NordicSemiconductor/Flutter-nRF-Connect-Device-Manager 90, nrfconnect/sdk-nrf 4472, coredevices/PebbleOS 1498: programs that
/// work on stale handles after an update of the firmware).
@BluetoothActor
@Suite(.onTheLoop) struct ServiceChangedWatchTests {
  private let link = FakeBearer()
  private let client: GATTClient
  /// The service with Service Changed, by its UUID; its characteristics; the descriptors of Service Changed; its configuration.
  private static let requests = [
    "060100ffff00280118", "080100 0400 0328", "040400 0400", "120400 0200",
  ].map { $0.replacing(" ", with: "") }
  private static let answers = [
    "0701000400", "0907 0200 20 0300 052a", "0501 0400 0229", "13",
  ].map { $0.replacing(" ", with: "") }

  init() {
    client = link.client()
  }

  /// Answers all requests that find Service Changed at handle 3.
  private func answer(_ count: Int = 4) {
    for answer in Self.answers.prefix(count) { link.receive(answer) }
  }

  @Test func subscribesToServiceChangedBeforeLaterRequests() {
    client.watchServiceChanges()
    client.watchServiceChanges()
    var value: [UInt8]?
    _ = client.run({ ReadValue(0x10, mtu: 23) }) { value = try? $0.get() }
    answer()
    #expect(link.takeSent() == Self.requests + ["0a1000"])
    link.receive("0b07")
    #expect(value == [7] && !client.lacksServiceChanged)
  }

  /// A stream begins with what is requested now, and does not wait for it.
  @Test func subscribesToServiceChangedAfterCurrentRequests() async {
    _ = client.run({ ReadValue(0x10, mtu: 23) }) { _ in }
    client.watchServiceChanges(afterOthers: true)
    _ = client.run({ ReadValue(0x11, mtu: 23) }) { _ in }
    client.postWithoutResponse([1], to: AttributeHandle(0x12), within: .seconds(1)) { _ in }
    await testTimers.sleep(for: .milliseconds(1))
    link.receive("0b01")
    #expect(link.takeSent() == ["0a1000", "0a1100", "52120001"])
    link.receive("0b01")
    #expect(link.takeSent() == [Self.requests[0]])
  }

  @Test func aChangeIsHeardAtOnce() {
    var changes: [HandleRange] = []
    client.whenServicesChanged { changes.append($0) }
    client.watchServiceChanges()
    answer(3)
    // The server may indicate before it answers the write.
    link.receive("1d0300 1000 ffff".replacing(" ", with: ""))
    #expect(changes == [HandleRange(0x10, 0xFFFF)])
  }

  @Test(arguments: ["010601000a", "0701000100"])
  func doesNotWatchServerWithoutServiceChanged(answer: String) {
    client.watchServiceChanges()
    link.receive(answer)
    if answer.hasPrefix("01") { link.receive("010601000a") }
    client.watchServiceChanges()
    _ = client.run({ ReadValue(0x10, mtu: 23) }) { _ in }
    #expect(link.takeSent().last == "0a1000")
  }

  @Test func aServerThatRefusesItIsUsedWithout() {
    client.watchServiceChanges()
    answer(3)
    // Insufficient Authentication.
    link.receive("0112040005")
    _ = client.run({ ReadValue(0x10, mtu: 23) }) { _ in }
    #expect(link.takeSent().last == "0a1000")
    client.close("the end")
    #expect(!client.lacksServiceChanged)
  }

  /// Values go on, as nothing depends on the answer; the next request ends the link.
  @Test func aServerThatDoesNotAnswerHasFiveSeconds() async {
    var isSilent = false
    client.onSilence = { isSilent = true }
    client.watchServiceChanges()
    await testTimers.sleep(for: .milliseconds(4999))
    #expect(!isSilent)
    await testTimers.sleep(for: .milliseconds(2))
    #expect(isSilent)
    var error: StackError?
    _ = client.run({ ReadValue(0x10, mtu: 23) }) { result in
      if case .failure(let failure) = result { error = failure }
    }
    #expect(error != nil)
    client.close("the link has ended")
    #expect(client.lacksServiceChanged)
  }

  @Test func aRequestThatWaitsBehindItEndsWithIt() async {
    var error: StackError?
    client.watchServiceChanges()
    _ = client.run({ ReadValue(0x10, mtu: 23) }) { result in
      if case .failure(let failure) = result { error = failure }
    }
    await testTimers.sleep(for: .seconds(6))
    #expect(error == .timedOut(.findByTypeValueRequest))
  }

  @Test func aPeerThatWasSilentBeforeIsNotAsked() async {
    client.watchesServiceChanges = false
    client.watchServiceChanges()
    await testTimers.sleep(for: .seconds(600))
    #expect(link.takeSent() == [])
  }

  @Test func sendsNothingAfterDisconnection() async {
    link.lose("the link is lost")
    client.watchServiceChanges()
    await testTimers.sleep(for: .seconds(600))
    #expect(link.takeSent() == [])
  }
}
