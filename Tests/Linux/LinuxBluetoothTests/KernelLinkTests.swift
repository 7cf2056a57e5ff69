import HaloGATT
import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// Links over the kernel's sockets: how their parameters are kept, how they end, and why.
@BluetoothActor
@Suite(.onTheLoop) struct KernelLinkTests {
  private let stage = KernelStage()
  /// LE Connection Update with the parameters that the links want.
  private let restoring = "0113200e" + "4000" + "0a00" + "1000" + "0200" + "2c01" + "00000000"

  // MARK: Parameters

  /// The kernel takes each parameter request of a peripheral; the controller reports it, and the wanted ones are requested.
  @Test func parametersThatThePeerChangesAreRestored() async throws {
    stage.connected()
    let staged = try StagedLink(stage)
    await settle()
    #expect(stage.takeSent(LEConnectionUpdate.opcode) == [])
    stage.updated(interval: "5000")
    await settle()
    #expect(stage.takeSent(LEConnectionUpdate.opcode) == [restoring])
    #expect(staged.link.parameters?.interval == ConnectionInterval(rawValue: 80))
    #expect(stage.machine.notes.last?.contains("12.5 ms to 20 ms") == true)
    stage.updated(interval: "1000")
    await testTimers.sleep(for: .seconds(60))
    #expect(stage.takeSent(LEConnectionUpdate.opcode) == [])
    staged.link.lose(.local)
  }

  /// The kernel may have made the link with other parameters: nothing changes them later.
  @Test func parametersThatTheKernelDidNotTakeAreRestored() async throws {
    stage.connected(interval: "2800")
    let staged = try StagedLink(stage)
    await settle()
    #expect(stage.takeSent(LEConnectionUpdate.opcode) == [restoring])
    staged.link.lose(.local)
  }

  /// Another procedure of the link may be under way: it is over a second later.
  @Test func anUpdateThatIsRefusedIsRepeatedASecondLater() async throws {
    stage.connected()
    let staged = try StagedLink(stage)
    stage.machine.statuses[LEConnectionUpdate.opcode] = [.commandDisallowed]
    stage.updated(interval: "5000")
    await testTimers.sleep(for: .milliseconds(999))
    #expect(stage.takeSent(LEConnectionUpdate.opcode) == [restoring])
    await testTimers.sleep(for: .milliseconds(2))
    #expect(stage.takeSent(LEConnectionUpdate.opcode) == [restoring])
    // The peer may refuse it, too: the result of the procedure says so.
    stage.updated(interval: "5000", status: "3b")
    await testTimers.sleep(for: .milliseconds(1001))
    #expect(stage.takeSent(LEConnectionUpdate.opcode) == [restoring])
    staged.link.lose(.local)
    await testTimers.sleep(for: .seconds(5))
    #expect(stage.takeSent(LEConnectionUpdate.opcode) == [])
  }

  @Test func parametersThatThePeerMayChooseAreLeft() async throws {
    stage.connected(interval: "2800")
    let staged = try StagedLink(stage, .accept)
    stage.updated(interval: "5000")
    await testTimers.sleep(for: .seconds(5))
    #expect(stage.takeSent(LEConnectionUpdate.opcode) == [])
    staged.link.lose(.local)
  }

  /// A program's own update replaces what is kept, and ends with what the controller reports.
  @Test func anUpdateOfTheProgramIsKept() async throws {
    stage.connected()
    let staged = try StagedLink(stage)
    var results: [Result<LinkParameters, StackError>] = []
    var slow = StagedLink.wanted
    slow.intervalMin = ConnectionInterval(rawValue: 80)
    slow.intervalMax = ConnectionInterval(rawValue: 80)
    staged.link.update(slow) { results.append($0) }
    await settle()
    #expect(results.isEmpty)
    let slowly = "0113200e" + "4000" + "5000" + "5000" + "0200" + "2c01" + "00000000"
    #expect(stage.takeSent(LEConnectionUpdate.opcode) == [slowly])
    stage.updated(interval: "5000")
    #expect(try results.map { try $0.get().interval.rawValue } == [80])
    stage.updated(interval: "0a00")
    await settle()
    #expect(stage.takeSent(LEConnectionUpdate.opcode) == [slowly])
    // One that the controller rejects fails at once.
    stage.machine.statuses[LEConnectionUpdate.opcode] = [.commandDisallowed]
    staged.link.update(slow) { results.append($0) }
    await settle()
    #expect(results.last == .failure(.commandFailed(LEConnectionUpdate.opcode, .commandDisallowed)))
    staged.link.lose(.local)
  }

  // MARK: The end

  /// Some kernels do not survive that a socket is open when its link ends: it is closed first.
  @Test func closesSocketBeforeDisconnect() async throws {
    let staged = try StagedLink(stage)
    var isClosed: Bool?
    await EpollLoop.shared.stoppingVirtualTime {
      await withCheckedContinuation { continuation in
        stage.machine.onCommand = { opcode in
          guard opcode == Disconnect.opcode else { return }
          isClosed = staged.isSocketClosed
          continuation.resume()
        }
        staged.link.disconnect()
        staged.link.disconnect()
        #expect(staged.losses.isEmpty)
      }
    }
    #expect(isClosed == true)
    #expect(stage.takeSent(Disconnect.opcode) == ["01060403" + "4000" + "13"])
    stage.disconnected(reason: "16")
    #expect(staged.losses == [.local])
    await testTimers.sleep(for: .seconds(5))
    #expect(staged.losses == [.local] && stage.machine.notes.isEmpty)
  }

  @Test func aLinkThatDoesNotEndIsGivenUpAfterTwoSeconds() async throws {
    let staged = try StagedLink(stage)
    let start = testTimers.now
    staged.link.disconnect()
    await staged.waitUntilClosed()
    await testTimers.sleep(for: .milliseconds(1999) - (testTimers.now - start))
    #expect(staged.losses.isEmpty)
    await testTimers.sleep(for: .milliseconds(2))
    #expect(staged.losses == [.local])
    #expect(stage.machine.notes == ["link: it has not ended within 2 s, and is given up"])
  }

  /// A link that another program has made is its own.
  @Test func aLinkOfAnotherProgramStays() async throws {
    let staged = try StagedLink(stage, isOurs: false)
    staged.link.disconnect()
    await staged.waitUntilClosed()
    await testTimers.sleep(for: .seconds(3))
    #expect(staged.losses == [.local])
    #expect(stage.takeSent(Disconnect.opcode) == [])
  }

  /// The last PDUs count, and the controller's reason is better than none.
  @Test func aLinkThatThePeerEndsHasTheControllersReason() throws {
    let staged = try StagedLink(stage)
    staged.pair.write([0x1B, 1, 0, 7])
    stage.disconnected(reason: "13")
    #expect(staged.pdus == ["1b010007"])
    #expect(staged.losses == [.remote(.remoteUserTerminatedConnection)])
  }

  /// A ring that asks for pairing, which the kernel refuses, and leaves 30 ms later (stoprocent/noble#142).
  @Test func aPeerThatLeavesEarlyIsLookedAtTheNextTime() async throws {
    let pairing = PairingWatch(testTimers)
    var shown: [Bool] = []
    pairing.onChange = { shown.append($0) }
    // Security Request, on the channel of the Security Manager; one on another channel, and one that is cut.
    pairing.receive(hex("02402006000200060005").span.bytes)
    pairing.receive(hex("0240200600020004000b01").span.bytes)
    pairing.receive(hex("02402005000200060" + "0").span.bytes)
    pairing.receive(hex("02").span.bytes)
    #expect(!pairing.hasRequest(on: KernelStage.handle))
    pairing.lostEarly()
    await testTimers.sleep(for: .seconds(50))
    pairing.created(KernelStage.handle)
    #expect(shown == [true])
    pairing.receive(hex("0240200600020006000b01").span.bytes)
    #expect(pairing.hasRequest(on: KernelStage.handle))
    #expect(!pairing.hasRequest(on: ConnectionHandle(rawValue: 0x41)))
    await testTimers.sleep(for: .seconds(5))
    #expect(shown == [true, false])
    // The handle is used again.
    pairing.created(KernelStage.handle)
    #expect(!pairing.hasRequest(on: KernelStage.handle))
    // No link follows.
    pairing.lostEarly()
    pairing.lostEarly()
    await testTimers.sleep(for: .seconds(61))
    #expect(shown == [true, false, true, false])
    // The adapter has failed: the next socket shows no data.
    pairing.lostEarly()
    pairing.reset()
    pairing.lostEarly()
    #expect(shown == [true, false, true, false, true, true])
  }

  /// An event that was lost on the way (raspberrypi/linux 5460): no other one comes, and the kernel keeps the link.
  @Test func aLinkThatTheControllerDoesNotKnowIsLost() async throws {
    let staged = try StagedLink(stage)
    let unknown = HCIErrorCode.unknownConnectionIdentifier
    // The first answer is that to another program.
    stage.machine.statuses[ReadRSSI.opcode] = [unknown, .success]
    await testTimers.sleep(for: .seconds(31))
    #expect(stage.takeSent(ReadRSSI.opcode).count == 2 && staged.losses == [])
    // A link that has sent something is there.
    stage.machine.statuses[ReadRSSI.opcode] = [unknown, unknown]
    staged.pair.write([0x1B, 1, 0, 7])
    for _ in 0..<1000 where staged.pdus.isEmpty { await settle() }
    await testTimers.sleep(for: .seconds(30))
    #expect(stage.takeSent(ReadRSSI.opcode) == [] && staged.losses == [])
    await testTimers.sleep(for: .seconds(30))
    // The command follows the end of the socket, which a thread closes.
    await staged.waitUntilClosed()
    for _ in 0..<1000
    where !stage.machine.sent.contains(where: { HCIOpcode(ofCommand: $0) == Disconnect.opcode }) {
      await settle()
    }
    #expect(stage.takeSent(ReadRSSI.opcode, Disconnect.opcode).last == "01060403" + "4000" + "13")
    #expect(staged.losses == [.remote(.connectionTimeout)] && staged.isSocketClosed)
    await testTimers.sleep(for: .seconds(100))
    #expect(stage.takeSent(ReadRSSI.opcode) == [])
  }

  /// A handle is used again: the reason is that of the link before.
  @Test func theReasonOfALinkBeforeIsNotThatOfThisOne() throws {
    stage.disconnected(reason: "08")
    stage.connected()
    let staged = try StagedLink(stage)
    stage.disconnected(reason: "13")
    #expect(staged.losses == [.remote(.remoteUserTerminatedConnection)])
  }

  @Test func theEndOfOneOfTwoLinksIsNotThatOfTheOther() throws {
    let first = try StagedLink(stage)
    let second = try StagedLink(stage, handle: ConnectionHandle(rawValue: 0x41))
    stage.disconnected("4100", reason: "08")
    #expect(first.losses.isEmpty && second.losses == [.remote(.connectionTimeout)])
    stage.connected("4100")
    stage.updated("4100", interval: "5000")
    #expect(first.link.parameters == nil)
    stage.disconnected("4000", reason: "13")
    #expect(first.losses == [.remote(.remoteUserTerminatedConnection)] && second.losses.count == 1)
  }

  /// The kernel closes a socket without a word of the controller.
  @Test func aSocketThatEndsOnItsOwnIsALossOfUnknownReason() async throws {
    let staged = try StagedLink(stage)
    shutdown(staged.pair.theirs, Int32(SHUT_RDWR))
    await settle()
    #expect(staged.losses == [.remote(.unspecifiedError)])
  }

  /// The adapter is gone with the link: its end is the reason.
  @Test func aSocketThatEndsWithItsAdapterWaitsForTheReason() async throws {
    let staged = try StagedLink(stage)
    stage.machine.devices = []
    shutdown(staged.pair.theirs, Int32(SHUT_RDWR))
    await settle()
    #expect(staged.losses.isEmpty && staged.link.isHeld)
    await testTimers.sleep(for: .seconds(1))
    let failure = StackError("go on with hci0", .adapterRemoved)
    #expect(staged.losses == [.adapter(failure)] && stage.machine.failures == [failure])
  }

  /// The kernel ends all links before it switches the adapter off, with the reason Remote Device Terminated due to Power Off.
  @Test(arguments: [true, false])
  func aLinkThatTheKernelEndsForPowerOffWaitsForThat(_ stays: Bool) async throws {
    let staged = try StagedLink(stage)
    stage.receive("01060403" + "4000" + "15")
    await settle()
    #expect(staged.losses.isEmpty && staged.link.isHeld)
    if !stays { stage.machine.devices = [KernelStage.Machine.hci0(isUp: false)] }
    await testTimers.sleep(for: .seconds(6))
    let failure = StackError("go on with hci0", .adapterDown(AdapterIndex(rawValue: 0)))
    #expect(staged.losses == [stays ? .local : .adapter(failure)])
    #expect(stage.machine.failures == (stays ? [] : [failure]))
  }

  /// Another program ends the link: it is this machine's doing.
  @Test func aLinkThatAnotherProgramEndsIsEndedLocally() throws {
    let staged = try StagedLink(stage)
    stage.receive("01060403" + "4000" + "13")
    #expect(staged.losses == [.local])
    stage.disconnected(reason: "16")
    #expect(staged.losses == [.local])
  }

  // MARK: The thread that closes

  /// To close a link's socket, or a controller that its driver switches off, may take seconds.
  @Test func socketsThatTakeLongToCloseAreClosedOnAThread() throws {
    let pairs = try (0..<3).map { _ in try SocketPair(keepsPackets: true) }
    let link = try L2CAPSocket(pairs[0].ours, handle: nil, timers: testTimers)
    #expect(link.packets.closesOnThread)
    let controller = HCISocket<UserChannel>(taken: pairs[1].ours)
    #expect(controller.packets.closesOnThread)
    let other = PacketSocket(descriptor: pairs[2].ours, largestPacket: 64, timers: testTimers)
    #expect(!other.closesOnThread)
  }

  /// A TCP connection that lingers (socket(7)) and whose other end does not read: to close it takes 20 s.
  private func lingering() throws -> (ours: Int32, theirs: Int32) {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let ours = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
      pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        bind(listener, $0, length) == 0 && listen(listener, 1) == 0 && getsockname(listener, $0, &length) == 0
          && connect(ours, $0, length) == 0
      }
    }
    try #require(isConnected)
    let theirs = accept(listener, nil, nil)
    var time = linger(l_onoff: 1, l_linger: 20)
    setsockopt(ours, SOL_SOCKET, SO_LINGER, &time, socklen_t(MemoryLayout<linger>.size))
    let bytes = [UInt8](repeating: 0, count: 1 << 16)
    while send(ours, bytes, bytes.count, Int32(MSG_DONTWAIT)) > 0 {}
    return (ours, theirs)
  }

  /// The loop goes on, gives it up after two seconds, and closes others at once.
  @Test func slowCloseDoesNotBlockOthers() async throws {
    let slow = try lingering()
    var ends: [String] = []
    KernelCall.close(slow.ours, timers: testTimers) { ends.append("slow") }
    let pair = try SocketPair(keepsPackets: true)
    await EpollLoop.shared.stoppingVirtualTime {
      await withCheckedContinuation { continuation in
        KernelCall.close(pair.ours, timers: testTimers) {
          ends.append("other")
          continuation.resume()
        }
      }
    }
    #expect(ends == ["other"])
    await testTimers.sleep(for: .milliseconds(1999))
    #expect(ends == ["other"])
    await testTimers.sleep(for: .milliseconds(2))
    #expect(ends == ["other", "slow"])
    // With data that was not read, this ends the other side at once.
    close(slow.theirs)
  }

  @Test func eachDescriptorIsClosedAndReportedOnce() async throws {
    let pairs = try (0..<5).map { _ in try SocketPair(keepsPackets: true) }
    var closed: [Int] = []
    await EpollLoop.shared.stoppingVirtualTime {
      await withCheckedContinuation { continuation in
        for (number, pair) in pairs.enumerated() {
          KernelCall.close(pair.ours, timers: testTimers) {
            BluetoothActor.shared.assertIsolated()
            #expect(
              pair.read().isEmpty && send(pair.theirs, [1] as [UInt8], 1, Int32(MSG_NOSIGNAL)) == -1)
            closed.append(number)
            if closed.count == pairs.count { continuation.resume() }
          }
        }
        // Not within the call.
        #expect(closed.isEmpty)
      }
    }
    #expect(closed.sorted() == [0, 1, 2, 3, 4])
    await testTimers.sleep(for: .seconds(3))
    #expect(closed.count == 5)
  }
}
