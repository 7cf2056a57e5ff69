import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import TestLink
import TestLoop
import TestSupport
import Testing

/// A program finds a device without a handler of its own.
@BluetoothActor
@Suite(.onTheLoop) struct FindingTests {
  let adapter = FakeAdapter()
  let central: Central

  init() {
    central = Central(adapter)
  }

  private func report(
    _ number: UInt64, name: String, rssi: Int8? = -60, isResponse: Bool = false,
    kind: BluetoothAddress.Kind = .random
  ) {
    let text = Array(name.utf8)
    adapter.onReport?(
      AdvertisingReport(
        address: BluetoothAddress(number, kind),
        eventType: isResponse ? [.legacy, .scannable, .scanResponse] : [.legacy, .connectable, .scannable],
        rssi: rssi, data: [UInt8(text.count + 1), 0x09] + text), adapter.timers.now)
  }

  /// Most devices tell their name in the scan response alone, after an advertisement without one (edrosten/libblepp 36,
  /// pauldemarco/flutter_blue 750, Th0rgal/open_oura 13).
  @Test func aNameComesWithTheScanResponse() async throws {
    let search = spawn { try await central.find(within: .seconds(5), where: { $0.isNamed("r02_beef") }) }
    await settle()
    #expect(adapter.scans.last??.isActive == true)
    adapter.report(7, "020106 03030f18")
    report(7, name: "R02_BEEF", isResponse: true)
    let device = try #require(try await search.value)
    #expect(device.address.value == 7)
    #expect(device.serviceUUIDs == [uuid("180f")])
    #expect(adapter.scans.last == .some(nil))
  }

  /// Parts of a name are no name, and a name that its device pads with zeros is one (dotintent/react-native-ble-plx 427
  /// asks for prefixes, which the closure is for).
  @Test(arguments: [
    ("R02", false), ("r02_beef", true), ("R02_BEEF ", false), ("R02_BEEFS", false), ("", false),
  ]) func matchesWholeNameOnly(_ name: String, _ isFound: Bool) async throws {
    let search = spawn { try await central.find(within: .seconds(5), where: { $0.isNamed(name) }) }
    await settle()
    report(1, name: "")
    report(7, name: "R02_BEEF\0\0")
    #expect(try await search.value?.address.value == (isFound ? 7 : nil))
  }

  /// A name as it is sent, and as it is printed.
  @Test(arguments: ["MÖWE\u{7}", "möwe\\x07"]) func aNameIsTheOneThatIsPrinted(_ name: String) async throws {
    let search = spawn { try await central.find(within: .seconds(5), where: { $0.isNamed(name) }) }
    await settle()
    report(7, name: "Möwe\u{7}")
    #expect(try await search.value?.localName == "Möwe\\x07")
  }

  /// The first of two with one name; the closure and the list tell them apart (hbldh/bleak 1277).
  @Test func oneOfSeveralWithTheNameIsTaken() async throws {
    let any = spawn { try await central.find(within: .seconds(5), where: { $0.isNamed("R02") }) }
    let near = spawn {
      try await central.find(within: .seconds(5)) { $0.isNamed("R02") && $0.lastRSSI ?? .min > -50 }
    }
    await settle()
    report(9, name: "R02", kind: .anonymous)
    report(7, name: "R02", rssi: -90)
    report(8, name: "R02", rssi: -40)
    #expect(try await any.value?.address.value == 7)
    #expect(try await near.value?.address.value == 8)
  }

  /// hbldh/bleak 600: the time that a caller gives is the one that counts.
  @Test func returnsNilWhenSearchTimesOut() async throws {
    let begin = adapter.timers.now
    let search = spawn { try await central.find(within: .seconds(3), where: { $0.isNamed("R02") }) }
    await settle()
    report(7, name: "R03")
    #expect(try await search.value == nil)
    #expect(adapter.timers.now - begin == .seconds(3))
    #expect(adapter.scans.last == .some(nil))
    #expect(try await central.find(within: .zero, where: { $0.isNamed("R02") }) == nil)
    #expect(try await central.devices(within: .seconds(-1)).isEmpty)
  }

  @Test func aCancelledSearchStopsTheScan() async throws {
    let search = spawn { try await central.find(within: .seconds(60)) { _ in true } }
    let list = spawn { try await central.devices(within: .seconds(60)) }
    await settle()
    search.cancel()
    list.cancel()
    await #expect(throws: StackError.cancelled) { try await search.value }
    await #expect(throws: StackError.cancelled) { try await list.value }
    #expect(adapter.scans.last == .some(nil))
  }

  /// A radio that is pulled out is no radio that hears nothing (hbldh/bleak 792).
  @Test func searchThrowsAdapterFailure() async throws {
    let error = StackError.transportClosed("unplugged")
    let search = spawn { try await central.find(within: .seconds(60), where: { $0.isNamed("R02") }) }
    let list = spawn { try await central.devices(within: .seconds(60)) }
    await settle()
    report(7, name: "R03")
    adapter.onFailure?(error)
    await #expect(throws: error) { try await search.value }
    await #expect(throws: error) { try await list.value }
    // It has failed before the next search, too, until it is recovered.
    await #expect(throws: error) { try await central.devices(within: .seconds(1)) }
    try await central.recover(within: .seconds(1))
    #expect(try await central.devices(within: .seconds(1)).isEmpty)
  }

  @Test func searchThrowsScanRefusal() async throws {
    let error = StackError.commandFailed(LESetScanEnable.opcode, .commandDisallowed)
    let search = spawn { try await central.find(within: .seconds(5), where: { $0.isNamed("R02") }) }
    let list = spawn { try await central.devices(within: .seconds(5)) }
    await settle()
    adapter.onScanRefusal?(error)
    await #expect(throws: error) { try await search.value }
    await #expect(throws: error) { try await list.value }
  }

  @Test func theSearchEndsWithTheCentral() async throws {
    let search = spawn { try await central.find(within: .seconds(60), where: { $0.isNamed("R02") }) }
    await settle()
    await central.stop()
    await #expect(throws: StackError.cancelled) { try await search.value }
  }

  /// Each device once, with what all of its reports have said (peplin/pygatt 3: a line with the name, and one without).
  @Test func aListHasEachDeviceOnce() async throws {
    let list = spawn { try await central.devices(within: .seconds(5)) }
    await settle()
    for _ in 0..<3 {
      report(1, name: "weak", rssi: -90)
      report(2, name: "silent", rssi: nil)
      adapter.report(3, rssi: -70, "020106 03030f18")
      report(3, name: "strong", rssi: -40, isResponse: true)
      report(4, name: "alike", rssi: -90)
    }
    let devices = try await list.value
    #expect(devices.map(\.localName) == ["strong", "weak", "alike", "silent"])
    #expect(devices.first?.serviceUUIDs == [uuid("180f")])
    #expect(devices.first?.reportCount == 6)
  }

  @Test func listContainsDevicesPassingTheFilter() async throws {
    let list = spawn { try await central.devices(within: .seconds(5), filter: .init(minimumRSSI: -70)) }
    await settle()
    adapter.report(1, rssi: -71)
    adapter.report(2, rssi: -70)
    #expect(try await list.value.map(\.address.value) == [2])
  }

  /// A device that invents addresses does not fill the memory; those that are heard last stay.
  @Test func aListIsBounded() async throws {
    let list = spawn { try await central.devices(within: .seconds(5)) }
    await settle()
    adapter.report(1, rssi: -10)
    await adapter.timers.sleep(for: .milliseconds(1))
    for number in 2...1025 as ClosedRange<UInt64> { adapter.report(number) }
    let devices = try await list.value
    #expect(devices.count == 1024)
    #expect(!devices.contains { $0.address.value == 1 })
  }

  @Test func connectsToFoundDevice() async throws {
    let search = spawn { try await central.find(within: .seconds(5), where: { $0.isNamed("R02") }) }
    await settle()
    report(7, name: "R02")
    let device = try #require(try await search.value)
    adapter.link = .success(FakeLink())
    #expect(try await central.connect(ConnectionRequest(peer: device.address)).isConnected)
    #expect(adapter.attempts == [7])
    #expect(adapter.deadlines == [.seconds(30)])
    adapter.link = .failure(.peerNotFound(device.address, seconds: 2))
    await #expect(throws: StackError.peerDidNotAnswer(device.address, seconds: 2)) {
      try await central.connect(ConnectionRequest(peer: device.address, deadline: .seconds(2)))
    }
    #expect(adapter.deadlines == [.seconds(30), .seconds(2)])
  }
}
