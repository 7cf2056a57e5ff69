import HaloGATT
import HCI
import HaloBluetoothCore
import TestLoop
import TestSupport
import Testing

@testable import GAP

/// A radio at the other end of an HCI transport: how it starts, fails, is recovered, and ends.
@BluetoothActor
@Suite(.onTheLoop) struct HCIAdapterTests {
  @BluetoothActor private final class Log {
    var failures: [StackError] = []
    var notes: [String] = []
  }

  private let transport = PlayedTransport()
  private let adapter: HCIAdapter
  private let log = Log()
  private static let random = BluetoothAddress(0xE0DE_ADBE_EF01, .random)

  init() {
    adapter = HCIAdapter(transport, randomAddress: Self.random)
    let log = self.log
    adapter.onFailure = { log.failures.append($0) }
    adapter.onNote = { log.notes.append($0) }
  }

  private func failure(_ work: () async throws(StackError) -> Void) async -> StackError? {
    do throws(StackError) {
      try await work()
      return nil
    } catch {
      return error
    }
  }

  private func recover(within time: Duration = .seconds(60)) async -> StackError? {
    await failure { () throws(StackError) in _ = try await adapter.recover(within: time) }
  }

  /// A link over which the peer speaks.
  private func connect(_ handle: String = "4000") async throws -> any ATTLink {
    var results: [Result<any ATTLink, StackError>] = []
    _ = adapter.connect(ConnectionRequest(peer: BluetoothAddress(0xC011_2233_A1B2, .random))) {
      results.append($0)
    }
    await testTimers.sleep(for: .milliseconds(5))
    transport.receive(
      "043e1301" + "00" + handle + "00" + "01" + "b2a1332211c0" + "0c00" + "0000" + "9001" + "00")
    transport.receive("02" + "4020" + "0700" + "0300" + "0400" + "1b0300")
    await testTimers.sleep(for: .milliseconds(5))
    return try #require(try results.last?.get())
  }

  /// The controller does not answer a command.
  ///
  /// - Parameter silent: what it does not answer after that, either
  private func fallSilent(_ silent: Set<HCIOpcode> = []) async {
    transport.silent = [LESetScanParameters.opcode]
    adapter.setScan(.gentle)
    await testTimers.sleep(for: HostController.commandDeadline + .milliseconds(1))
    #expect(log.failures == [Self.silence])
    transport.silent = silent
    _ = (transport.takeOpcodes(), transport.takeCalls())
  }

  private static let silence = StackError.commandTimedOut(LESetScanParameters.opcode)

  // MARK: Start and end

  @Test func startSendsResetFirst() async throws {
    let information = try await adapter.start()
    #expect(transport.takeCalls() == ["start"])
    #expect(transport.takeOpcodes().first == Reset.opcode)
    #expect(information.address == transport.publicAddress && information.version == "5.0")
    #expect(!information.usesExtendedScan)
  }

  @Test func withoutAPublicAddressItHasTheRandomOne() async throws {
    transport.publicAddress = BluetoothAddress(0, .public)
    #expect(try await adapter.start().address == Self.random)
  }

  @Test(arguments: 0..<8) func aRandomAddressThatIsMadeUpIsStatic(_: Int) async throws {
    transport.publicAddress = BluetoothAddress(0, .public)
    // The two highest bits are set (Core Specification Vol 6, Part B, 1.3.2.1).
    let address = try await HCIAdapter(transport).start().address
    #expect(address.kind == .random && address.value >> 46 == 3)
  }

  /// The links are ended, the transport is closed, and what follows that is waited for. Nothing reports an end that was
  /// wanted.
  @Test func closingEndsEverything() async throws {
    _ = try await adapter.start()
    let link = try await connect()
    var losses: [LinkLoss] = []
    link.onClosed = { losses.append($0) }
    _ = transport.takeCalls()
    await adapter.close()
    #expect(transport.calls.first == "close" && transport.calls.last == "finish")
    #expect(losses == [.local])
    #expect(log.failures.isEmpty)
    #expect(transport.onPacket == nil && transport.onClose == nil)
  }

  @Test func releasedAdapterClosesTransport() async throws {
    var other: HCIAdapter? = HCIAdapter(transport)
    _ = try await other?.start()
    #expect(transport.takeCalls() == ["start"])
    other = nil
    #expect(transport.takeCalls() == ["close"])
  }

  // MARK: Failing

  @Test func aTransportThatClosesIsOneFailure() async throws {
    _ = try await adapter.start()
    let link = try await connect()
    var losses: [LinkLoss] = []
    link.onClosed = { losses.append($0) }
    transport.onClose?("unplugged")
    transport.onClose?("unplugged")
    let failure = StackError.transportClosed("unplugged")
    #expect(log.failures == [failure])
    #expect(losses == [.adapter(failure)])
  }

  /// The first cause counts, here the peer's.
  @Test func aLinkThatThePeerEndsHasItsReason() async throws {
    _ = try await adapter.start()
    let link = try await connect()
    var losses: [LinkLoss] = []
    link.onClosed = { losses.append($0) }
    transport.receive("040504" + "00" + "4000" + "13")
    transport.onClose?("unplugged")
    #expect(losses == [.remote(.remoteUserTerminatedConnection)])
  }

  @Test func aLinkThatIsEndedHereIsEndedHere() async throws {
    _ = try await adapter.start()
    let link = try await connect()
    var losses: [LinkLoss] = []
    link.onClosed = { losses.append($0) }
    _ = transport.takeOpcodes()
    link.disconnect()
    #expect(transport.takeOpcodes() == [Disconnect.opcode])
    #expect(losses.isEmpty)
    await testTimers.sleep(for: .milliseconds(5))
    transport.receive("040504" + "00" + "4000" + "16")
    #expect(losses == [.local])
  }

  // MARK: Scanning

  /// Links on LE Coded are made with devices that advertise on it: bit 2 of the PHYs that are scanned.
  @Test(arguments: [nil, LinkPreferences(phys: .le2M), LinkPreferences(phys: .leCoded)])
  func aScanIncludesThePHYOfTheLinks(_ preferences: LinkPreferences?) async throws {
    transport.linkPreferences = preferences
    transport.supported += [LESetExtendedScanParameters.self, LESetExtendedScanEnable.self]
    _ = try await adapter.start()
    adapter.setScan(ScanParameters())
    await testTimers.sleep(for: .milliseconds(50))
    let parameters = transport.commands.first {
      HCIOpcode(ofCommand: $0) == LESetExtendedScanParameters.opcode
    }
    // Behind the H4 byte, the header, the own address type and the filter policy.
    #expect(try #require(parameters)[6] == (preferences?.phys == .leCoded ? 0b101 : 0b001))
  }

  // MARK: Recovery

  @Test func aRadioThatWorksIsLeftAlone() async throws {
    #expect(await recover() == .notReady)
    _ = try await adapter.start()
    _ = transport.takeOpcodes()
    #expect(await recover() == nil)
    #expect(transport.takeOpcodes() == [] && log.notes == [])
  }

  /// The transport stays open, if that helps.
  @Test func aControllerThatDoesNotAnswerIsReset() async throws {
    _ = try await adapter.start()
    await fallSilent()
    #expect(await recover() == nil)
    #expect(transport.takeOpcodes().first == Reset.opcode)
    #expect(transport.takeCalls() == [])
    #expect(log.notes.contains { $0.hasPrefix("radio: ") })
    #expect(log.notes.last == "hci7 can be used again")
    // It works, and a second failure is reported again.
    transport.onClose?("unplugged")
    #expect(log.failures == [Self.silence, .transportClosed("unplugged")])
  }

  /// One that does not even answer the reset is switched off and on.
  @Test func aControllerThatIsSilentIsOpenedAgain() async throws {
    _ = try await adapter.start()
    await fallSilent([Reset.opcode])
    let start = testTimers.now
    #expect(await recover() == nil)
    #expect(transport.takeCalls() == ["reopen", "start"])
    #expect(transport.openingTimes == [.seconds(10)])
    #expect(testTimers.now - start >= HostController.commandDeadline)
  }

  /// A transport that can't be opened again has no hope: it is not waited for.
  @Test func unopenableTransportEndsRecovery() async throws {
    _ = try await adapter.start()
    transport.openings = [.notReady]
    await fallSilent([Reset.opcode])
    let error = await recover()
    #expect("\(error.map { "\($0)" } ?? "")".contains("off and on: left out, as hci7 can't be opened again"))
    #expect(transport.openingTimes.count == 1)
  }

  @Test func reopensRemovedTransportWhenItReturns() async throws {
    _ = try await adapter.start()
    let gone = StackError.transportClosed("no such device")
    transport.openings = [gone, StackError(.adapterRemoved, .controller, "it was removed"), nil]
    transport.onClose?("unplugged")
    let start = testTimers.now
    #expect(await recover() == nil)
    // Every quarter of a second, and ten at most for each; then it is set up.
    #expect(testTimers.now - start >= .milliseconds(500) && testTimers.now - start < .milliseconds(750))
    #expect(transport.openingTimes == [.seconds(10), .seconds(10), .seconds(10)])
    transport.onClose?("unplugged again")
    #expect(log.failures == [.transportClosed("unplugged"), .transportClosed("unplugged again")])
  }

  /// What no waiting changes is thrown at once.
  @Test func aMissingPrivilegeIsThrown() async throws {
    let error = StackError(.missingPrivilege, .final, "CAP_NET_ADMIN is missing")
    _ = try await adapter.start()
    transport.openings = [error]
    transport.onClose?("unplugged")
    let start = testTimers.now
    #expect(await recover() == error)
    #expect(testTimers.now == start && transport.openingTimes.count == 1)
  }

  /// The end of a recording, for instance.
  @Test func nonReopenableTransportFailsFinally() async throws {
    transport.canReopen = false
    _ = try await adapter.start()
    transport.onClose?("the recording ends here")
    let start = testTimers.now
    let ended = StackError.transportEnded("the recording ends here")
    #expect(await recover() == ended && log.failures == [ended])
    #expect(testTimers.now == start && transport.openingTimes.isEmpty)
    #expect(ended.fault == .final)
  }

  /// The other side closes with the last answer, again and again.
  @Test func aTransportThatClosesAtOnceIsRecoveredWithPauses() async throws {
    _ = try await adapter.start()
    let last = try #require(transport.takeOpcodes().last)
    var closings = 5
    transport.afterAnswer = { [transport] opcode in
      guard opcode == last, closings > 0 else { return }
      closings -= 1
      transport.onClose?("closed at once")
    }
    transport.onClose?("unplugged")
    let start = testTimers.now
    #expect(await recover() == nil)
    #expect(closings == 0)
    // 0.25, 0.5, ... 4 seconds.
    #expect(testTimers.now - start >= .milliseconds(7750) && testTimers.now - start < .seconds(9))
    #expect(log.failures == [.transportClosed("unplugged")], "it was not usable in between")
  }

  @Test func theWaitForATransportEnds() async throws {
    _ = try await adapter.start()
    transport.openings = Array(repeating: .transportClosed("no such device"), count: 100)
    transport.onClose?("unplugged")
    let start = testTimers.now
    #expect(await recover(within: .seconds(3)) == .transportClosed("unplugged"))
    #expect(testTimers.now - start == .seconds(3))
  }

  @Test func aRecoveryIsCancelled() async throws {
    _ = try await adapter.start()
    transport.openings = Array(repeating: .transportClosed("no such device"), count: 100)
    transport.onClose?("unplugged")
    let adapter = self.adapter
    let task = spawn { try await adapter.recover(within: .seconds(60)) }
    await testTimers.sleep(for: .seconds(1))
    task.cancel()
    await #expect(throws: StackError.cancelled) { try await task.value }
    #expect(transport.openingTimes.count < 10)
  }

  /// An adapter that is closed while it begins to advertise, as after the end of a link, advertised on until it was switched
  /// off.
  @Test(arguments: [0, 1, 2, 3, 4, 5]) func closeStopsAdvertisingBeforeClosingTransport(milliseconds: Int)
    async throws
  {
    _ = try await adapter.start()
    try adapter.setAdvertising(Advertising(AdvertisingData()), in: AdvertisingSet())
    await testTimers.sleep(for: .milliseconds(milliseconds))
    _ = transport.takeCalls()
    await adapter.close()
    let changes = transport.takeOpcodes().filter { $0 == LESetAdvertisingEnable.opcode }
    #expect(changes.count == 2)
    #expect(transport.takeCalls() == ["close", "finish"])
  }

  /// A controller that does not answer does not hold up the end.
  @Test func closeDoesNotWaitForSilentController() async throws {
    _ = try await adapter.start()
    transport.silent = [LESetAdvertisingParameters.opcode]
    try adapter.setAdvertising(Advertising(AdvertisingData()), in: AdvertisingSet())
    let begin = testTimers.now
    await adapter.close()
    #expect(testTimers.now - begin == .seconds(1))
    #expect(transport.takeCalls().suffix(2) == ["close", "finish"])
  }
}
