import HCI
import HaloBluetoothCore
import RingLink
import TestSupport
import Testing
import HaloSimulation

@Suite struct ScanTests {
  private func parameters(_ type: ScanType) -> LESetScanParameters {
    LESetScanParameters {
      $0.scan.type = type
      $0.scan.interval = ScanInterval(rawValue: 96)
      $0.scan.window = ScanInterval(rawValue: 48)
    }
  }

  private func scanning(
    _ type: ScanType, filters: Bool = false, _ options: VirtualRingOptions = .init()
  ) -> ScriptedHost {
    let host = ScriptedHost(options)
    host.prepare()
    _ = host.complete(parameters(type))
    _ = host.complete(LESetScanEnable(isEnabled: true, filtersDuplicates: filters))
    return host
  }

  @Test func passiveScansGetNoScanResponse() {
    let host = scanning(.passive)
    host.run(.seconds(10))
    // Every 100 ms, give or take the advertising delay of up to 10 ms.
    #expect((98...101).contains(host.reports.count))
    #expect(host.reports.allSatisfy { $0.eventType == [.legacy, .connectable, .scannable] })
    #expect(host.reports.first?.address == host.radio.options.address)
    #expect(host.reports.first?.rssi == -56)
    let data = AdvertisingData(host.reports.first?.data ?? [])
    #expect(data.serviceUUIDs == [BluetoothUUID(0x3802 as UInt16)])
    #expect(data.localName == "R02_BEEF" && data.manufacturerData.isEmpty)
  }

  @Test func activeScansGetTheCompany() {
    let host = scanning(.active)
    host.run(.seconds(1))
    let response = host.reports.first { $0.eventType.contains(.scanResponse) }
    let data = AdvertisingData(response?.data ?? [])
    // The service, and company 0x1234 with the address, to the byte.
    #expect(data.serviceUUIDs == [RingGATT.commandService])
    let bytes = Hex.string(response?.data ?? [])
    #expect(bytes.hasSuffix("09ff3412efbe41383530") && bytes.count == 2 * 28)
  }

  @Test func duplicatesAreFilteredOncePerScan() {
    let host = scanning(.active, filters: true)
    host.run(.seconds(5))
    #expect(host.reports.count == 2)
    _ = host.complete(LESetScanEnable(isEnabled: true, filtersDuplicates: true))
    host.run(.seconds(5))
    #expect(host.reports.count == 4)
  }

  @Test func parametersMayNotChangeWhileScanning() {
    let host = scanning(.passive)
    #expect(host.complete(parameters(.active)) == [HCIErrorCode.commandDisallowed.rawValue])
    #expect(
      host.complete(LESetRandomAddress { $0.address = BluetoothAddress(0xC0FF_EE00_0001, .random) })
        == [HCIErrorCode.commandDisallowed.rawValue])
    #expect(host.complete(LESetScanEnable(isEnabled: false)) == [0])
    let count = host.reports.count
    host.run(.seconds(5))
    #expect(host.reports.count == count)
    #expect(host.complete(parameters(.active)) == [0])
    var illegal = parameters(.active)
    illegal.scan.window = ScanInterval(rawValue: 97)
    #expect(host.complete(illegal) == [HCIErrorCode.invalidCommandParameters.rawValue])
  }

  @Test func stoppingTwiceIsRefusedBySomeChips() {
    let tolerant = ScriptedHost()
    #expect(tolerant.complete(LESetScanEnable(isEnabled: false)) == [0])
    var options = VirtualRingOptions()
    options.faults.refusesIdleScanDisable = true
    let strict = ScriptedHost(options)
    #expect(strict.complete(LESetScanEnable(isEnabled: false)) == [HCIErrorCode.commandDisallowed.rawValue])
  }

  @Test func extendedScansGetExtendedReportsAndEnd() {
    let host = ScriptedHost()
    host.prepare([.afterReset, .extendedAdvertisingReport, .scanTimeout])
    _ = host.complete(
      LESetExtendedScanParameters {
        $0.le1M = .init(
          type: .active, interval: ScanInterval(rawValue: 96), window: ScanInterval(rawValue: 48))
      })
    _ = host.complete(
      LESetExtendedScanEnable {
        $0.isEnabled = true
        $0.duration = ScanDuration(rawValue: 100)
      })
    host.run(.seconds(5))
    #expect(host.events.last == .leScanTimeout)
    #expect((18...22).contains(host.reports.count))
    let types: Set<UInt16> = Set(host.reports.map(\.eventType.rawValue))
    #expect(types == [0x13, 0x1B])
  }

  @Test func ringsMayHideTheirService() {
    var options = VirtualRingOptions()
    options.advertisesService = false
    options.name = "SMART_RING"
    let host = scanning(.active, options)
    host.run(.seconds(1))
    #expect(host.reports.allSatisfy { AdvertisingData($0.data).serviceUUIDs.isEmpty })
    #expect(host.reports.contains { AdvertisingData($0.data).localName == "SMART_RING" })
  }

  @Test func aConnectedRingDoesNotAdvertise() {
    let host = ScriptedHost()
    #expect(host.connect())
    _ = host.complete(LESetScanEnable(isEnabled: true))
    host.run(.seconds(5))
    #expect(host.reports.isEmpty)
    host.radio.disconnect()
    host.run(.seconds(5))
    #expect(host.reports.count > 40)
  }
}
