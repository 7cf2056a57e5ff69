import HCI
import HaloBluetoothCore
import TestSupport
import Testing

/// `print(advertisement)`: one line that a user reads, and not the fields of a type.
@Suite struct AdvertisementTextTests {
  private func device(
    _ data: String, _ kind: BluetoothAddress.Kind = .random,
    _ type: AdvertisingReport.EventType = [.legacy, .connectable], rssi: Int8? = -60
  ) throws -> Advertisement {
    var collector = AdvertisementCollector()
    let report = AdvertisingReport(
      address: BluetoothAddress(0xC011_2233_A1B2, kind), eventType: type, rssi: rssi, data: hex(data))
    let device = collector.receive(report, at: Instant(nanoseconds: 0))
    return try #require(device)
  }

  @Test func describesAdvertisementInOneLine() throws {
    #expect(
      try "\(device("020106 05095230320a 03030f18"))" == "C0:11:22:33:A1:B2 random  -60 dBm  R02\\x0a  180F")
    #expect(try "\(device("", .public, rssi: nil))" == "C0:11:22:33:A1:B2 public  no RSSI  (no name)")
    #expect(
      try "\(device("0503 0f18 0a18", rssi: -100))"
        == "C0:11:22:33:A1:B2 random -100 dBm  (no name)  180F 180A")
  }

  @Test func marksNonConnectableDevice() throws {
    #expect(
      try "\(device("04095230 32", .random, [.legacy, .scannable]))"
        == "C0:11:22:33:A1:B2 random  -60 dBm  R02  not connectable")
    // A scan response does not say it.
    #expect(
      try "\(device("04095230 32", .random, [.legacy, .scannable, .scanResponse]))"
        == "C0:11:22:33:A1:B2 random  -60 dBm  R02")
  }

  @Test func theStrengthIsTheLastOneThatIsKnown() throws {
    var collector = AdvertisementCollector()
    var last: Advertisement?
    for rssi in [-60, nil] as [Int8?] {
      let report = AdvertisingReport(
        address: BluetoothAddress(7, .random), eventType: [.legacy, .connectable], rssi: rssi, data: [])
      last = collector.receive(report, at: Instant(nanoseconds: 0))
    }
    #expect(try #require(last).description.contains("-60 dBm"))
  }
}
