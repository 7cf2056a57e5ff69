import GAP
import HaloGATT
import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// An adapter that fails and is used again, with socket pairs in place of the raw channel and of the kernel's management.
@BluetoothActor
@Suite(.onTheLoop) struct KernelRecoveryTests {
  private let stage = KernelStage()
  private let raw: SocketPair
  private let control: SocketPair
  private let hci0 = AdapterIndex(rawValue: 0)

  init() throws {
    raw = try SocketPair(keepsPackets: true)
    control = try SocketPair(keepsPackets: true)
  }

  @BluetoothActor private final class Outcome {
    var information: AdapterInformation?
    var error: StackError?
    var commands: [String] = []
    var isOver: Bool { information != nil || error != nil }
  }

  private static let removed = StackError("go on with hci0", .adapterRemoved)

  /// The adapter is gone, and a link and an attempt with it.
  private func lose() async throws {
    _ = try await stage.adapter.start()
    stage.machine.devices = []
    #expect(!stage.adapter.isUsable())
    await testTimers.sleep(for: .milliseconds(301))
    #expect(stage.machine.failures == [Self.removed] && !stage.adapter.isUsable())
  }

  /// Recovers with these outcomes of the calls that open sockets, and plays the controller.
  private func recover(
    _ outcomes: [FaultPlan.Outcome], within time: Duration = .seconds(10), controllerAnswers: Bool = true
  ) async -> Outcome {
    let outcome = Outcome()
    let adapter = stage.adapter
    let script = FaultScript([.socket, .bind, .control], outcomes.map { $0 })
    let task = spawn {
      await FaultPlan.during(script) {
        do throws(StackError) {
          outcome.information = try await adapter.recover(within: time)
        } catch {
          outcome.error = error
        }
      }
    }
    for _ in 0..<3000 where !outcome.isOver {
      await testTimers.sleep(for: .milliseconds(10))
      answer(outcome, controllerAnswers)
    }
    _ = await task.result
    return outcome
  }

  /// Answers the commands on the raw channel as a controller does.
  private func answer(_ outcome: Outcome, _ answers: Bool) {
    while true {
      let packet = raw.read()
      guard !packet.isEmpty else { return }
      outcome.commands.append(Hex.string(packet))
      guard answers else { continue }
      let opcode = HCIOpcode(ofCommand: packet)
      let event: HCIEvent =
        switch opcode {
        case ReadLocalVersionInformation.opcode: .version
        case ReadLocalSupportedCommands.opcode:
          .complete(opcode, [0] + SupportedCommands([LESetScanEnable.self]).bytes)
        default: .complete(opcode, [0])
        }
      raw.write(event.packet)
    }
  }

  private var opening: [FaultPlan.Outcome] {
    [.result(Int(raw.ours)), .result(0), .result(0), .result(Int(control.ours)), .result(0)]
  }

  /// Read Controller Information, without which the kernel may report no changes, is answered.
  private func expectQuestion() async {
    #expect(control.read() == hex("0400 0000 0000"))
    control.write(hex("0200 0000 0300 0400 11"))
    await settle()
  }

  /// One that was pulled out and is back is switched on, and goes on with the scan.
  @Test func anAdapterThatIsBackIsUsedAgain() async throws {
    stage.adapter.setScan(.gentle)
    try await lose()
    let device = KernelStage.Machine.hci0()
    stage.machine.devices = [device]
    let outcome = await recover(opening)
    let information = try #require(outcome.information)
    #expect(information.address == device.address && !information.usesExtendedScan)
    #expect(stage.adapter.isUsable())
    await expectQuestion()
    // Set Powered.
    #expect(control.read() == hex("0500 0000 0100 01"))
    await settle()
    answer(outcome, true)
    await settle()
    answer(outcome, true)
    #expect(outcome.commands.prefix(2) == ["01011000", "01021000"])
    // Active, of a public address, and on.
    #expect(outcome.commands.contains("010b200701800010000000"))
    #expect(stage.machine.notes.first == "\(Self.removed); waiting for hci0")
    #expect(stage.machine.notes.last == "hci0 can be used again")
    // Reports of the new channel are this adapter's.
    var reports = 0
    stage.adapter.onReport = { _, _ in reports += 1 }
    raw.write(hex("043e0c02 01 00 01 b2a1332211c0 00 c4"))
    await settle()
    #expect(reports == 1)
    #expect(stage.adapter.droppedPackets == 0)
    await stage.adapter.close()
    var byte: UInt8 = 0
    #expect(recv(control.theirs, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
  }

  private func used() async throws {
    try await lose()
    stage.machine.devices = [KernelStage.Machine.hci0()]
    let outcome = await recover(opening)
    try #require(outcome.information != nil)
    stage.machine.failures = []
    await expectQuestion()
    _ = control.read()
    control.write(hex("0200 0000 0300 0500 00"))
    await settle()
  }

  /// The kernel's management reports a removal; only that of this adapter counts.
  @Test func aRemovalEndsIt() async throws {
    try await used()
    control.write(hex("0500 0100 0000"))
    await settle()
    #expect(stage.machine.failures == [])
    stage.machine.devices = []
    control.write(hex("0500 0000 0000"))
    await settle()
    #expect(stage.machine.failures == [Self.removed])
  }

  /// Settings without the power are a power off; others say nothing.
  @Test func aPowerOffEndsIt() async throws {
    try await used()
    stage.machine.devices = [KernelStage.Machine.hci0(isUp: false)]
    control.write(hex("0600 0000 0400 01020000"))
    control.write(hex("0600 0100 0400 00020000"))
    await testTimers.sleep(for: .seconds(1))
    #expect(stage.machine.failures == [])
    control.write(hex("0600 0000 0400 00020000"))
    await testTimers.sleep(for: .milliseconds(310))
    #expect(stage.machine.failures == [StackError("go on with hci0", .adapterDown(hci0))])
  }

  /// The raw channel ends when the adapter is gone.
  @Test func theEndOfTheChannelEndsIt() async throws {
    try await used()
    shutdown(raw.theirs, Int32(SHUT_RDWR))
    await settle()
    #expect(stage.machine.failures == [Self.removed])
  }

  /// Connection parameters are set by management, if it can.
  @Test func parametersAreLoadedBeforeALinkIsMade() async throws {
    try await used()
    var loaded = 0
    let request = ConnectionRequest(
      peer: KernelStage.peer, parameters: StagedLink.wanted, parameterPolicy: .keep)
    stage.machine.notes = []
    stage.adapter.load(request) { loaded += 1 }
    #expect(
      control.read()
        == hex("3500 0000 1100 0100 b2a1332211c0 02 0a00 1000 0200 2c01"))
    #expect(loaded == 0)
    control.write(hex("0200 0000 0300 3500 14"))
    await settle()
    let denied = StackError("set the connection parameters (hci0)", .missing(.netAdmin))
    #expect(loaded == 1 && stage.machine.notes == ["connection parameters are the kernel's: \(denied)"])
    // Without management they are the kernel's, too.
    let other = KernelStage()
    other.adapter.load(request) { loaded += 1 }
    #expect(loaded == 2)
    #expect(other.machine.notes == ["connection parameters are the kernel's: it has no Bluetooth management"])
  }

  /// An adapter that was there all along, and off, is waited for; nobody switches it on.
  @Test func anAdapterThatIsOffIsWaitedFor() async throws {
    _ = try await stage.adapter.start()
    stage.machine.devices = [KernelStage.Machine.hci0(isUp: false)]
    #expect(!stage.adapter.isUsable())
    await testTimers.sleep(for: .milliseconds(301))
    let down = StackError("go on with hci0", .adapterDown(hci0))
    #expect(stage.machine.failures == [down])
    let start = testTimers.now
    let outcome = await recover([], within: .seconds(2))
    #expect(outcome.error == down && testTimers.now - start < .milliseconds(2300))
    stage.machine.devices = [KernelStage.Machine.hci0()]
    #expect(await recover(opening).information != nil)
    await expectQuestion()
    #expect(control.read().isEmpty, "it is on")
  }

  /// A missing privilege is reported at once; what may change is waited for.
  @Test(arguments: [(EPERM, true), (ENODEV, false)])
  func retriesSocketUnlessPrivilegeIsMissing(_ code: Int32, _ isFinal: Bool) async throws {
    try await lose()
    stage.machine.devices = [KernelStage.Machine.hci0()]
    let start = testTimers.now
    let outcome = await recover(
      Array(repeating: .error(code), count: 100), within: .seconds(3))
    let denied = StackError("open hci0", .missing(.netRaw))
    #expect(outcome.error == (isFinal ? denied : Self.removed))
    #expect(testTimers.now - start < .milliseconds(isFinal ? 50 : 3400))
    #expect(isFinal || testTimers.now - start >= .seconds(3))
  }

  /// What needs no recovery is made ready at once.
  @Test func anAdapterThatHasNotFailedIsReady() async throws {
    _ = try await stage.adapter.start()
    let information = try await stage.adapter.recover(within: .seconds(1))
    #expect(information.address == stage.machine.devices[0].address || information.address.value == 0)
    #expect(stage.machine.notes == [])
  }

  /// A shared adapter is not reset, and switched off and on only if management can.
  @Test func stepsOnTheKernelsAdapter() async throws {
    _ = try await stage.adapter.start()
    func text(_ step: RecoverySteps.Step) async throws -> String {
      switch try await stage.adapter.perform(step) {
      case .done(let text): text
      case .leftOut(let reason): "left out: \(reason)"
      case .failed(let reason): "failed: \(reason)"
      case .unrecoverable(let reason): "unrecoverable: \(reason)"
      case .recovered: "recovered"
      }
    }
    for step in [RecoverySteps.Step.cancel, .disconnect] { #expect(try await text(step) == "done") }
    #expect(try await text(.reset) == "left out: the kernel has the adapter")
    #expect(try await text(.powerCycle) == "failed: \(StackError.noBluetooth)")
  }
}
