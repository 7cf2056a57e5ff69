import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import Testing

@testable import HaloLinuxBluetooth

@Suite(.onTheLoop) @BluetoothActor struct KernelAdapterWatchTests {
  private final class Machine {
    var devices: [KernelAdapterWatch.Device] = []
    var lost: [StackError] = []
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

  @Test func poweredAdapterIsUsable() {
    #expect(watch.isUsable())
    pass(.seconds(10))
    #expect(machine.lost.isEmpty)
  }

  /// One that is removed is brought down first: the reason is given when it is clear.
  @Test func reportsRemovalInsteadOfPowerOff() {
    machine.devices = [device(isUp: false)]
    #expect(!watch.isUsable())
    pass(.milliseconds(100))
    #expect(machine.lost.isEmpty)
    machine.devices = []
    pass(.milliseconds(300))
    #expect(machine.lost == [.adapterRemoved])
  }

  @Test func reportsPoweredOffAdapter() {
    machine.devices = [device(isUp: false)]
    #expect(!watch.isUsable())
    pass(.milliseconds(400))
    #expect(machine.lost == [.adapterDown(hci0)])
  }

  @Test func reportsAdapterTakenByAnotherProgram() {
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

  @Test func adapterIsUsableWhenExpectedPowerOffDoesNotCome() {
    var stays = false
    watch.expectPowerOff { stays = true }
    pass(.seconds(6))
    #expect(stays && watch.isUsable() && machine.lost.isEmpty)
  }

  @Test func findsReturnedAdapterByAddress() {
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
  @Test func doesNotPowerOnAdapterSwitchedOffByUser() {
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

  /// 300 ms for the reason, 250 ms to look again, five seconds for a power off that does not come, looked at every 20 ms.
  @Test func timesAreExact() {
    machine.devices = [device(isUp: false)]
    #expect(!watch.isUsable())
    timers.advance(by: .milliseconds(299))
    #expect(machine.lost.isEmpty)
    timers.advance(by: .milliseconds(1))
    #expect(machine.lost == [.adapterDown(hci0)])
    var changes = 0
    watch.whenChanged { changes += 1 }
    timers.advance(by: .milliseconds(249))
    #expect(changes == 0)
    timers.advance(by: .milliseconds(1))
    #expect(changes == 1)
  }

  @Test func aPowerOffIsExpectedForFiveSeconds() {
    var stays = 0
    watch.expectPowerOff { stays += 1 }
    watch.expectPowerOff { Issue.record("called") }
    pass(.milliseconds(4990))
    #expect(stays == 0 && watch.isLeaving)
    pass(.milliseconds(10))
    #expect(stays == 1 && !watch.isLeaving && machine.lost.isEmpty)
    pass(.seconds(10))
    #expect(stays == 1)
  }

  /// It is taken, and so not ours any more; the one who took it may have switched it on.
  @Test func aPowerOffMayEndInAnotherProgramsHands() {
    watch.expectPowerOff { Issue.record("called") }
    machine.devices = [device(isTaken: true)]
    pass(.milliseconds(310))
    #expect(machine.lost.isEmpty)
    pass(.milliseconds(20))
    #expect(machine.lost == [.adapterTaken])
  }

  /// It was used again in the meantime: nothing is lost.
  @Test func anAdapterThatIsAdoptedAgainIsNotLost() {
    machine.devices = [device(isUp: false)]
    #expect(!watch.isUsable())
    machine.devices = [device()]
    watch.adopt(device())
    pass(.seconds(1))
    #expect(machine.lost.isEmpty && watch.isUsable())
  }

  @Test func reportsRemovalImmediately() {
    machine.devices = []
    watch.removed()
    #expect(machine.lost == [.adapterRemoved] && watch.isLeaving && watch.wasRemoved)
    watch.adopt(device())
    #expect(!watch.isLeaving && !watch.wasRemoved)
  }

  /// A new one has no address before it is set up; one without an address is known by its number alone.
  @Test func anAdapterWithoutAnAddressIsKnownByItsNumber() {
    machine.devices = [device(0, 0)]
    #expect(watch.find() == device(0, 0))
    machine.devices = [device(1, 0)]
    #expect(watch.find() == nil)
    watch.adopt(device(0, 0))
    machine.devices = [device(1, 0), device(2)]
    #expect(watch.find() == nil)
    machine.devices = [device(0, 0x0002_0304_0506)]
    #expect(watch.find()?.address.value == 0x0002_0304_0506)
    // One that is on and taken, or off, is not for use.
    for other in [device(isUp: false), device(isTaken: true)] {
      machine.devices = [other]
      #expect(watch.find() == nil)
    }
  }

  @Test func anEarlierWaitEndsWithTheNext() {
    var changes: [Int] = []
    watch.whenChanged { changes.append(1) }
    watch.whenChanged { changes.append(2) }
    #expect(changes == [1])
    pass(.milliseconds(260))
    #expect(changes == [1, 2])
  }
}
