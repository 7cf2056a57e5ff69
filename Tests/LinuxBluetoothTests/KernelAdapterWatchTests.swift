import BluetoothCore
import Central
import EventLoop
import GATTClient
import HCI
import TestLoop
import Testing

@testable import LinuxBluetooth

@Suite(.onTheLoop) @BluetoothActor struct KernelAdapterWatchTests {
  private final class Machine {
    var devices: [KernelAdapterWatch.Device] = []
    var lost: [AdapterError.Reason] = []
  }

  private let timers = Timers()
  private let machine = Machine()
  private let watch: KernelAdapterWatch
  private let hci0 = AdapterIndex(rawValue: 0)
  private let address = BluetoothAddress(0x001A_7DDA_7113, .public)

  init() {
    let machine = self.machine
    watch = KernelAdapterWatch(hci0, timers: timers) { machine.devices }
    watch.onLost = { machine.lost.append($0) }
    machine.devices = [device()]
    watch.adopt(device())
  }

  private func device(
    _ number: UInt16 = 0, _ address: UInt64 = 0x001A_7DDA_7113, isUp: Bool = true, isTaken: Bool = false
  ) -> KernelAdapterWatch.Device {
    KernelAdapterWatch.Device(
      index: AdapterIndex(rawValue: number), address: BluetoothAddress(address, .public), isUp: isUp,
      isTaken: isTaken)
  }

  private func pass(_ time: Duration) {
    let end = timers.now + time
    while timers.now < end { timers.advance(to: min(end, timers.now + .milliseconds(10))) }
  }

  @Test func oneThatIsOnIsUsable() {
    #expect(watch.isUsable())
    pass(.seconds(10))
    #expect(machine.lost.isEmpty)
  }

  /// One that is removed is brought down first: the reason is given when it is clear.
  @Test func theReasonIsTheTrueOne() {
    machine.devices = [device(isUp: false)]
    #expect(!watch.isUsable())
    pass(.milliseconds(100))
    #expect(machine.lost.isEmpty)
    machine.devices = []
    pass(.milliseconds(300))
    #expect(machine.lost == [.adapterRemoved])
  }

  @Test func oneThatIsSwitchedOffIsDown() {
    machine.devices = [device(isUp: false)]
    #expect(!watch.isUsable())
    pass(.milliseconds(400))
    #expect(machine.lost == [.adapterDown(hci0)])
  }

  @Test func oneThatIsTakenIsSaidToBe() {
    machine.devices = [device(isTaken: true)]
    #expect(!watch.isUsable())
    pass(.milliseconds(400))
    #expect(machine.lost == [.adapterTaken])
  }

  /// The kernel ends the links first and switches off later: nothing is connected to in between.
  @Test func anAdapterThatIsBeingSwitchedOffIsNotUsed() {
    var stays = false
    watch.expectPowerOff { stays = true }
    #expect(!watch.isUsable())
    pass(.seconds(1))
    #expect(!watch.isUsable() && machine.lost.isEmpty)
    machine.devices = [device(isUp: false)]
    pass(.milliseconds(400))
    #expect(machine.lost == [.adapterDown(hci0)])
    #expect(!stays)
  }

  @Test func oneThatStaysOnIsUsedAgain() {
    var stays = false
    watch.expectPowerOff { stays = true }
    pass(.seconds(6))
    #expect(stays && watch.isUsable() && machine.lost.isEmpty)
  }

  @Test func itComesBackUnderItsNumberOrAnother() {
    machine.devices = []
    watch.removed()
    #expect(machine.lost == [.adapterRemoved] && watch.find() == nil && watch.findSwitchedOff() == nil)
    // Another adapter is not taken for it.
    machine.devices = [device(1, 0x0002_0304_0506)]
    #expect(watch.find() == nil && watch.findSwitchedOff() == nil)
    machine.devices.append(device(2, isUp: false))
    #expect(watch.find() == nil)
    #expect(watch.findSwitchedOff() == AdapterIndex(rawValue: 2))
    machine.devices = [device(2)]
    #expect(watch.find() == device(2))
    watch.adopt(device(2))
    #expect(watch.index == AdapterIndex(rawValue: 2) && watch.isUsable())
  }

  /// What was switched off is left off: it is waited for.
  @Test func oneThatWasSwitchedOffIsNotSwitchedOn() {
    machine.devices = [device(isUp: false)]
    #expect(!watch.isUsable())
    pass(.milliseconds(400))
    #expect(watch.find() == nil && watch.findSwitchedOff() == nil)
    machine.devices = [device()]
    #expect(watch.find() == device())
  }

  @Test func theWaitForAChangeEnds() {
    var changes = 0
    watch.whenChanged { changes += 1 }
    watch.kernelReported()
    watch.kernelReported()
    #expect(changes == 1)
    watch.whenChanged { changes += 1 }
    pass(.milliseconds(260))
    #expect(changes == 2)
  }
}
