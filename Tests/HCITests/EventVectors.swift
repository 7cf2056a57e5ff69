import HCI
import HaloBluetoothCore
import TestSupport

// Packets with the values that a decoder must find in them. The byte sequences are those of the test files of
// the projects that are named, of a capture, or made after the Core Specification; the values were checked with
// an independent dissector.

let eventVectors: [EventVector] = [
  EventVector(
    "pureswift: lEStartEncryption", "040f0400011920",
    .commandStatus(CommandStatus(status: error(0), commandCredits: 1, opcode: opcode(8217)))),
  EventVector(
    "Command Complete, status only although more is due", "040e0401092001",
    .commandComplete(CommandComplete(commandCredits: 1, opcode: opcode(8201), returnParameters: hex("01")))),
  EventVector(
    "Encryption Key Refresh Complete", "043003004000",
    .encryptionKeyRefreshComplete(
      EncryptionKeyRefreshComplete {
        $0.status = error(0)
        $0.handle = handle(64)
      })),
  EventVector(
    "pureswift: setPeriodicAdvertisingEnable", "040e0401402000",
    .commandComplete(CommandComplete(commandCredits: 1, opcode: opcode(8256), returnParameters: hex("00")))),
  EventVector(
    "pureswift: advertising report body 9",
    "043e2a020100019cf217cee4781e0201061aff4c000c0e08d75240958bb74941d3cdb6869b1005471c23a1a480",
    .leAdvertisingReports(
      AdvertisingReports(
        .legacy,
        [
          AdvertisingReport(
            address: BluetoothAddress(0x78E4CE17F29C, .random),
            eventType: [.legacy, .connectable, .scannable], rssi: -128,
            data: hex("0201061aff4c000c0e08d75240958bb74941d3cdb6869b1005471c23a1a4"))
        ]))),
  EventVector(
    "bumble: LE Enhanced Connection Complete",
    "043e1f0a0041000001bb1d1a17f2c401000000004a02000000005b18000000480001",
    .leConnectionComplete(
      LEConnectionComplete {
        $0.form = .enhanced
        $0.status = error(0)
        $0.handle = handle(65)
        $0.role = LERole(rawValue: 0)
        $0.peerAddress = BluetoothAddress(0xC4F2171A1DBB, .random)
        $0.localResolvableAddress = BluetoothAddress(0x4A0000000001, .random)
        $0.peerResolvableAddress = BluetoothAddress(0x5B0000000002, .random)
        $0.parameters.interval = interval(24)
        $0.parameters.latency = 0
        $0.parameters.supervisionTimeout = timeout(72)
        $0.clockAccuracy = ClockAccuracy(rawValue: 1)
      })),
  EventVector(
    "scapy: Number Of Completed Packets", "0413050103000300",
    .numberOfCompletedPackets(NumberOfCompletedPackets([.init(handle: handle(3), count: 3)]))),
  EventVector(
    "pureswift: readLocalSupportedFeatures", "040e0c01031000bffecffedbff7b87",
    .commandComplete(
      CommandComplete(commandCredits: 1, opcode: opcode(4099), returnParameters: hex("00bffecffedbff7b87")))),
  EventVector(
    "pureswift: lEStartEncryption", "04080400410001",
    .encryptionChange(
      EncryptionChange {
        $0.status = error(0)
        $0.handle = handle(65)
        $0.encryption = .on
      })),
  EventVector(
    "bumble: LE Read Remote Features Complete", "043e0c040007000011223344556677",
    .leReadRemoteFeaturesComplete(
      LEReadRemoteFeaturesComplete {
        $0.status = error(0)
        $0.handle = handle(7)
        $0.features = LEFeatures(rawValue: 0x7766554433221100)
      })),
  EventVector(
    "pureswift: advertising report body 30", "043e1a0201000187ca148ccf7e0e0201060aff4c001005071899831e80",
    .leAdvertisingReports(
      AdvertisingReports(
        .legacy,
        [
          AdvertisingReport(
            address: BluetoothAddress(0x7ECF8C14CA87, .random),
            eventType: [.legacy, .connectable, .scannable], rssi: -128,
            data: hex("0201060aff4c001005071899831e"))
        ]))),
  EventVector(
    "bumble: LE Long Term Key Request", "043e0d05400000010203040506073412",
    .leLongTermKeyRequest(
      LELongTermKeyRequest {
        $0.handle = handle(64)
        $0.random = 0x0706050403020100
        $0.encryptedDiversifier = 4660
      })),
  EventVector(
    "pureswift: lowEnergyScan", "040e04010c2000",
    .commandComplete(CommandComplete(commandCredits: 1, opcode: opcode(8204), returnParameters: hex("00")))),
  EventVector(
    "scapy: Command Complete", "040e0a010b04002587ceedd668",
    .commandComplete(
      CommandComplete(commandCredits: 1, opcode: opcode(1035), returnParameters: hex("002587ceedd668")))),
  EventVector(
    "bumble: LE Channel Selection Algorithm", "043e0414070001",
    .leChannelSelectionAlgorithm(
      LEChannelSelectionAlgorithm {
        $0.handle = handle(7)
        $0.algorithm = 1
      })),
  EventVector(
    "pureswift: setScanResponseData", "040e0401092000",
    .commandComplete(CommandComplete(commandCredits: 1, opcode: opcode(8201), returnParameters: hex("00")))),
  EventVector(
    "scapy: Disconnection Complete", "04050400400016",
    .disconnectionComplete(DisconnectionComplete(status: error(0), handle: handle(64), reason: error(22)))),
  EventVector(
    "scapy: Command Complete LE Set Extended Scan Enable", "040e0402422000",
    .commandComplete(CommandComplete(commandCredits: 2, opcode: opcode(8258), returnParameters: hex("00")))),
  EventVector(
    "scapy: Parse EIR_ClassOfDevice",
    "043e2b020100000a1bb44ce0001f02010503ff000106084d4920524303021218040d040500020a0004fe06ec88a2",
    .leAdvertisingReports(
      AdvertisingReports(
        .legacy,
        [
          AdvertisingReport(
            address: BluetoothAddress(0x00E04CB41B0A, .public),
            eventType: [.legacy, .connectable, .scannable], rssi: -94,
            data: hex("02010503ff000106084d4920524303021218040d040500020a0004fe06ec88"))
        ]))),
  EventVector(
    "pureswift: periodicAdvertisingCreateSyncCancel", "040e0401452000",
    .commandComplete(CommandComplete(commandCredits: 1, opcode: opcode(8261), returnParameters: hex("00")))),
  EventVector(
    "scapy: Connection Request", "04040a8c5b6fd283300c025a01",
    .unknown(HCIEventCode(rawValue: 4), hex("8c5b6fd283300c025a01"))),
  EventVector(
    "Command Complete LE Read Buffer Size v2", "040e0a01602000fb000ffb0006",
    .commandComplete(
      CommandComplete(commandCredits: 1, opcode: opcode(8288), returnParameters: hex("00fb000ffb0006")))),
  EventVector(
    "pureswift: setPeriodicAdvertisingSyncTransferParameters", "040e06015c20000300",
    .commandComplete(
      CommandComplete(commandCredits: 1, opcode: opcode(8284), returnParameters: hex("000300")))),
  EventVector(
    "bumble: Command Status, 37 credits", "040f0400250604",
    .commandStatus(CommandStatus(status: error(0), commandCredits: 37, opcode: opcode(1030)))),
  EventVector(
    "pureswift: setExtendedScanEnable", "040e0401422000",
    .commandComplete(CommandComplete(commandCredits: 1, opcode: opcode(8258), returnParameters: hex("00")))),
  EventVector(
    "Command Status, error Command Disallowed", "040f040c010d20",
    .commandStatus(CommandStatus(status: error(12), commandCredits: 1, opcode: opcode(8205)))),
  EventVector(
    "pureswift: lEConnectionCreate", "040f0400010d20",
    .commandStatus(CommandStatus(status: error(0), commandCredits: 1, opcode: opcode(8205)))),
  EventVector(
    "pureswift: periodicAdvertisingTerminateSync", "040e0401462000",
    .commandComplete(CommandComplete(commandCredits: 1, opcode: opcode(8262), returnParameters: hex("00")))),
  EventVector(
    "bumble: LE Extended Advertising Report, complete",
    "043e380d010100005544332211000102030aba0000000000000000001e0201061106ba5689a6fabfa2bd01467d6e00fbabad08160a181604659b03",
    .leAdvertisingReports(
      AdvertisingReports(
        .extended,
        [
          AdvertisingReport(
            address: BluetoothAddress(0x001122334455, .public),
            eventType: AdvertisingReport.EventType(rawValue: 1),
            dataStatus: AdvertisingReport.DataStatus(rawValue: 0), rssi: -70, txPower: 10,
            primaryPHY: LEPHY(rawValue: 1), secondaryPHY: LEPHY(rawValue: 2), advertisingSID: 3,
            periodicAdvertisingInterval: PeriodicAdvertisingInterval(rawValue: 0),
            data: hex("0201061106ba5689a6fabfa2bd01467d6e00fbabad08160a181604659b03"))
        ]))),
  EventVector(
    "pureswift: readPeriodicAdvertisingListSize", "040e05014a200008",
    .commandComplete(CommandComplete(commandCredits: 1, opcode: opcode(8266), returnParameters: hex("0008")))),
  EventVector(
    "Number Of Completed Packets, zero handles", "04130100",
    .numberOfCompletedPackets(NumberOfCompletedPackets([]))),
  EventVector(
    "pureswift: clearPeriodicAdvertiserList", "040e0401492000",
    .commandComplete(CommandComplete(commandCredits: 1, opcode: opcode(8265), returnParameters: hex("00")))),
  EventVector(
    "pureswift: setExtendedScanParameters", "040e0401412000",
    .commandComplete(CommandComplete(commandCredits: 1, opcode: opcode(8257), returnParameters: hex("00")))),
  EventVector(
    "pureswift: readMaximumAdvertisingDataLength", "040e06013a2000f201",
    .commandComplete(
      CommandComplete(commandCredits: 1, opcode: opcode(8250), returnParameters: hex("00f201")))),
  EventVector(
    "bumble: Unknown event code F8", "04f803aabbcc", .unknown(HCIEventCode(rawValue: 248), hex("aabbcc"))),
  EventVector(
    "LE Enhanced Connection Complete v2",
    "043e22290041000001bb1d1a17f2c400000000000000000000000018000000480001ffffff",
    .leConnectionComplete(
      LEConnectionComplete {
        $0.form = .enhancedV2
        $0.status = error(0)
        $0.handle = handle(65)
        $0.role = LERole(rawValue: 0)
        $0.peerAddress = BluetoothAddress(0xC4F2171A1DBB, .random)
        $0.parameters.interval = interval(24)
        $0.parameters.latency = 0
        $0.parameters.supervisionTimeout = timeout(72)
        $0.clockAccuracy = ClockAccuracy(rawValue: 1)
      })),
  EventVector(
    "scapy: 7.4.1 Read Local Version Information", "040e0c010110000900100931010c22",
    .commandComplete(
      CommandComplete(commandCredits: 1, opcode: opcode(4097), returnParameters: hex("000900100931010c22")))),
  EventVector(
    "scapy: 7.4.4 Read Local Extended Features", "040e0e0104100001020000000000000000",
    .commandComplete(
      CommandComplete(
        commandCredits: 1, opcode: opcode(4100), returnParameters: hex("0001020000000000000000")))),
  EventVector(
    "capture of a charger: record 2",
    "043e2b02010000a07d1c7fc7f01f0201060302e0ff17ffa07d1c7fc7f03130303038330100000000010d0d00b8af",
    .leAdvertisingReports(
      AdvertisingReports(
        .legacy,
        [
          AdvertisingReport(
            address: BluetoothAddress(0xF0C77F1C7DA0, .public),
            eventType: [.legacy, .connectable, .scannable], rssi: -81,
            data: hex("0201060302e0ff17ffa07d1c7fc7f03130303038330100000000010d0d00b8"))
        ]))),
  EventVector(
    "capture of a charger: record 555", "043e13010045000000a07d1c7fc7f028000000d00700",
    .leConnectionComplete(
      LEConnectionComplete {
        $0.form = .plain
        $0.status = error(0)
        $0.handle = handle(69)
        $0.role = LERole(rawValue: 0)
        $0.peerAddress = BluetoothAddress(0xF0C77F1C7DA0, .public)
        $0.parameters.interval = interval(40)
        $0.parameters.latency = 0
        $0.parameters.supervisionTimeout = timeout(2000)
        $0.clockAccuracy = ClockAccuracy(rawValue: 0)
      })),
  EventVector(
    "capture of a charger: record 558", "043e0c040045000100000000000000",
    .leReadRemoteFeaturesComplete(
      LEReadRemoteFeaturesComplete {
        $0.status = error(0)
        $0.handle = handle(69)
        $0.features = LEFeatures(rawValue: 0x0000000000000001)
      })),
  EventVector(
    "capture of a charger: record 561", "040c08004500060d004001",
    .readRemoteVersionInformationComplete(
      ReadRemoteVersionInformationComplete {
        $0.status = error(0)
        $0.handle = handle(69)
        $0.version = CoreVersion(rawValue: 6)
        $0.manufacturer = CompanyIdentifier(rawValue: 13)
        $0.subversion = 320
      })),
  EventVector(
    "capture of a charger: record 565", "0413050145000100",
    .numberOfCompletedPackets(NumberOfCompletedPackets([.init(handle: handle(69), count: 1)]))),
  EventVector(
    "capture of a charger: record 572", "043e0a0300450006000000d007",
    .leConnectionUpdateComplete(
      LEConnectionUpdateComplete {
        $0.status = error(0)
        $0.handle = handle(69)
        $0.parameters.interval = interval(6)
        $0.parameters.latency = 0
        $0.parameters.supervisionTimeout = timeout(2000)
      })),
]
