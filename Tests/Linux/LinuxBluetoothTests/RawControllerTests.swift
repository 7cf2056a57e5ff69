import HaloBluetoothCore
import TestSupport
import Testing

@testable import HCI
@testable import HaloLinuxBluetooth

@Suite struct RawControllerTests {
  private final class Outbox {
    var packets: [String] = []
  }

  private let timers = Timers()
  private let out = Outbox()
  private let controller: RawController

  init() {
    let out = self.out
    controller = RawController(timers: timers) { out.packets.append(Hex.string(Array($0))) }
  }

  private func receive(_ packet: String) {
    let bytes = hex(packet)
    controller.receive(bytes.span.bytes, at: timers.now)
  }

  private func sent() -> [String] {
    defer { out.packets = [] }
    // So that a replay can tell our commands from the kernel's.
    for packet in out.packets {
      let bytes = hex(packet)
      let opcode = HCIOpcode(rawValue: UInt16(bytes[1]) | UInt16(bytes[2]) << 8)
      #expect(RawController.opcodes.contains(opcode))
    }
    return out.packets
  }

  private func complete(_ opcode: String, _ status: String = "00", credits: String = "01") {
    receive("040e04" + credits + opcode + status)
  }

  /// Answers the two questions of the start.
  private func ready(_ commands: [any HCICommand.Type] = [LESetScanEnable.self]) -> Result<
    RawController.Information, StackError
  >? {
    var result: Result<RawController.Information, StackError>?
    controller.initialize { result = $0 }
    receive("040e0c01" + "0110" + "00" + "0900000902000f00")
    receive("040e4401" + "0210" + "00" + Hex.string(SupportedCommands(commands).bytes))
    _ = sent()
    return result
  }

  @Test func initializesWithoutReset() throws {
    var result: Result<RawController.Information, StackError>?
    controller.initialize { result = $0 }
    #expect(sent() == ["01011000"])
    receive("040e0c01" + "0110" + "00" + "0900000902000f00")
    #expect(sent() == ["01021000"])
    receive(
      "040e4401" + "0210" + "00" + Hex.string(SupportedCommands([LESetExtendedScanParameters.self]).bytes))
    #expect(try result?.get().usesExtendedScan == false)
  }

  /// The kernel's own commands are answered on the same channel, with budgets that are the kernel's.
  @Test func ignoresCompletionsOfOtherCommands() {
    _ = ready()
    controller.setScan(.gentle)
    #expect(sent() == ["010b200701800010000000"])
    complete("0c20", credits: "00")
    complete("0320", credits: "00")
    #expect(sent() == [])
    complete("0b20", credits: "00")
    #expect(sent() == ["010c20020100"])
  }

  @Test func theExtendedCommandsWhereBothExist() throws {
    let result = ready([LESetExtendedScanParameters.self, LESetExtendedScanEnable.self])
    #expect(try result?.get().usesExtendedScan == true)
    controller.setScan(.gentle)
    #expect(sent().first?.hasPrefix("014120") == true)
  }

  @Test func stopsScanOfAnotherProgramFirst() {
    _ = ready()
    var failures: [StackError] = []
    controller.onScanRefusal = { if let error = $0 { failures.append(error) } }
    controller.setScan(.gentle)
    complete("0b20", "0c")
    #expect(sent() == ["010b200701800010000000", "010c20020000"])
    complete("0c20", "0c")
    #expect(sent() == ["010b200701800010000000"])
    complete("0b20")
    complete("0c20")
    #expect(sent() == ["010c20020100"])
    #expect(failures == [])
  }

  @Test func aControllerThatRefusesTwiceHasRefused() {
    _ = ready()
    var failures: [StackError] = []
    controller.onScanRefusal = { if let error = $0 { failures.append(error) } }
    controller.setScan(.gentle)
    complete("0b20", "0c")
    complete("0c20")
    complete("0b20", "0c")
    #expect(failures == [.commandFailed(LESetScanParameters.opcode, .commandDisallowed)])
  }

  /// A controller takes either set of commands, not both (Core Specification Vol 4, Part E, 3.1.1). A kernel that knows
  /// that the extended ones are broken uses the legacy ones (bluetooth-next#133).
  @Test func theOtherSetIsTriedWhereTheKernelMayUseIt() {
    _ = ready([LESetExtendedScanParameters.self, LESetExtendedScanEnable.self])
    controller.setScan(.gentle)
    for _ in 0..<2 {
      complete("4120", "0c")
      complete("4220", "0c")
    }
    #expect(sent().allSatisfy { $0.hasPrefix("014120") || $0.hasPrefix("014220") })
    timers.advance(by: .milliseconds(250))
    #expect(sent() == ["010b200701800010000000"])
    complete("0b20")
    complete("0c20")
    #expect(sent() == ["010c20020100"])
  }

  @Test func theSetThatTheKernelUsesIsUsed() {
    _ = ready([LESetExtendedScanParameters.self, LESetExtendedScanEnable.self])
    receive("010b200701800010000000")
    controller.setScan(.gentle)
    #expect(sent() == ["010b200701800010000000"])
    complete("0b20")
    complete("0c20")
    _ = sent()
    controller.setScan(nil)
    complete("0c20")
    _ = sent()
    receive("01412008000001008000" + "1000")
    controller.setScan(.gentle)
    #expect(sent().first?.hasPrefix("014120") == true)
  }

  @Test func aScanWithoutReportsIsStartedAgain() {
    _ = ready()
    var counts: [Int] = []
    controller.onScanSilence = { counts.append($0) }
    controller.setScan(.gentle)
    complete("0b20")
    complete("0c20")
    for count in 1...3 {
      _ = sent()
      timers.advance(by: RawController.longestScanSilence)
      #expect(counts.last == count)
      #expect(sent() == ["010c20020000"])
      for opcode in ["0c20", "0b20", "0c20"] { complete(opcode) }
    }
  }

  // MARK: A scan that others switch off

  private func scanning(_ commands: [any HCICommand.Type] = [LESetScanEnable.self]) {
    _ = ready(commands)
    controller.setScan(.gentle)
    complete("0b20")
    complete("0c20")
    _ = sent()
  }

  /// The kernel ends the discovery of another program (bluetoothd; bluez/bluez 1345, every ten seconds): it cannot know who else
  /// listens. It is on again within 100 ms, as often as that happens.
  @Test func aScanThatAnotherProgramEndsIsStartedAgain() {
    scanning()
    for _ in 0..<3 {
      receive("010c20020000")
      complete("0c20")
      #expect(sent() == [])
      timers.advance(by: .milliseconds(100))
      #expect(sent() == ["010b200701800010000000"])
      complete("0b20")
      complete("0c20")
      #expect(sent() == ["010c20020100"])
    }
    // It is not told as a refusal, nor started after it was ended here.
    controller.setScan(nil)
    complete("0c20")
    _ = sent()
    receive("010c20020000")
    timers.advance(by: .seconds(200))
    #expect(sent() == [])
  }

  @Test func anExtendedScanThatAnotherProgramEndsIsStartedAgain() {
    _ = ready([LESetExtendedScanParameters.self, LESetExtendedScanEnable.self])
    controller.setScan(.gentle)
    complete("4120")
    complete("4220")
    _ = sent()
    receive("014220060000" + "00000000")
    timers.advance(by: .milliseconds(100))
    #expect(sent().first?.hasPrefix("014120") == true)
  }

  /// HCIDEVRESET: the kernel resets the controller, leaves it with the masks of a reset, in which LE is off, and counts no
  /// buffer.
  @Test func aResetByAnotherProgramIsFollowedByTheSetUpAndTheScan() {
    scanning()
    receive("01030c00")
    complete("030c")
    #expect(sent() == ["01010c08" + "ffffffffff9f0020"])
    complete("010c")
    #expect(sent() == ["01051000"])
    receive("040e0b01" + "0510" + "00" + "fb00" + "40" + "0800" + "0100")
    #expect(sent() == ["01022000"])
    receive("040e0701" + "0220" + "00" + "fb00" + "08")
    #expect(sent() == ["01032000"])
    // LE Encryption, and extended advertising.
    receive("040e0c01" + "0320" + "00" + "0110000000000000")
    #expect(sent() == ["01012008" + "1f12020000000000"])
    complete("0120")
    timers.advance(by: .milliseconds(100))
    #expect(sent() == ["010b200701800010000000"])
  }

  /// The kernel switches the scan off before it creates a link: some controllers can't do both. It goes on after the link is
  /// there, or not; after five seconds in any case, if that is never reported.
  @Test(arguments: [true, false])
  func aScanThatEndsForACreationWaitsForItsEnd(_ isReported: Bool) {
    scanning()
    receive("010c20020000")
    complete("0c20")
    receive("01" + "0d20" + "19" + String(repeating: "00", count: 25))
    timers.advance(by: .seconds(4))
    #expect(sent() == [])
    if isReported {
      receive("043e1301" + "02" + "0000" + "00" + "01" + "b2a1332211c0" + "0000" + "0000" + "0000" + "00")
    } else {
      timers.advance(by: .seconds(1))
    }
    #expect(sent() == ["010b200701800010000000"])
  }

  /// A command of another program that comes while one of ours is under way was sent before it.
  @Test func startingScanIgnoresEarlierForeignStop() {
    _ = ready()
    controller.setScan(.gentle)
    complete("0b20")
    receive("010c20020000")
    complete("0c20")
    _ = sent()
    timers.advance(by: .seconds(1))
    #expect(sent() == [])
  }

  @Test func theScanPausesWhileTheKernelConnects() {
    _ = ready()
    controller.setScan(.gentle)
    complete("0b20")
    complete("0c20")
    _ = sent()
    var isPaused = false
    controller.pauseScan { isPaused = true }
    #expect(sent() == ["010c20020000"] && !isPaused)
    complete("0c20")
    #expect(isPaused)
    controller.resumeScan()
    #expect(sent() == ["010b200701800010000000"])
  }

  @Test func reportsLinkChanges() {
    var news: [RawController.LinkChange] = []
    controller.onLink = { news.append($0) }
    let peer = BluetoothAddress(0xC011_2233_A1B2, .random)
    receive("043e1301" + "00" + "4000" + "00" + "01" + "b2a1332211c0" + "0600" + "0000" + "9001" + "00")
    receive("043e0a03" + "00" + "4000" + "1800" + "0200" + "c800")
    receive("0405040040003e")
    receive("043e1301" + "3e" + "0000" + "00" + "01" + "b2a1332211c0" + "0000" + "0000" + "0000" + "00")
    let handle = ConnectionHandle(rawValue: 0x40)
    func parameters(_ interval: UInt16, _ latency: UInt16, _ timeout: UInt16) -> LinkParameters {
      LinkParameters(
        interval: ConnectionInterval(rawValue: interval), latency: latency,
        supervisionTimeout: SupervisionTimeout(rawValue: timeout))
    }
    #expect(
      news == [
        .connected(handle, peer, .central, parameters(6, 0, 400)),
        .parameters(handle, parameters(24, 2, 200)),
        .disconnected(handle, .connectionFailedToBeEstablished),
        .failed(peer, .connectionFailedToBeEstablished),
      ])
  }

  @Test func parametersAreAskedForBesideTheKernel() throws {
    _ = ready()
    var news: [RawController.LinkChange] = []
    controller.onLink = { news.append($0) }
    let handle = ConnectionHandle(rawValue: 0x40)
    let wanted = ConnectionParameters(
      intervalMin: ConnectionInterval(rawValue: 10), intervalMax: ConnectionInterval(rawValue: 16),
      supervisionTimeout: SupervisionTimeout(rawValue: 300))
    var result: Result<Void, StackError>?
    controller.update(handle, to: wanted) { result = $0 }
    #expect(sent() == ["0113200e" + "4000" + "0a00" + "1000" + "0000" + "2c01" + "00000000"])
    receive("040f04" + "00" + "01" + "1320")
    try #require(result).get()
    receive("043e0a03" + "2a" + "4000" + "0000" + "0000" + "0000")
    #expect(news == [.parametersRefused(handle, HCIErrorCode(rawValue: 0x2A))])
  }

  @Test func reportsCommandTimeout() {
    var failures: [StackError] = []
    controller.onFailure = { failures.append($0) }
    controller.initialize { _ in }
    timers.advance(to: .zero + HostController.commandDeadline)
    #expect(failures == [.commandTimedOut(ReadLocalVersionInformation.opcode)])
  }

  @Test func damageIsLeftToTheKernel() {
    _ = ready()
    for packet in [
      "043e1301" + "00" + "4000" + "00" + "01" + "b2a1332211c0" + "0600" + "0000" + "9001" + "00"
    ] {
      checkDecoderIsTotal(hex(packet)) { controller.receive($0.span.bytes, at: .zero) }
    }
  }

  /// What the kernel is about to do is known before it has come of it.
  @Test func commandsOfTheKernelAreNews() {
    var news: [RawController.LinkChange] = []
    controller.onLink = { news.append($0) }
    let handle = ConnectionHandle(rawValue: 1)
    receive("01" + "0604" + "03" + "0100" + "15")
    receive("01" + "0d20" + "19" + String(repeating: "00", count: 25))
    receive("01" + "4320" + "02" + "0000")
    receive("01" + "0e20" + "00")
    #expect(news == [.ending(handle, .remotePowerOff), .connecting, .connecting, .connectionCancelled])
    // Others, and what is cut.
    for packet in [
      "01030c00", "010c2000", "01422000", "01060403", "0106040301", "010604030100", "0106", "01", "02400000",
    ] {
      receive(packet)
    }
    #expect(news.count == 4)
  }
}

/// Programs of this package that scan on one adapter of the kernel: each sees what the others send.
@Suite struct SharedScanTests {
  /// A controller with a scan, whose parameters can't be set while it is on, and the programs that share it.
  private final class Shared {
    let timers = Timers()
    var programs: [RawController] = []
    private(set) var isOn = false
    private(set) var commands = 0
    private var waiting: [(sender: Int, packet: [UInt8])] = []

    func add(_ scan: ScanParameters) {
      let number = programs.count
      let program = RawController(timers: timers) { [unowned self] packet in
        waiting.append((number, Array(packet)))
      }
      programs.append(program)
      program.initialize { _ in }
      run()
      program.setScan(scan)
      run()
    }

    /// Executes what was sent.
    func run() {
      while !waiting.isEmpty {
        let (sender, packet) = waiting.removeFirst()
        commands += 1
        for (number, program) in programs.enumerated() where number != sender {
          program.receive(packet.span.bytes, at: timers.now)
        }
        let answer = answer(to: HCIOpcode(ofCommand: packet), packet)
        for program in programs { program.receive(answer.span.bytes, at: timers.now) }
      }
    }

    private func answer(to opcode: HCIOpcode, _ packet: [UInt8]) -> [UInt8] {
      switch opcode {
      case ReadLocalVersionInformation.opcode: return HCIEvent.version.packet
      case ReadLocalSupportedCommands.opcode:
        return HCIEvent.complete(ReadLocalSupportedCommands.self, SupportedCommands([LESetScanEnable.self]))
          .packet
      case LESetScanParameters.opcode where isOn:
        return HCIEvent.complete(opcode, [HCIErrorCode.commandDisallowed.rawValue]).packet
      case LESetScanEnable.opcode: isOn = packet[4] == 1
      default: break
      }
      return HCIEvent.complete(opcode, [0]).packet
    }

    func pass(_ seconds: Int) {
      for _ in 0..<seconds * 100 {
        timers.advance(by: .milliseconds(10))
        run()
      }
    }
  }

  @Test(arguments: [
    (ScanParameters.gentle, ScanParameters.gentle), (ScanParameters(isActive: false), .gentle),
    (.gentle, ScanParameters(isActive: false)), (.aggressive, .gentle),
  ])
  func scansOfTwoProgramsReachAStableState(_ first: ScanParameters, _ second: ScanParameters) {
    let shared = Shared()
    shared.add(first)
    shared.add(second)
    shared.pass(1)
    let before = shared.commands
    shared.pass(60)
    #expect(shared.commands == before && shared.isOn)
    // One ends: the other one goes on by itself.
    shared.programs[1].setScan(nil)
    shared.run()
    shared.pass(1)
    #expect(shared.isOn)
    shared.programs[0].setScan(nil)
    shared.run()
    #expect(!shared.isOn)
  }
}
