@testable import HCI
import HaloBluetoothCore
import TestSupport
import Testing

/// A command as a value, with the means to write it and to read it back.
struct CommandSample: Sendable, CustomTestStringConvertible {
  let packet: [UInt8]
  let written: [UInt8]
  /// Whether reading a packet without its type byte gives the command again.
  let isRead: @Sendable ([UInt8]) -> Bool
  let name: String

  init<Command: HCICommand>(_ command: Command, _ packet: String) {
    self.packet = hex(packet)
    var writer = ByteWriter()
    command.packet(into: &writer)
    written = writer.bytes
    name = Command.opcode.description
    isRead = { bytes in
      guard let packet = try? CommandPacket(bytes.span.bytes), packet.opcode == Command.opcode else {
        return false
      }
      return (try? packet.decode(Command.self)).map { $0 == command } ?? false
    }
  }

  var testDescription: String { name }
}

private let ring = BluetoothAddress(0xC011_2233_A1B2, .random)
private let link = handle(0x0045)
private let parameters = ConnectionParameters {
  $0.intervalMin = interval(6)
  $0.intervalMax = interval(12)
  $0.latency = 1
  $0.supervisionTimeout = timeout(200)
  $0.eventLengthMin = ConnectionEventLength(rawValue: 2)
  $0.eventLengthMax = ConnectionEventLength(rawValue: 4)
}
private let scan = PHYScanParameters(
  type: .active, interval: ScanInterval(rawValue: 96), window: ScanInterval(rawValue: 48))

@Suite struct CommandTests {
  /// Every command; the packets of the first group are test vectors of others, see `commandVectors`.
  static let samples: [CommandSample] = [
    CommandSample(
      LESetExtendedScanEnable {
        $0.isEnabled = true
        $0.duplicates = .on
        $0.duration = ScanDuration(rawValue: 16)
        $0.period = ScanPeriod(rawValue: 2)
      },
      "01422006010110000200"),
    CommandSample(
      LESetAdvertisingParameters {
        $0.intervalMin = AdvertisingInterval(rawValue: 20)
        $0.intervalMax = AdvertisingInterval(rawValue: 30)
        $0.type = .connectableDirectedHighDuty
        $0.ownAddressType = .random
        $0.peerAddress = BluetoothAddress(0x5439_A347_D877, .public)
        $0.channels = .channel37
        $0.filterPolicy = 0
      },
      "0106200f14001e0001010077d847a339540100"),
    CommandSample(LESetScanEnable(isEnabled: true), "010c20020100"),
    CommandSample(LESetScanEnable(isEnabled: true, filtersDuplicates: true), "010c20020101"),
    CommandSample(
      LEAddDeviceToFilterAcceptList { $0.address = BluetoothAddress(0x58E2_8F7C_0BB3, .public) },
      "0111200700b30b7c8fe258"),
    CommandSample(
      LESetExtendedScanParameters {
        $0.filterPolicy = .filterAcceptList
        $0.le1M = .init(
          type: .passive, interval: ScanInterval(rawValue: 0x60), window: ScanInterval(rawValue: 0x60))
        $0.leCoded = .init(
          type: .passive, interval: ScanInterval(rawValue: 0x120), window: ScanInterval(rawValue: 0x120))
      },
      "0141200d00010500600060000020012001"),
    CommandSample(LEReadLocalSupportedFeatures(), "01032000"),
    CommandSample(SetEventMask { $0.mask = .afterReset }, "01010c08ffffffffff1f0000"),
    CommandSample(LEReadRemoteFeatures(handle: handle(65)), "011620024100"),
    CommandSample(Reset(), "01030c00"),
    CommandSample(
      LESetScanParameters {
        $0.scan.type = .active
        $0.scan.interval = ScanInterval(rawValue: 480)
        $0.scan.window = ScanInterval(rawValue: 48)
      },
      "010b200701e00130000000"),
    CommandSample(
      LESetRandomAddress { $0.address = BluetoothAddress(0x5A15_38A9_9DF3, .random) }, "01052006f39da938155a"),
    CommandSample(
      LECreateConnection {
        $0.scan.interval = ScanInterval(rawValue: 96)
        $0.scan.window = ScanInterval(rawValue: 48)
        $0.peerAddress = BluetoothAddress(0xF0C7_7F1C_7DA0, .public)
        $0.ownAddressType = .random
        $0.parameters = ConnectionParameters(
          intervalMin: interval(24), intervalMax: interval(40), supervisionTimeout: timeout(2000))
      },
      "010d2019600030000000a07d1c7fc7f001180028000000d00700000000"),
    CommandSample(ReadRemoteVersionInformation(handle: handle(69)), "011d04024500"),
    CommandSample(
      LEConnectionUpdate {
        $0.handle = handle(69)
        $0.parameters = ConnectionParameters(
          intervalMin: interval(6), intervalMax: interval(6), supervisionTimeout: timeout(2000))
      },
      "0113200e4500060006000000d00700000000"),
    CommandSample(
      LEExtendedCreateConnection {
        $0.peerAddress = BluetoothAddress(0xFFEE_DDCC_BBAA, .random)
        $0.le1M = .init(
          scan: .init(interval: ScanInterval(rawValue: 0x60), window: ScanInterval(rawValue: 0x60)),
          parameters: ConnectionParameters(
            intervalMin: interval(24), intervalMax: interval(40), supervisionTimeout: timeout(42)))
      },
      "0143201a000001aabbccddeeff01600060001800280000002a0000000000"),

    // Built after the Core Specification.
    CommandSample(Disconnect(handle: link), "01 0604 03 4500 13"),
    CommandSample(WriteLEHostSupport { $0.isSupported = true }, "01 6d0c 02 01 00"),
    CommandSample(ReadLocalVersionInformation(), "01 0110 00"),
    CommandSample(ReadLocalSupportedCommands(), "01 0210 00"),
    CommandSample(ReadLocalSupportedFeatures(), "01 0310 00"),
    CommandSample(ReadBufferSize(), "01 0510 00"),
    CommandSample(ReadBDADDR(), "01 0910 00"),
    CommandSample(ReadRSSI(handle: link), "01 0514 02 4500"),
    CommandSample(
      LESetEventMask { $0.mask = [.connectionComplete, .enhancedConnectionCompleteV2] },
      "01 0120 08 0100000000010000"),
    CommandSample(LEReadBufferSize(), "01 0220 00"),
    CommandSample(LEReadBufferSizeV2(), "01 6020 00"),
    CommandSample(LEClearFilterAcceptList(), "01 1020 00"),
    CommandSample(LERemoveDeviceFromFilterAcceptList { $0.address = ring }, "01 1220 07 01 b2a1332211c0"),
    CommandSample(
      LEWriteSuggestedDefaultDataLength {
        $0.transmit.octets = 251
        $0.transmit.time = 2120
      }, "01 2420 04 fb00 4808"),
    CommandSample(LEReadMaximumDataLength(), "01 2f20 00"),
    CommandSample(LESetAdvertisingEnable { $0.isEnabled = true }, "01 0a20 01 01"),
    CommandSample(
      LESetAdvertisingData { $0.data = LegacyAdvertisingData(hex("020106")) },
      "01 0820 20 03 020106 00000000000000 00000000000000 00000000000000 00000000000000"),
    CommandSample(
      LESetScanResponseData { $0.data = LegacyAdvertisingData(Array(repeating: 7, count: 40)) },
      "01 0920 20 1f 07070707070707 07070707070707 07070707070707 07070707070707 070707"),
    CommandSample(
      LESetExtendedScanParameters {
        $0.ownAddressType = .random
        $0.le1M = scan
        $0.leCoded = scan
      },
      "01 4120 0d 01 00 05 01 6000 3000 01 6000 3000"),
    CommandSample(
      LESetExtendedScanParameters {
        $0.filterPolicy = .filterAcceptList
        $0.le1M = scan
      },
      "01 4120 08 00 01 01 01 6000 3000"),
    CommandSample(
      LEExtendedCreateConnection {
        $0.filterPolicy = .filterAcceptList
        $0.ownAddressType = .random
        $0.peerAddress = ring
        $0.le1M = nil
        $0.le2M = .init(
          scan: .init(interval: ScanInterval(rawValue: 4), window: ScanInterval(rawValue: 4)),
          parameters: parameters)
        $0.leCoded = .init(
          scan: .init(interval: ScanInterval(rawValue: 5), window: ScanInterval(rawValue: 4)),
          parameters: parameters)
      },
      "01 4320 2a 01 01 01 b2a1332211c0 06"
        + " 0400 0400 0600 0c00 0100 c800 0200 0400 0500 0400 0600 0c00 0100 c800 0200 0400"),
    CommandSample(LECreateConnectionCancel(), "01 0e20 00"),
    CommandSample(
      LERemoteConnectionParameterRequestReply {
        $0.handle = link
        $0.parameters = parameters
      },
      "01 2020 0e 4500 0600 0c00 0100 c800 0200 0400"),
    CommandSample(LERemoteConnectionParameterRequestNegativeReply(handle: link), "01 2120 03 4500 3b"),
    CommandSample(
      LESetDataLength {
        $0.handle = link
        $0.transmit.octets = 251
        $0.transmit.time = 2120
      }, "01 2220 06 4500 fb00 4808"),
    CommandSample(LEReadPHY(handle: link), "01 3020 02 4500"),
    CommandSample(
      LESetPHY {
        $0.handle = link
        $0.preferred.transmit = [.le1M, .le2M]
        $0.preferred.receive = nil
      }, "01 3220 07 4500 02 03 00 0000"),
  ]

  @Test(arguments: samples)
  func commandsAreWrittenAndRead(sample: CommandSample) {
    #expect(sample.written == sample.packet)
    let bytes = Array(sample.packet.dropFirst())
    #expect(sample.isRead(bytes))
    checkDecoderIsTotal(bytes) { _ = sample.isRead($0) }
  }

  @Test(arguments: commandVectors)
  func vectorsHaveTheirOpcode(vector: CommandVector) throws {
    let (opcode, parameters) = try read(Array(vector.packet.dropFirst()))
    #expect(opcode == vector.opcode)
    #expect(opcode.name != nil)
    #expect(parameters == Array(vector.packet.dropFirst(4)))
  }

  private func read(_ bytes: [UInt8]) throws(DecodeError) -> (HCIOpcode, [UInt8]) {
    let packet = try CommandPacket(bytes.span.bytes)
    return (packet.opcode, Array(packet.parameters))
  }

  @Test func lengthMustBeThatOfTheParameters() {
    #expect(throws: DecodeError(offset: 3, reason: .truncated(needed: 2, available: 1))) {
      try read(hex("0c200201"))
    }
    #expect(throws: DecodeError(offset: 5, reason: .trailing(count: 1))) { try read(hex("0c2002010000")) }
  }

  @Test func leftOverParametersAreRefused() throws {
    let bytes = hex("0c20 03 010000")
    let packet = try CommandPacket(bytes.span.bytes)
    #expect((try? packet.decode(LESetScanEnable.self)) == nil)
  }

  @Test func rejectsInvalidBoolean() {
    #expect(throws: DecodeError.self) { try hex("0200").withReader { _ = try LESetScanEnable(parsing: &$0) } }
  }

  @Test func physicalLayersMustBeThoseOfTheCommand() {
    for phys in ["02", "08"] {
      #expect(throws: DecodeError.self) {
        try hex("0000 \(phys) 0160003000 0160003000").withReader {
          _ = try LESetExtendedScanParameters(parsing: &$0)
        }
      }
    }
  }

  @Test func rejectsOversizedAdvertisingData() {
    #expect(throws: DecodeError.self) {
      try (hex("20") + Array(repeating: 0, count: 32)).withReader {
        _ = try LESetAdvertisingData(parsing: &$0)
      }
    }
  }

  @Test func connectionParametersAreChecked() {
    #expect(parameters.isLegal)
    var changed = parameters
    changed.latency = 500
    #expect(!changed.isLegal)
    changed = parameters
    changed.intervalMin = interval(13)
    #expect(!changed.isLegal)
    changed = parameters
    changed.intervalMin = interval(5)
    #expect(!changed.isLegal)
    changed = parameters
    // 400 ms hold 13 intervals of 15 ms twice, and nothing more.
    changed.supervisionTimeout = timeout(39)
    changed.latency = 12
    #expect(!changed.isLegal)
    changed.supervisionTimeout = timeout(40)
    #expect(changed.isLegal)
  }
}

@Suite struct ReturnParameterTests {
  /// Writes and reads return parameters.
  private func check<Value: PacketFields>(
    _ value: Value, _ bytes: String, location: SourceLocation = #_sourceLocation
  ) throws {
    var writer = ByteWriter()
    value.write(into: &writer)
    #expect(writer.bytes == hex(bytes), sourceLocation: location)
    #expect(
      try hex(bytes).withReader { reader throws(DecodeError) in try Value(parsing: &reader) } == value,
      sourceLocation: location)
    checkDecoderIsTotal(hex(bytes)) { _ = try? $0.withReader { try Value(parsing: &$0) } }
  }

  @Test func returnParametersAreWrittenAndRead() throws {
    try check(NoReturnParameters(), "")
    try check(
      ReadLocalVersionInformation.Response {
        $0.hciVersion = CoreVersion(rawValue: 13)
        $0.hciSubversion = 0x102
        $0.lmpVersion = CoreVersion(rawValue: 12)
        $0.manufacturer = CompanyIdentifier(rawValue: 0x000F)
        $0.lmpSubversion = 0x304
      }, "0d 0201 0c 0f00 0403")
    try check(
      ReadBufferSize.Response {
        $0.aclDataLength = 1021
        $0.synchronousDataLength = 64
        $0.aclPackets = 8
        $0.synchronousPackets = 1
      },
      "fd03 40 0800 0100")
    try check(
      ReadBDADDR.Response { $0.address = BluetoothAddress(0x001A_7DDA_7113, .public) }, "1371da7d1a00")
    try check(
      ReadRSSI.Response {
        $0.handle = link
        $0.rssi = -61
      }, "4500 c3")
    try check(
      ReadRSSI.Response {
        $0.handle = link
        $0.rssi = nil
      }, "4500 7f")
    try check(
      LEReadBufferSize.Response {
        $0.aclDataLength = 27
        $0.aclPackets = 8
      }, "1b00 08")
    try check(
      LEReadBufferSizeV2.Response {
        $0.acl.aclDataLength = 251
        $0.acl.aclPackets = 15
        $0.isochronousDataLength = 251
        $0.isochronousPackets = 6
      },
      "fb00 0f fb00 06")
    try check(
      LEReadLocalSupportedFeatures.Response { $0.features = [.encryption, .phy2M] }, "0101000000000000")
    try check(
      ReadLocalSupportedFeatures.Response { $0.features = [.leSupportedController] }, "0000000040000000")
    try check(
      LEReadMaximumDataLength.Response {
        $0.transmit.octets = 251
        $0.transmit.time = 17040
        $0.receive.octets = 27
        $0.receive.time = 328
      }, "fb00 9042 1b00 4801")
    try check(
      LEReadPHY.Response {
        $0.handle = link
        $0.phys.transmit = .le1M
        $0.phys.receive = .le2M
      }, "4500 01 02")
    try check(LinkOnly(handle: link), "4500")
  }

  @Test func supportedCommandsAreBits() throws {
    let commands = SupportedCommands([
      Disconnect.self, LESetExtendedScanParameters.self, LEExtendedCreateConnection.self,
    ])
    var bytes = Array(repeating: UInt8(0), count: 64)
    bytes[0] = 0x20
    bytes[37] = 0xA0
    try check(commands, Hex.string(bytes))
    #expect(commands.contains(LESetExtendedScanParameters.self))
    #expect(!commands.contains(LESetExtendedScanEnable.self))
    #expect(!commands.contains(SupportedCommands.Bit(octet: 64, bit: 0)))
    #expect(!commands.contains(SupportedCommands.Bit(octet: 0, bit: -200)))
    #expect(commands.description.hasPrefix("3 commands: 20"))
  }
}
