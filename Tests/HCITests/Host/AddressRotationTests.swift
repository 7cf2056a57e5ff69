import HaloBluetoothCore
import TestSupport
import Testing

@testable import HCI

/// The change of the private address, with a controller that refuses it, or is busy.
struct AddressRotationTests {
  private let advertising: Advertising
  private let set = AdvertisingSet()

  init() throws { advertising = try Advertising(AdvertisingData([.flags([.brEDRNotSupported])])) }

  private static func address(_ number: UInt64) -> BluetoothAddress {
    BluetoothAddress(0x4000_0000_0000 | number, .random)
  }

  private static func setting(_ number: UInt8) -> String { "010520060" + "\(number)0000000040" }

  /// Its addresses are 1, 2, 3, and so on.
  private func controller(_ abilities: ScriptedController.Abilities = .init()) -> ScriptedController {
    let controller = ScriptedController(abilities)
    var count: UInt64 = 0
    controller.host.makePrivateAddress = { _ in
      count += 1
      return Self.address(count)
    }
    controller.initialize()
    controller.answerAll()
    return controller
  }

  @Test func setUpSetsTheFirst() throws {
    let controller = controller()
    #expect(controller.takeSent().last == Self.setting(1))
    let information = try #require(try controller.outcome?.get())
    #expect(information.address == controller.abilities.publicAddress)
  }

  @Test func withoutAnAddressTheSetUpFails() {
    let controller = ScriptedController()
    controller.host.makePrivateAddress = { _ in nil }
    controller.initialize()
    controller.answerAll()
    #expect(throws: StackError.noPrivateAddress) { try controller.outcome?.get() }
  }

  /// Each beginning has another one, and nothing begins before the controller has it.
  @Test func useBeginsWithAnother() {
    let controller = controller()
    _ = controller.takeSent()
    controller.host.setAdvertising(advertising, in: set)
    #expect(controller.takeSent() == [Self.setting(2)])
    controller.complete(LESetRandomAddress.opcode)
    controller.answerAll()
    let start = controller.takeSent()
    #expect(start.first?.hasPrefix("0106200fa000f0000001") == true && start.last == "010a200101")
    // The same use.
    controller.host.setScan(.gentle)
    controller.answerAll()
    #expect(!controller.takeOpcodes().contains(LESetRandomAddress.opcode))
    controller.host.setAdvertising(nil, in: set)
    controller.host.setScan(nil)
    controller.answerAll()
    _ = controller.takeSent()
    controller.host.setScan(.gentle)
    controller.answerAll()
    #expect(controller.takeSent().first == Self.setting(3))
  }

  /// zephyrproject-rtos/zephyr 9728: what was refused is tried again, and until then all goes on with the address that there is.
  @Test func refusalChangesNothingAndIsTriedAgain() throws {
    let controller = controller()
    var (links, notes): ([LEConnection], [String]) = ([], [])
    controller.host.onAccepted = { links.append($0) }
    controller.host.onNote = { notes.append($0) }
    controller.host.setAdvertising(advertising, in: set)
    _ = controller.takeSent()
    controller.complete(LESetRandomAddress.opcode, .commandDisallowed)
    controller.answerAll()
    #expect(controller.takeSent().last == "010a200101")
    #expect(notes.count == 1 && notes[0].contains("the private address stays"))
    controller.connectionComplete(0x40, role: .peripheral)
    #expect(links.first?.localAddress == Self.address(1))
    controller.answerAll()
    _ = controller.takeSent()
    controller.timers.advance(by: .milliseconds(250))
    controller.answerAll()
    let sent = controller.takeSent()
    #expect(sent.first == "010a200100" && sent[1] == Self.setting(3) && sent.last == "010a200101")
    controller.connectionComplete(0x41, role: .peripheral)
    #expect(links.map(\.localAddress) == [Self.address(1), Self.address(3)])
  }

  /// A central that connects while advertising is being stopped has met the old address.
  @Test func linkOfTheLastMomentHasTheOldAddress() throws {
    let controller = controller()
    var links: [LEConnection] = []
    controller.host.onAccepted = { links.append($0) }
    controller.host.setAdvertising(advertising, in: set)
    _ = controller.takeSent()
    controller.complete(LESetRandomAddress.opcode, .commandDisallowed)
    controller.answerAll()
    _ = controller.takeSent()
    controller.timers.advance(by: .milliseconds(250))
    #expect(controller.takeSent() == ["010a200100"])
    controller.connectionComplete(0x40, role: .peripheral)
    controller.complete(LESetAdvertisingEnable.opcode, .commandDisallowed)
    #expect(controller.takeSent() == [Self.setting(3)])
    controller.complete(LESetRandomAddress.opcode)
    #expect(links.map(\.localAddress) == [Self.address(1)])
  }

  /// zephyrproject-rtos/zephyr 21714: while a link is created, the address can't change; it does when that has ended.
  @Test func creationIsWaitedFor() {
    let controller = controller()
    controller.host.setScan(.gentle)
    _ = controller.takeSent()
    controller.complete(LESetRandomAddress.opcode, .commandDisallowed)
    controller.answerAll()
    let attempt = controller.connect()
    controller.answerAll()
    _ = controller.takeSent()
    controller.timers.advance(by: .milliseconds(250))
    #expect(controller.takeSent() == [])
    controller.connectionComplete()
    controller.answerAll()
    controller.featuresComplete()
    controller.answerAll()
    #expect(attempt.link?.localAddress == Self.address(1))
    let opcodes = controller.takeOpcodes()
    #expect(
      opcodes.suffix(3) == [
        LESetRandomAddress.opcode, LESetScanParameters.opcode, LESetScanEnable.opcode,
      ])
  }

  /// zephyrproject-rtos/zephyr 23222: a controller that has not made the address reports none, and the link has that of the host.
  @Test func eventWithoutAnAddressMeansThatOfTheHost() {
    let controller = controller()
    var links: [LEConnection] = []
    controller.host.onAccepted = { links.append($0) }
    controller.host.setAdvertising(advertising, in: set)
    controller.answerAll()
    for (number, address) in [(0x40, nil), (0x41, Self.address(77))] as [(UInt16, BluetoothAddress?)] {
      controller.receive(
        .leConnectionComplete(
          LEConnectionComplete(form: .enhanced).with {
            $0.handle = handle(number)
            $0.role = .peripheral
            $0.peerAddress = BluetoothAddress(0x1234, .publicIdentity)
            $0.localResolvableAddress = address
            $0.peerResolvableAddress = Self.address(88)
            $0.parameters.interval = interval(12)
            $0.parameters.supervisionTimeout = timeout(400)
          }))
      controller.answerAll()
    }
    #expect(links.map(\.localAddress) == [Self.address(2), Self.address(77)])
    #expect(links.map(\.peerOnAir) == [Self.address(88), Self.address(88)])
    #expect(links.map(\.peer) == Array(repeating: BluetoothAddress(0x1234, .public), count: 2))
  }
}

extension LEConnectionComplete {
  fileprivate func with(_ change: (inout Self) -> Void) -> Self {
    var event = self
    change(&event)
    return event
  }
}
