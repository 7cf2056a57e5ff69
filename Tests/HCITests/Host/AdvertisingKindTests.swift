import HaloBluetoothCore
import TestSupport
import Testing

@testable import HCI

/// Advertisements of all kinds: what is refused, and what is sent to controllers of Bluetooth 4 and 5.
struct AdvertisingKindTests {
  private static let flags = AdvertisingData([.flags([.generalDiscoverable, .brEDRNotSupported])])
  private static let name = AdvertisingData([.localName(Array("T".utf8), isComplete: true)])
  private static let central = BluetoothAddress(0xC0A1_A2A3_A4A5, .random)

  /// Data of a number of bytes: one structure of the manufacturer, or several.
  private static func data(_ count: Int) -> AdvertisingData {
    var structures: [ADStructure] = []
    var left = count
    while left > 0 {
      // What would remain has room for another structure, of four bytes at least.
      let length = left > 255 ? min(255, left - 4) : left
      structures.append(
        .manufacturerData(CompanyIdentifier(rawValue: 0xFFFF), Array(repeating: 7, count: length - 4)))
      left -= length
    }
    return AdvertisingData(structures)
  }

  private func fault(
    _ data: AdvertisingData = AdvertisingData(), _ response: AdvertisingData = AdvertisingData(),
    _ kind: Advertising.Kind = .connectable, _ phys: Advertising.ExtendedPHYs? = nil
  ) -> AdvertisingFault? {
    do throws(AdvertisingFault) {
      _ = try Advertising(data, scanResponse: response, kind: kind, phys: phys)
      return nil
    } catch {
      return error
    }
  }

  // MARK: Refusals

  @Test func dataThatDoNotFitAreRefused() {
    #expect(fault(Self.data(31), Self.data(31)) == nil)
    #expect(fault(Self.data(32)) == .tooLong(.advertisement, 32, 31))
    #expect(fault(Self.flags, Self.data(32)) == .tooLong(.scanResponse, 32, 31))
    #expect(fault(Self.data(1650), AdvertisingData(), .nonConnectable, .le1M) == nil)
    #expect(
      fault(Self.data(1651), AdvertisingData(), .nonConnectable, .le1M)
        == .tooLong(.advertisement, 1651, 1650))
  }

  /// zephyrproject-rtos/zephyr 43204, espressif/esp-idf 8185: a connectable advertisement with extended PDUs has no scan
  /// response, a scannable one has nothing else.
  @Test func dataThatAreNotSentAreRefused() {
    let central = Advertising.Kind.directed(Self.central, isHighDuty: false)
    let none = AdvertisingData()
    #expect(fault(Self.flags, Self.name, .connectable, .le1M) == .notSent(.scanResponse))
    #expect(fault(Self.flags, none, .scannable, .le1M) == .notSent(.advertisement))
    #expect(fault(none, Self.name, .scannable, .le1M) == nil)
    #expect(fault(Self.flags, Self.name, .scannable) == nil)
    #expect(fault(Self.flags, Self.name, .nonConnectable) == .notSent(.scanResponse))
    #expect(fault(Self.flags, none, central) == .notSent(.advertisement))
    #expect(fault(none, Self.name, central) == .notSent(.scanResponse))
  }

  /// embassy-rs/nrf-softdevice 156: bytes that are no structures.
  @Test func rejectsMalformedAdvertisingData() {
    #expect(fault(AdvertisingData(hex("0501"))) == .malformed(.advertisement))
    #expect(fault(Self.flags, Self.flags) == .flagsInScanResponse)
    #expect(
      fault(AdvertisingData(Self.name.structures + Self.name.structures))
        == .repeated(.advertisement, .completeLocalName))
    let two = AdvertisingData(Self.data(8).structures + Self.data(8).structures)
    #expect(fault(two) == nil)
  }

  @Test func intervalsHaveLimits() throws {
    let advertising = try Advertising(Self.flags)
    #expect(try advertising.every(.milliseconds(20)).intervalMin.rawValue == 0x20)
    #expect(try advertising.every(.milliseconds(20)).intervalMax.rawValue == 0x30)
    #expect(try advertising.every(.milliseconds(10_240)).intervalMax.rawValue == 0x4000)
    for wrong in [Duration.milliseconds(19), .milliseconds(10_241), .zero, .seconds(-1)] {
      #expect(throws: AdvertisingFault.interval(wrong)) { try advertising.every(wrong) }
    }
  }

  @Test func faultDescriptionsNameTheRemedy() {
    #expect(
      "\(AdvertisingFault.tooLong(.advertisement, 40, 31))"
        == "the advertisement has 40 bytes, and room for 31; give it less")
    #expect(
      "\(AdvertisingFault.repeated(.scanResponse, .flags))"
        == "the scan response has more than one flags; put it all into one")
    #expect(
      "\(AdvertisingFault.interval(.milliseconds(5)))"
        == "0.005 s is no advertising interval; it has 0.02 to 10.24 s")
  }

  // MARK: Commands

  private func extended() -> ScriptedController {
    .ready(
      ScriptedController.Abilities(
        commands: SupportedCommands([
          LESetExtendedScanParameters.self, LESetExtendedScanEnable.self, LEExtendedCreateConnection.self,
          LESetExtendedAdvertisingParameters.self,
        ])))
  }

  /// What a controller gets for an advertisement: the opcodes without their group, and the first bytes of the parameters.
  private func sent(
    _ controller: ScriptedController, _ advertising: Advertising, _ set: AdvertisingSet = AdvertisingSet()
  )
    -> [String]
  {
    controller.host.setAdvertising(advertising, in: set)
    controller.answerAll()
    return controller.takeSent()
  }

  @Test func aBeaconHasNoScanResponse() throws {
    let beacon = try Advertising(Self.flags, kind: .nonConnectable).every(.milliseconds(20))
    let old = sent(.ready(), beacon)
    // Type 3, and not more often than each 100 ms: the controllers refuse that (micropython/micropython 5722).
    #expect(old.count == 3 && old[0].hasPrefix("0106200f" + "a000a000" + "03"))
    let new = sent(extended(), beacon)
    #expect(new.count == 3 && new[0].hasPrefix("01362019" + "00" + "1000" + "200000" + "300000"))
  }

  @Test func sendsDirectedAdvertisingParameters() throws {
    let call = try Advertising(AdvertisingData(), kind: .directed(Self.central, isHighDuty: false))
    let old = sent(.ready(), call)
    #expect(
      old == ["0106200f" + "a000f000" + "04" + "00" + "01" + "a5a4a3a2a1c0" + "07" + "00", "010a200101"])
    let new = sent(extended(), call)
    #expect(new.count == 2 && new[0].hasPrefix("01362019" + "00" + "1500"))
    #expect(new[0].contains("01" + "a5a4a3a2a1c0"))
  }

  /// Vol 6, Part B, 4.4.2.4.3: 1.28 seconds. New controllers refuse it without that limit (zephyrproject-rtos/zephyr 23916).
  @Test func highDutyCycleFallsBackToLowDutyCycle() throws {
    let call = try Advertising(AdvertisingData(), kind: .directed(Self.central, isHighDuty: true))
    let old = ScriptedController.ready()
    #expect(sent(old, call)[0].hasPrefix("0106200f" + "a000f000" + "01"))
    old.connectionComplete(0, .advertisingTimeout, role: .peripheral)
    old.answerAll()
    #expect(old.takeSent().first?.hasPrefix("0106200f" + "a000f000" + "04") == true)
    let new = extended()
    let start = sent(new, call)
    #expect(
      start[0].hasPrefix("01362019" + "00" + "1d00")
        && start[1] == "01392006" + "01" + "01" + "00" + "8000" + "00")
    new.receive("043e06" + "12" + "3c" + "00" + "0000" + "00")
    new.answerAll()
    let next = new.takeSent()
    // The set is made anew, as it was of another kind.
    #expect(next[0] == "013c2001" + "00" && next[1].hasPrefix("01362019" + "00" + "1500"))
    #expect(next[2] == "01392006" + "01" + "01" + "00" + "0000" + "00")
  }

  /// A central that has connected is called with a high duty the next time.
  @Test func advertisesHighDutyAgainAfterALink() throws {
    let call = try Advertising(AdvertisingData(), kind: .directed(Self.central, isHighDuty: true))
    let controller = ScriptedController.ready()
    controller.host.onAccepted = { _ in }
    _ = sent(controller, call)
    controller.connectionComplete(0x40, role: .peripheral)
    controller.answerAll()
    #expect(controller.takeSent().first?.hasPrefix("0106200f" + "a000f000" + "01") == true)
  }

  @Test func longDataAreSentInParts() throws {
    let long = try Advertising(Self.data(600), kind: .nonConnectable, phys: .leCoded)
    let commands = sent(extended(), long)
    // LE Coded on both channels; operations: first, intermediate, last.
    #expect(
      commands[0].hasPrefix("01362019" + "00" + "0000") && commands[0].contains("7f" + "03" + "00" + "03"))
    let parts = commands.filter { $0.hasPrefix("013720") }
    #expect(parts.map { String($0.dropFirst(8).prefix(8)) } == ["000100fb", "000000fb", "00020062"])
    #expect(!commands.contains { $0.hasPrefix("013820") })
  }

  // MARK: Several

  @Test func newControllersHaveSeveral() throws {
    let controller = extended()
    let (first, second) = (AdvertisingSet(), AdvertisingSet())
    #expect(sent(controller, try Advertising(Self.flags), first)[0].hasPrefix("01362019" + "00"))
    #expect(
      sent(controller, try Advertising(Self.name, kind: .nonConnectable), second)[0].hasPrefix(
        "01362019" + "01"))
    controller.host.setAdvertising(nil, in: first)
    controller.answerAll()
    #expect(controller.takeSent() == ["01392006" + "00" + "01" + "00" + "0000" + "00"])
  }

  /// A link ends one of them, which the controller names.
  @Test func aLinkEndsTheOneThatWasAnswered() throws {
    let controller = extended()
    controller.host.onAccepted = { _ in }
    let sets = [AdvertisingSet(), AdvertisingSet()]
    for set in sets { _ = sent(controller, try Advertising(Self.flags), set) }
    controller.connectionComplete(0x40, role: .peripheral)
    controller.receive("043e06" + "12" + "00" + "01" + "4000" + "00")
    controller.answerAll()
    let again = controller.takeSent()
    #expect(again.count == 4 && again[0].hasPrefix("01362019" + "01"))
    controller.timers.advance(to: controller.timers.now + AdvertisingController.endLimit)
    controller.answerAll()
    #expect(controller.takeSent() == [])
  }

  /// If it does not say which one, all are begun again: one that still runs is stopped for that.
  @Test func aLinkOfAnUnknownOneBeginsAllAgain() throws {
    let controller = extended()
    controller.host.onAccepted = { _ in }
    let sets = [AdvertisingSet(), AdvertisingSet()]
    for set in sets { _ = sent(controller, try Advertising(Self.flags), set) }
    controller.connectionComplete(0x40, role: .peripheral)
    controller.timers.advance(to: controller.timers.now + AdvertisingController.endLimit)
    controller.answerAll()
    #expect(controller.takeSent().filter { $0.hasPrefix("01362019") }.count == 2)
  }

  /// A beacon is not ended by a link.
  @Test func aLinkDoesNotEndABeacon() throws {
    let controller = extended()
    controller.host.onAccepted = { _ in }
    _ = sent(controller, try Advertising(Self.flags, kind: .nonConnectable))
    controller.connectionComplete(0x40, role: .peripheral)
    controller.timers.advance(to: controller.timers.now + .seconds(2))
    controller.answerAll()
    #expect(controller.takeSent() == [])
  }

  @Test func oldControllersHaveOne() throws {
    let controller = ScriptedController.ready()
    let (first, second) = (AdvertisingSet(), AdvertisingSet())
    var refusals: [StackError?] = []
    second.onResult = { refusals.append($0) }
    _ = sent(controller, try Advertising(Self.flags), first)
    #expect(sent(controller, try Advertising(Self.name), second) == [])
    #expect(refusals == [StackError("advertise", .advertisingInUse(1))])
    controller.host.setAdvertising(nil, in: first)
    controller.answerAll()
    #expect(controller.takeSent().count == 5)
    #expect(refusals.count == 2 && refusals[1] == nil)
  }

  /// Extended PDUs need the commands of Bluetooth 5.
  @Test func oldControllersHaveNoExtendedPDUs() throws {
    let controller = ScriptedController.ready()
    let set = AdvertisingSet()
    var refusals: [StackError?] = []
    set.onResult = { refusals.append($0) }
    #expect(sent(controller, try Advertising(Self.data(100), phys: .le1M), set) == [])
    #expect(refusals == [.extendedAdvertisingNotSupported])
  }
}
