import GAP
import HaloGATT
import Glibc
import HCI
import HaloBluetoothCore
import HaloSecurityManager
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// Connecting through the kernel: who listens when, and what the kernel's errors lead to. Socket pairs stand for the
/// kernel's sockets, whose bind and connect succeed or fail as the test says.
@BluetoothActor
@Suite(.onTheLoop) struct KernelConnectorTests {
  @BluetoothActor private final class Attempt {
    var results: [Result<any ATTLink, StackError>] = []
    var cancel: () -> Void = {}
    var error: StackError? {
      if case .failure(let error) = results.last { error } else { nil }
    }
  }

  /// LE Set Scan Enable.
  private let starting = "010c2002" + "01" + "00"
  private let stopping = "010c2002" + "00" + "00"

  private func stage(_ release: KernelRelease? = nil, _ outcomes: [Int32]) async throws -> (
    KernelStage, [SocketPair]
  ) {
    let stage = KernelStage(release)
    _ = try await stage.adapter.start()
    let pairs = try outcomes.map { code in
      let pair = try SocketPair(keepsPackets: true)
      FaultPlan.add([.result(0)], to: .bind, on: pair.ours)
      FaultPlan.add([code == 0 ? .result(0) : .error(code)], to: .connect, on: pair.ours)
      return pair
    }
    stage.adapter.sockets = L2CAPSocketPool(pairs.reversed().map(\.ours))
    _ = stage.takeSent()
    return (stage, pairs)
  }

  private func connect(_ stage: KernelStage, deadline: Duration = .seconds(30)) -> Attempt {
    let attempt = Attempt()
    attempt.cancel = stage.adapter.connect(
      ConnectionRequest(peer: KernelStage.peer, deadline: deadline)
    ) { attempt.results.append($0) }
    return attempt
  }

  /// A controller that scans rejects the kernel's own scan: the scan is off before the kernel connects.
  @Test func anOlderKernelConnectsWithoutAScan() async throws {
    let (stage, pairs) = try await stage(KernelRelease(major: 6, minor: 1), [0])
    let attempt = connect(stage)
    await settle()
    // Passive and continuous, with a random address, as the adapter has no other.
    #expect(
      stage.takeSent(LESetScanParameters.opcode, LESetScanEnable.opcode) == [
        "010b2007" + "00" + "8000" + "8000" + "01" + "00", starting,
      ])
    // Neither another device, nor the peer if it can't be connected to (ADV_NONCONN_IND).
    stage.advertise("b3")
    stage.advertise(type: "03")
    await settle()
    #expect(stage.takeSent(LESetScanEnable.opcode) == [])
    stage.advertise()
    #expect(stage.takeSent(LESetScanEnable.opcode) == [stopping])
    #expect(attempt.results.isEmpty)
    await settle()
    #expect(attempt.results.count == 1 && attempt.error == nil)
    // Nothing is wanted any more.
    #expect(stage.takeSent(LESetScanEnable.opcode) == [])
    for pair in pairs { pair.finish() }
  }

  /// Since 6.10 the kernel connects when this program's scan hears the peer.
  @Test func aNewerKernelConnectsWhileTheScanGoesOn() async throws {
    let (stage, pairs) = try await stage(.takesScanForDiscovery, [0])
    let attempt = connect(stage)
    await settle()
    #expect(stage.takeSent(LESetScanEnable.opcode) == [starting])
    stage.advertise()
    await settle()
    #expect(attempt.results.count == 1 && attempt.error == nil)
    #expect(stage.takeSent(LESetScanEnable.opcode) == [stopping])
    for pair in pairs { pair.finish() }
  }

  /// A bonded device is heard at a private address; the kernel, which can resolve it, is asked for the one that stays.
  @Test(arguments: [KernelRelease(major: 6, minor: 1), .takesScanForDiscovery])
  func aDeviceThatChangesItsAddressIsRecognized(_ release: KernelRelease) async throws {
    let (stage, pairs) = try await stage(release, [0])
    var bond = Bond(peer: KernelStage.peer, own: .zero, isSecureConnections: true)
    // The key and the address of the specification's sample data (Core Specification Vol 3, Part H, D.7).
    bond.identityResolvingKey = hex("ec0234a357c8ad05341010a60a397d9b").reversed()
    bond.keyAsCentral = LongTermKey([UInt8](repeating: 1, count: 16))
    let bonds = SimulatedBonds()
    bonds.make(.store(bond)) { _ in }
    stage.adapter.security = SecurityHost(
      LibcryptoCryptography.shared, bonds: bonds, settings: PairingSettings(policy: .encryptOnly))
    let attempt = connect(stage)
    await settle()
    // Another device with a private address.
    stage.receive("043e0c02" + "01" + "00" + "01" + "abfb0d948170" + "00" + "c4")
    await settle()
    #expect(stage.takeSent(LESetScanEnable.opcode) == [starting] && attempt.results.isEmpty)
    stage.receive("043e0c02" + "01" + "00" + "01" + "aafb0d948170" + "00" + "c4")
    await settle()
    #expect(attempt.results.count == 1 && attempt.error == nil)
    #expect(try attempt.results.first?.get().peer == KernelStage.peer)
    for pair in pairs { pair.finish() }
  }

  /// A scan of the program goes on as it was, active or not.
  @Test func resumesScanWithItsParameters() async throws {
    let (stage, pairs) = try await stage(nil, [0])
    stage.adapter.setScan(.gentle)
    await settle()
    let gentle = ["010b2007" + "01" + "8000" + "1000" + "01" + "00", starting]
    #expect(stage.takeSent(LESetScanParameters.opcode, LESetScanEnable.opcode) == gentle)
    let attempt = connect(stage)
    await settle()
    #expect(
      stage.takeSent(LESetScanParameters.opcode, LESetScanEnable.opcode) == [
        stopping, "010b2007" + "01" + "8000" + "8000" + "01" + "00", starting,
      ])
    stage.advertise()
    await settle()
    #expect(attempt.results.count == 1)
    #expect(stage.takeSent(LESetScanParameters.opcode, LESetScanEnable.opcode) == [stopping] + gentle)
    for pair in pairs { pair.finish() }
  }

  /// The kernel did not find the peer: it is listened for again.
  @Test(arguments: [EHOSTDOWN, ETIMEDOUT])
  func aPeerThatTheKernelDoesNotHearIsListenedForAgain(_ code: Int32) async throws {
    let (stage, pairs) = try await stage(nil, [code, 0])
    let attempt = connect(stage)
    await settle()
    stage.advertise()
    await settle()
    #expect(stage.takeSent(LESetScanEnable.opcode) == [starting, stopping, starting])
    #expect(attempt.results.isEmpty)
    stage.advertise()
    await settle()
    #expect(attempt.results.count == 1 && attempt.error == nil)
    for pair in pairs { pair.finish() }
  }

  @Test func connectErrorEndsAttempt() async throws {
    let (stage, pairs) = try await stage(nil, [ECONNREFUSED])
    let attempt = connect(stage)
    await settle()
    stage.advertise()
    await settle()
    #expect(attempt.error == StackError("connect to \(KernelStage.peer)", .connectionRefused))
    for pair in pairs { pair.finish() }
  }

  /// An attempt that is cancelled leaves no socket: the kernel stops connecting when it is closed.
  @Test func cancellingClosesTheSocket() async throws {
    let (stage, pairs) = try await stage(nil, [EINPROGRESS])
    // The socket is full, and so not writable: the kernel is still connecting.
    let packet = [UInt8](repeating: 0, count: 1024)
    while send(pairs[0].ours, packet, packet.count, Int32(MSG_DONTWAIT)) > 0 {}
    let attempt = connect(stage)
    await settle()
    stage.advertise()
    await settle()
    #expect(attempt.results.isEmpty)
    attempt.cancel()
    attempt.cancel()
    #expect(attempt.results.count == 1 && attempt.error == .cancelled)
    while !pairs[0].read().isEmpty {}
    let theirs = pairs[0].theirs
    let isClosed = await offTheLoop {
      var poll = pollfd(fd: theirs, events: Int16(POLLIN), revents: 0)
      return Glibc.poll(&poll, 1, 30_000) == 1 && poll.revents & Int16(POLLHUP) != 0
    }
    #expect(isClosed == true)
    pairs[0].finish()
  }

  /// Two requests: the second one begins when the first has ended.
  @Test func oneConnectsAfterTheOther() async throws {
    let (stage, pairs) = try await stage(nil, [0, 0])
    let attempts = [connect(stage), connect(stage, deadline: .seconds(40))]
    await settle()
    stage.advertise()
    await settle()
    #expect(attempts.map(\.results.count) == [1, 0])
    stage.advertise()
    await settle()
    #expect(attempts.map(\.results.count) == [1, 1])
    for pair in pairs { pair.finish() }
  }

  @Test func aPeerThatIsNotHeardIsWaitedForUntilTheDeadline() async throws {
    let (stage, _) = try await stage(nil, [])
    let attempt = connect(stage, deadline: .seconds(5))
    await testTimers.sleep(for: .milliseconds(4999))
    #expect(attempt.results.isEmpty)
    await testTimers.sleep(for: .milliseconds(2))
    #expect(attempt.error == .peerNotFound(KernelStage.peer, seconds: 5))
    #expect(stage.takeSent(LESetScanEnable.opcode) == [starting, stopping])
  }

  /// The controller rejects a scan: the program learns of its own, and not of the one that looks for a peer, for which the
  /// kernel looks then.
  @Test func reportsScanRejectionToScanOwnerOnly() async throws {
    let (stage, pairs) = try await stage(nil, [0])
    var failures: [StackError] = []
    stage.adapter.onScanRefusal = { if let error = $0 { failures.append(error) } }
    stage.machine.statuses[LESetScanEnable.opcode] = [.commandDisallowed]
    let attempt = connect(stage)
    await settle()
    #expect(failures == [] && attempt.results.count == 1 && attempt.error == nil)
    for pair in pairs { pair.finish() }

    stage.machine.statuses[LESetScanEnable.opcode] = [.commandDisallowed]
    stage.adapter.setScan(.gentle)
    await settle()
    #expect(failures == [.commandFailed(LESetScanEnable.opcode, .commandDisallowed)])
  }

  /// A controller refuses the scan, as some do while they have a link (bluetooth-next#133), and accepts it later.
  @Test func aScanThatIsRejectedIsTriedAgain() async throws {
    let (stage, _) = try await stage(nil, [])
    var results: [StackError?] = []
    stage.adapter.onScanRefusal = { results.append($0) }
    stage.machine.statuses[LESetScanEnable.opcode] = [.commandDisallowed]
    stage.adapter.setScan(.gentle)
    await settle()
    #expect(results == [.commandFailed(LESetScanEnable.opcode, .commandDisallowed)])
    await testTimers.sleep(for: .milliseconds(250))
    await settle()
    #expect(results.last == .some(nil) && results.count == 2)
    #expect(stage.takeSent(LESetScanEnable.opcode) == [starting, starting])
  }

  /// A scan that brings nothing, also after it was started again: an adapter on which somebody waits to connect is recovered;
  /// where nobody does, there may be nothing to hear.
  @Test(arguments: [false, true]) func silentScanFailsOnlyWithPendingConnection(_ isWaiting: Bool)
    async throws
  {
    let (stage, _) = try await stage(nil, [])
    stage.adapter.setScan(.gentle)
    let attempt = isWaiting ? connect(stage, deadline: .seconds(600)) : nil
    await settle()
    await testTimers.sleep(for: RawController.longestScanSilence)
    await settle()
    #expect(stage.machine.failures == [])
    await testTimers.sleep(for: RawController.longestScanSilence)
    await settle()
    #expect(stage.machine.failures == (isWaiting ? [.scanSilent(seconds: 180)] : []))
    #expect(attempt?.error == (isWaiting ? .scanSilent(seconds: 180) : nil))
  }

  /// The scan is ended first; a controller that does not answer is not waited for longer than half a second.
  @Test(arguments: [false, true]) func closingEndsTheScan(_ isSilent: Bool) async throws {
    let (stage, _) = try await stage(nil, [])
    stage.adapter.setScan(.gentle)
    await settle()
    _ = stage.takeSent()
    if isSilent { stage.machine.silent = [LESetScanEnable.opcode] }
    let start = testTimers.now
    await stage.adapter.close()
    #expect(stage.takeSent(LESetScanEnable.opcode) == [stopping])
    #expect(testTimers.now - start == (isSilent ? .milliseconds(500) : .zero))
  }

  /// The adapter is gone: nothing is connected to, and everybody gets the reason.
  @Test func anAdapterThatGoesEndsTheAttempts() async throws {
    let (stage, _) = try await stage(nil, [])
    let attempts = [connect(stage), connect(stage)]
    await settle()
    stage.machine.devices = []
    stage.advertise()
    await testTimers.sleep(for: .seconds(1))
    let failure = StackError("go on with hci0", .adapterRemoved)
    #expect(attempts.map(\.error) == [failure, failure])
    #expect(stage.machine.failures == [failure])
    #expect(connect(stage).error == failure)
  }
}
