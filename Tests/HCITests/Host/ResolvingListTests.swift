import HaloBluetoothCore
import TestSupport
import Testing

@testable import HCI

/// The resolving list of a controller that refuses commands about it.
struct ResolvingListTests {
  private static let device = ResolvableDevice(
    BluetoothAddress(0x0A0B_0C0D_0E0F, .public), key: [UInt8](repeating: 0x11, count: 16), ownKey: nil)

  private static let list: [any HCICommand.Type] = [
    LEAddDeviceToResolvingList.self, LEClearResolvingList.self, LEReadResolvingListSize.self,
    LESetAddressResolutionEnable.self, LESetPrivacyMode.self,
  ]

  private func controller(without missing: Int? = nil, hasFeature: Bool = true) -> ScriptedController {
    let commands = Self.list.enumerated().filter { $0.offset != missing }.map(\.element)
    var abilities = ScriptedController.Abilities()
    abilities.commands = SupportedCommands([LESetScanEnable.self, LECreateConnection.self] + commands)
    if hasFeature { abilities.leFeatures = .llPrivacy }
    return .ready(abilities)
  }

  private func giveSize(_ size: UInt8, to controller: ScriptedController) {
    controller.receive(.complete(LEReadResolvingListSize.self, .init { $0.size = size }))
  }

  @Test func listIsLoadedWithDevicePrivacy() {
    let controller = controller()
    controller.host.setScan(.gentle)
    controller.answerAll()
    _ = controller.takeSent()
    controller.host.setResolvable([Self.device])
    #expect(controller.takeSent() == ["012a2000"])
    giveSize(8, to: controller)
    controller.answerAll()
    let keys = String(repeating: "11", count: 16) + String(repeating: "00", count: 16)
    let expected = [
      "010c20020000", "01292000", "01272027000f0e0d0c0b0a\(keys)", "014e2008000f0e0d0c0b0a01", "012d200101",
    ]
    #expect(Array(controller.takeSent().prefix(5)) == expected)
    #expect(controller.host.knows(BluetoothAddress(0x0A0B_0C0D_0E0F, .publicIdentity)))
    #expect(controller.takeOpcodes() == [])
  }

  /// Without one of the commands, or the feature, the host resolves.
  @Test(arguments: [0, 1, 2, 3, 4, nil] as [Int?])
  func incompleteListIsNotUsed(_ missing: Int?) {
    let controller = controller(without: missing, hasFeature: missing != nil)
    controller.host.setResolvable([Self.device])
    #expect(controller.takeSent() == [])
    #expect(!controller.host.knows(Self.device.identity))
  }

  /// zephyrproject-rtos/zephyr 24731: what is loaded in part would keep devices away.
  @Test func refusedListIsEmptied() {
    let controller = controller()
    controller.host.setResolvable([Self.device])
    _ = controller.takeSent()
    giveSize(8, to: controller)
    controller.complete(LEClearResolvingList.opcode)
    controller.complete(LEAddDeviceToResolvingList.opcode, .memoryCapacityExceeded)
    #expect(controller.takeOpcodes().last == LEClearResolvingList.opcode)
    controller.answerAll()
    _ = controller.takeSent()
    #expect(!controller.host.knows(Self.device.identity))
    controller.host.setResolvable([])
    controller.host.setResolvable([Self.device])
    #expect(controller.takeSent() == [])
  }

  /// A controller that has resolved an address gets the address that stays without the note of that (apache/mynewt-core 476). One
  /// that takes the list and resolves nothing gets no address type of the list.
  @Test func controllerIsBelievedWhenItHasResolved() {
    let controller = controller()
    controller.host.makePrivateAddress = { _ in BluetoothAddress(0x4000_0000_0001, .random) }
    controller.initialize()
    controller.answerAll()
    controller.host.setResolvable([Self.device])
    giveSize(8, to: controller)
    controller.answerAll()
    _ = controller.takeSent()
    for (isProven, ownType) in [(false, "01"), (true, "03")] {
      if isProven {
        let report = AdvertisingReport(
          address: BluetoothAddress(0x0A0B_0C0D_0E0F, .publicIdentity), eventType: [.legacy, .connectable],
          rssi: -50, data: [])
        controller.receive(.leAdvertisingReports(AdvertisingReports(.legacy, [report])))
      }
      #expect(controller.host.resolves(Self.device.identity) == isProven)
      let attempt = controller.connect(Self.device.identity)
      controller.answerAll()
      // Filter policy, type and address of the peer, and the own address.
      let creation = controller.takeSent().first { $0.hasPrefix("010d20") }
      #expect(creation?.contains("00000f0e0d0c0b0a\(ownType)") == true)
      attempt.giveUp()
      controller.answerAll()
      controller.connectionComplete(0x40, .unknownConnectionIdentifier)
      controller.answerAll()
      _ = controller.takeSent()
    }
  }
}
