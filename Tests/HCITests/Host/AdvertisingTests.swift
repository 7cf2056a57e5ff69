import HaloBluetoothCore
import TestSupport
import Testing

@testable import HCI

/// The peripheral role of the host: what public reports tell of controllers that advertise.
struct AdvertisingTests {
  private let advertising: Advertising
  private let set = AdvertisingSet()

  init() throws {
    advertising = try Advertising(
      AdvertisingData([.flags([.generalDiscoverable, .brEDRNotSupported])]),
      scanResponse: AdvertisingData([.localName(Array("T".utf8), isComplete: true)]))
  }

  private static let data = "03" + "020106" + String(repeating: "00", count: 28)
  private static let response = "03" + "020954" + String(repeating: "00", count: 28)
  private static let parameters =
    "0106200f" + "a000" + "f000" + "00" + "00" + "00" + "000000000000" + "07" + "00"
  private static let start = [parameters, "01082020" + data, "01092020" + response, "010a200101"]

  private func extended(_ leFeatures: LEFeatures = [], address: BluetoothAddress? = nil) -> ScriptedController
  {
    var abilities = ScriptedController.Abilities(
      commands: SupportedCommands([
        LESetExtendedScanParameters.self, LESetExtendedScanEnable.self, LEExtendedCreateConnection.self,
        LESetExtendedAdvertisingParameters.self,
      ]))
    abilities.leFeatures = leFeatures
    if let address { abilities.publicAddress = address }
    return .ready(abilities)
  }

  /// Nothing of the start is left to be looked at.
  private func advertise(on controller: ScriptedController) {
    controller.host.setAdvertising(advertising, in: set)
    controller.answerAll()
    _ = controller.takeSent()
  }

  private static let startExtended = [
    "01362019" + "00" + "1300" + "a00000" + "f00000" + "07" + "00" + "00" + "000000000000" + "00" + "7f"
      + "01"
      + "00" + "01" + "00" + "00",
    "01372007" + "00" + "03" + "00" + "03" + "020106", "01382007" + "00" + "03" + "00" + "03" + "020954",
    "01392006" + "01" + "01" + "00" + "0000" + "00",
  ]

  @Test func startsAndStopsAdvertising() {
    let controller = ScriptedController.ready()
    controller.host.setAdvertising(advertising, in: set)
    controller.answerAll()
    #expect(controller.takeSent() == Self.start)
    controller.host.setAdvertising(nil, in: set)
    controller.answerAll()
    #expect(controller.takeSent() == ["010a200100"])
  }

  @Test func newControllersGetASet() {
    let controller = extended()
    controller.host.setAdvertising(advertising, in: set)
    controller.answerAll()
    #expect(controller.takeSent() == Self.startExtended)
    controller.host.setAdvertising(nil, in: set)
    controller.answerAll()
    #expect(controller.takeSent() == ["01392006" + "00" + "01" + "00" + "0000" + "00"])
  }

  /// A set has a random address of its own, which stands beside that of the controller (7.8.52).
  @Test func aSetGetsTheRandomAddress() {
    let controller = extended(address: .zero)
    controller.host.setAdvertising(advertising, in: set)
    controller.answerAll()
    #expect(controller.takeSent()[1] == "01352007" + "00" + "01efbeaddee0")
  }

  // MARK: Links

  @Test func aLinkEndsItAndItBeginsAgain() throws {
    let controller = ScriptedController.ready()
    var links: [LEConnection] = []
    controller.host.onAccepted = { links.append($0) }
    advertise(on: controller)
    controller.connectionComplete(0x40, role: .peripheral)
    let link = try #require(links.first)
    #expect(link.role == .peripheral && link.peer == ScriptedController.peer)
    #expect(link.localAddress == controller.abilities.publicAddress)
    controller.answerAll()
    #expect(controller.takeSent() == Self.start)
  }

  @Test func advertisingCanBeStoppedFromAcceptHandler() {
    let controller = ScriptedController.ready()
    controller.host.onAccepted = { [set] _ in controller.host.setAdvertising(nil, in: set) }
    advertise(on: controller)
    controller.connectionComplete(0x40, role: .peripheral)
    controller.answerAll()
    #expect(controller.takeSent() == [])
  }

  /// btstack#437: some controllers report a link twice. The second event of a link that is advertised for is a new link: the
  /// end of the one before was lost, and with it its subscriptions.
  @Test func aSecondEventIsANewLinkOnlyWhileItAdvertises() {
    let controller = ScriptedController.ready()
    var links: [LEConnection] = []
    controller.host.onAccepted = { links.append($0) }
    controller.host.setAdvertising(advertising, in: set)
    controller.answerAll()
    controller.connectionComplete(0x40, role: .peripheral)
    controller.connectionComplete(0x40, role: .peripheral)
    #expect(links.count == 1)
    controller.answerAll()
    controller.connectionComplete(0x40, role: .peripheral)
    #expect(links.map(\.isConnected) == [false, true])
  }

  /// A central may send before the event of the link is read: they come by different ways over USB.
  @Test func dataMayOvertakeTheEvent() {
    let controller = ScriptedController.ready()
    var data: [String] = []
    controller.host.onAccepted = { $0.onData = { bytes, _, _ in data.append(Hex.string(Array(bytes))) } }
    controller.host.setAdvertising(advertising, in: set)
    controller.answerAll()
    controller.receive("024020" + "0700" + "03000400020500")
    #expect(data == [])
    controller.connectionComplete(0x40, role: .peripheral)
    #expect(data == ["03000400020500"])
  }

  @Test func disconnectsUnclaimedPeripheralLink() {
    let controller = ScriptedController.ready()
    advertise(on: controller)
    controller.connectionComplete(0x40, role: .peripheral)
    #expect(controller.takeSent().contains("01060403400013"))
  }

  /// zephyrproject-rtos/zephyr 33897: a start before LE Advertising Set Terminated is refused with Memory Capacity Exceeded.
  @Test func aSetBeginsAgainWhenItsEndIsReported() {
    let controller = extended()
    controller.host.onAccepted = { _ in }
    advertise(on: controller)
    controller.connectionComplete(0x40, role: .peripheral)
    controller.answerAll()
    #expect(controller.takeSent() == [])
    controller.receive("043e06" + "12" + "00" + "00" + "4000" + "00")
    controller.answerAll()
    #expect(controller.takeSent() == Self.startExtended)
  }

  /// The report may be lost or masked.
  @Test func aSetBeginsAgainWithoutThatReport() {
    let controller = extended()
    controller.host.onAccepted = { _ in }
    advertise(on: controller)
    controller.connectionComplete(0x40, role: .peripheral)
    controller.timers.advance(to: controller.timers.now + AdvertisingController.endLimit)
    controller.answerAll()
    #expect(controller.takeSent() == Self.startExtended)
  }

  /// Directed advertising is over after 1.28 s: Connection Complete with Advertising Timeout, in the peripheral role.
  @Test func advertisingTimeoutDoesNotFailPendingConnection() {
    let controller = ScriptedController.ready()
    advertise(on: controller)
    let attempt = controller.connect()
    controller.answerAll()
    _ = controller.takeSent()
    controller.connectionComplete(0, .advertisingTimeout, role: .peripheral)
    controller.answerAll()
    #expect(attempt.results.isEmpty && controller.takeSent() == Self.start)
  }

  // MARK: Refusals

  /// apache/mynewt-nimble 211, bluez/bluetooth-next 600, zephyrproject-rtos/zephyr 90757: the controller advertises, or has to
  /// be stopped once more, and the host does not know.
  @Test func stopsUnknownAdvertisingBeforeRestart() {
    let controller = ScriptedController.ready()
    var refusals: [StackError?] = []
    set.onResult = { refusals.append($0) }
    controller.host.setAdvertising(advertising, in: set)
    _ = controller.takeSent()
    controller.complete(LESetAdvertisingParameters.opcode, .commandDisallowed)
    #expect(controller.takeSent() == ["010a200100"])
    // arduino-libraries/ArduinoBLE 196: a stop is refused when nothing runs.
    controller.complete(LESetAdvertisingEnable.opcode, .commandDisallowed)
    controller.answerAll()
    #expect(controller.takeSent() == Self.start && refusals == [nil])
  }

  /// zephyrproject-rtos/zephyr 12362: Connection Limit Exceeded while the one link exists. It is tried again with longer and
  /// longer pauses, and at once when a link ends.
  @Test func retriesRefusedAdvertisingWithBackOff() {
    let controller = ScriptedController.ready()
    var refusals: [StackError?] = []
    set.onResult = { refusals.append($0) }
    let attempt = controller.established(0x41)
    controller.host.setAdvertising(advertising, in: set)
    for (index, pause) in [250, 500, 1000].enumerated() {
      for _ in 0..<3 { controller.answerNext() }
      _ = controller.takeSent()
      controller.complete(LESetAdvertisingEnable.opcode, .connectionLimitExceeded)
      #expect(
        refusals
          == Array(
            repeating: .commandFailed(LESetAdvertisingEnable.opcode, .connectionLimitExceeded),
            count: index + 1))
      guard pause < 1000 else { break }
      controller.timers.advance(to: controller.timers.now + .milliseconds(pause - 1))
      #expect(controller.takeSent() == [])
      controller.timers.advance(to: controller.timers.now + .milliseconds(1))
    }
    controller.disconnected(0x41)
    controller.answerAll()
    #expect(controller.takeSent() == Self.start && refusals.count == 4 && refusals[3] == nil)
    #expect(attempt.losses.count == 1)
  }

  /// It goes on after the controller was set up again.
  @Test func resumesAdvertisingAfterHardwareError() {
    let controller = ScriptedController.ready()
    advertise(on: controller)
    controller.receive("04100142")
    controller.answerAll()
    #expect(Array(controller.takeSent().suffix(4)) == Self.start)
  }

  @Test func stopsAdvertisingCancelledDuringStart() {
    let controller = ScriptedController.ready()
    controller.host.setAdvertising(advertising, in: set)
    controller.host.setAdvertising(nil, in: set)
    controller.answerAll()
    #expect(controller.takeSent() == Self.start + ["010a200100"])
  }
}
