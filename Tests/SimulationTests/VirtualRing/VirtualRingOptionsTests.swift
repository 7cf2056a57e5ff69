import HaloBluetoothCore
import RingLink
import Testing

@testable import HaloSimulation

@Suite struct VirtualRingOptionsTests {
  @Test(arguments: ["virtual", "virtual:", ""])
  func emptyTextMeansDefaultOptions(text: String) throws {
    #expect(try VirtualRingOptions(parsing: text) == VirtualRingOptions())
  }

  @Test func everyOptionIsRead() throws {
    let options = try VirtualRingOptions(
      parsing: "virtual:rate=4,seed=7,name=R02_CAFE,address=C0:11:22:33:CA:FE/random,"
        + "firmware=RY02_3.00.38_250403,hardware=RY02_V3.0,encoding=12,battery=5,charging,mtu=23,"
        + "advertising=500,service=false,rssi=-90,bluetooth5=no,acl=27,packets=2,establish-failures=3,"
        + "refuse,no-data,drop-after=9,stop-after=8,refuse-after=7,charge-after=6,bad-checksum-every=4,look-alike,silent=true,strict-scan,"
        + "ignore-connections,worn=no,warm-up=1.5,events=10,bulk=false,refuse-measurements,ignore-settings,"
        + "clock=2026-11-21T13:45:00,lose-every=7,double-every=5,delay-every=3,silent-after=20,bad-bulk=2,"
        + "counted,lose=100,reorder")
    var expected = VirtualRingOptions()
    expected.rate = 4
    expected.seed = 7
    expected.name = "R02_CAFE"
    expected.address = BluetoothAddress(0xC011_2233_CAFE, .random)
    expected.firmware = "RY02_3.00.38_250403"
    expected.hardware = "RY02_V3.0"
    expected.accelerometerEncoding = .twelveBit
    expected.battery = 5
    expected.isCharging = true
    expected.mtu = 23
    expected.advertisingInterval = .milliseconds(500)
    expected.advertisesService = false
    expected.rssi = -90
    expected.bluetooth5 = false
    expected.aclLength = 27
    expected.aclPackets = 2
    expected.faults.establishFailures = 3
    expected.faults.refusesRawStream = true
    expected.faults.silentRawStream = true
    expected.faults.dropsAfter = 9
    expected.faults.stopsAfter = 8
    expected.faults.refusesAfter = 7
    expected.faults.chargesAfter = 6
    expected.faults.badChecksumEvery = 4
    expected.faults.omitsRingService = true
    expected.faults.staysSilent = true
    expected.faults.refusesIdleScanDisable = true
    expected.faults.ignoresConnections = true
    expected.isWorn = false
    expected.warmUp = .milliseconds(1500)
    expected.eventInterval = .seconds(10)
    expected.hasBulkService = false
    expected.faults.refusesMeasurements = true
    expected.faults.ignoresSettings = true
    expected.clock = RingTime("2026-11-21T13:45:00")
    expected.faults.losesLogFrameEvery = 7
    expected.faults.doublesLogFrameEvery = 5
    expected.faults.delaysLogFrameEvery = 3
    expected.faults.logFramesUntilSilence = 20
    expected.faults.badBulkCRCs = 2
    expected.hasCountedStream = true
    expected.faults.losesPacketEvery = 100
    expected.faults.reordersPackets = true
    #expect(options == expected)
    // Whoever adds an option tells of it.
    #expect(VirtualRingOptions.optionNames.count == 53)
    for name in VirtualRingOptions.optionNames {
      #expect(throws: VirtualRingOptionsError.self) { try VirtualRingOptions(parsing: "\(name)=") }
    }
  }

  @Test(arguments: [
    ("rate=0", "the virtual ring's rate must be a number from 0.01 to 2000.0, not \"0\""),
    ("rate=nan", "the virtual ring's rate must be a number from 0.01 to 2000.0, not \"nan\""),
    ("battery=101", "the virtual ring's battery must be a whole number from 0 to 100, not \"101\""),
    ("seed", "the virtual ring's seed must be a whole number from 0 to 18446744073709551615"),
    (
      "address=1", "the virtual ring's address must be an address such as C0:11:22:33:BE:EF/random, not \"1\""
    ),
    ("charging=maybe", "the virtual ring's charging must be true or false, not \"maybe\""),
    ("encoding=8", "the virtual ring's encoding must be 12 or 16, not \"8\""),
    ("rings=0", "the virtual ring's rings must be a whole number from 1 to 64, not \"0\""),
    ("rings=2,ring=3,charging", "there is no virtual ring 3; give rings=3"),
    ("name=", "the virtual ring's name must be a name of 1 to 29 bytes, not \"\""),
  ])
  func wrongValuesAreExplained(text: String, message: String) {
    #expect(throws: VirtualRingOptionsError(description: message)) {
      try VirtualRingOptions(parsing: "virtual:" + text)
    }
  }

  @Test func severalRingsDifferInAddressNameAndPulse() throws {
    let options = try VirtualRingOptions(
      parsing: "rings=3,rate=4,ring=2,charging,drop-after=9,ring=1,battery=5")
    #expect(options.others.count == 2)
    let rings = [options] + options.others
    #expect(rings.map(\.name) == ["R02_BEEF", "R02_BEF0", "R02_BEF1"])
    #expect(rings.map(\.address.value) == [0x3035_3841_BEEF, 0x3035_3841_BEF0, 0x3035_3841_BEF1])
    #expect(rings.map(\.rate) == [4, 4, 4])
    #expect(Set(rings.map(\.seed)).count == 3)
    #expect(rings.map(\.isCharging) == [false, true, false])
    #expect(rings.map(\.faults.dropsAfter) == [nil, 9, nil])
    #expect(rings.map(\.battery) == [5, 87, 87])
    #expect(options.others.allSatisfy { $0.others.isEmpty })
  }

  @Test(arguments: ["speed=3", "rate=1,", "\u{1b}[2J", "virtual:,"])
  func unknownOptionsAreNamed(text: String) {
    do {
      _ = try VirtualRingOptions(parsing: text)
      Issue.record("was read")
    } catch {
      #expect(error.description.hasPrefix("the virtual ring has no option \""))
      #expect(!error.description.contains("\u{1b}"))
    }
  }
}
