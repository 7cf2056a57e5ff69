import HCI
import HaloBluetoothCore
import TestSupport
import Testing

/// Reads an event with its H4 type byte.
private func read(_ packet: [UInt8]) throws(DecodeError) -> HCIEvent {
  try packet.withReader { reader throws(DecodeError) in
    try reader.skip(1)
    return try HCIEvent(parsing: &reader)
  }
}

private func packet(_ event: HCIEvent) -> [UInt8] {
  var writer = ByteWriter()
  event.packet(into: &writer)
  return writer.bytes
}

@Suite struct EventTests {
  @Test(arguments: eventVectors)
  func vectorsAreReadAndWritten(vector: EventVector) throws {
    let event = try read(vector.packet)
    #expect(event == vector.event)
    #expect(packet(event) == vector.packet)
    checkDecoderIsTotal(vector.packet) { _ = try? read($0) }
  }

  /// The events that are read on the hot path are read as all are.
  @Test func completedPacketsAreReadAlike() {
    var generator = SeededGenerator(seed: 7)
    for _ in 0..<20_000 {
      let length = Int.random(in: 0...14, using: &generator)
      var body = (0..<length).map { _ in UInt8.random(in: 0...3, using: &generator) }
      // Often a length and a number that are possible.
      if Bool.random(using: &generator) { body = [UInt8(length + 1), UInt8(length / 4)] + body }
      let packet = [4, 0x13] + body
      var items: [NumberOfCompletedPackets.Item]?
      if let completed = try? CompletedPackets(packet.span.bytes.extracting(1..<packet.count)) {
        var all: [NumberOfCompletedPackets.Item] = []
        completed.forEach { all.append($0) }
        items = all
      }
      guard case .numberOfCompletedPackets(let event)? = try? read(packet) else {
        #expect(items == nil, "\(packet)")
        continue
      }
      #expect(items == event.items, "\(packet)")
    }
  }

  /// Events for which there is no vector.
  static let samples: [(HCIEvent, String)] = [
    (.hardwareError(HardwareError(code: 0x42)), "04 10 01 42"),
    (
      .leRemoteConnectionParameterRequest(
        LERemoteConnectionParameterRequest {
          $0.handle = handle(0x40)
          $0.intervalMin = interval(6)
          $0.intervalMax = interval(12)
          $0.latency = 3
          $0.supervisionTimeout = timeout(500)
        }), "04 3e 0b 06 4000 0600 0c00 0300 f401"
    ),
    (
      .leDataLengthChange(
        LEDataLengthChange {
          $0.handle = handle(0x40)
          $0.lengths.transmit.octets = 251
          $0.lengths.transmit.time = 2120
          $0.lengths.receive.octets = 27
          $0.lengths.receive.time = 328
        }),
      "04 3e 0b 07 4000 fb00 4808 1b00 4801"
    ),
    (
      .lePHYUpdateComplete(
        LEPHYUpdateComplete {
          $0.status = .success
          $0.handle = handle(0x40)
          $0.phys.transmit = .le2M
          $0.phys.receive = .leCoded
        }),
      "04 3e 06 0c 00 4000 02 03"
    ),
    (.leScanTimeout, "04 3e 01 11"),
    (
      .leAdvertisingReports(
        AdvertisingReports(
          .directed,
          [
            AdvertisingReport(
              address: BluetoothAddress(0xC011_2233_A1B2, .random),
              eventType: [.legacy, .connectable, .directed], rssi: -60,
              directAddress: BluetoothAddress(0x4A00_0000_0001, .init(rawValue: 0xFE)), data: [])
          ])), "04 3e 12 0b 01 01 01 b2a1332211c0 fe 01000000004a c4"
    ),
    (
      .leAdvertisingReports(
        AdvertisingReports(
          .extended,
          [
            AdvertisingReport(
              address: BluetoothAddress(0, .anonymous), eventType: .directed, dataStatus: .incomplete,
              rssi: nil, primaryPHY: .leCoded, secondaryPHY: .leCoded, advertisingSID: 15,
              periodicAdvertisingInterval: PeriodicAdvertisingInterval(rawValue: 80),
              directAddress: BluetoothAddress(0xC011_2233_A1B2, .random), data: [0x02, 0x01])
          ])),
      "04 3e 1c 0d 01 2400 ff 000000000000 03 03 0f 7f 7f 5000 01 b2a1332211c0 02 0201"
    ),
  ]

  @Test(arguments: samples)
  func samplesAreReadAndWritten(event: HCIEvent, bytes: String) throws {
    #expect(packet(event) == hex(bytes))
    #expect(try read(hex(bytes)) == event)
    checkDecoderIsTotal(hex(bytes)) { _ = try? read($0) }
  }

  @Test func lengthMustBeThatOfTheBytes() {
    // Claims four parameter bytes, and three are there.
    #expect(throws: DecodeError(offset: 3, reason: .truncated(needed: 4, available: 3))) {
      try read(hex("040504004000"))
    }
    #expect(throws: DecodeError(offset: 7, reason: .trailing(count: 1))) {
      try read(hex("0405040040001600"))
    }
    #expect(throws: DecodeError.self) { try read(hex("0405")) }
  }

  @Test func tooFewParametersAreRefusedAndTooManyIgnored() throws {
    #expect(throws: DecodeError.self) { try read(hex("040503004000")) }
    #expect(try read(hex("0405050040001600")) == read(hex("04050400400016")))
    #expect(throws: DecodeError.self) { try read(hex("043e00")) }
  }

  @Test func countsLargerThanTheListAreRefused() {
    #expect(throws: DecodeError.self) { try read(hex("0413050203000300")) }
  }

  @Test func reservedBitsOfAHandleAreDropped() throws {
    #expect(try read(hex("040504 00 40f0 16")) == read(hex("040504 00 4000 16")))
  }
}

@Suite struct AdvertisingReportsTests {
  private func reports(_ packet: String) throws -> AdvertisingReports? {
    if case .leAdvertisingReports(let reports) = try read(hex(packet)) { reports } else { nil }
  }

  private static let good = "00 01 b2a1332211c0 03 020106 c4"

  @Test func severalReportsFollowEachOther() throws {
    let read = try #require(try reports("04 3e 1c 02 02 \(Self.good) 04 01 b2a1332211c0 03 020a00 7f"))
    #expect(!read.isDamaged)
    #expect(read.reports.map(\.rssi) == [-60, nil])
    #expect(read.reports.map(\.eventType.rawValue) == [0x13, 0x1A])
    #expect(read.reports.map(\.data) == [[2, 1, 6], [2, 0x0A, 0]])
  }

  @Test(arguments: [
    ("04 3e 0f 02 02 \(good)", 1, ""),
    ("04 3e 11 02 02 \(good) 0001", 1, "0001"),
    ("04 3e 1b 02 02 \(good) 0001b2a1332211c0ff020106", 1, "0001b2a1332211c0ff020106"),
    ("04 3e 10 02 01 \(good) aa", 1, "aa"),
    ("04 3e 02 02 05", 0, ""),
  ])
  func damagedReportsDoNotHideTheGoodOnes(packet: String, good: Int, unread: String) throws {
    let read = try #require(try reports(packet))
    #expect(read.reports.count == good)
    #expect(read.reports.allSatisfy { $0.data == [2, 1, 6] })
    #expect(read.unread == hex(unread))
    #expect(read.isDamaged)
    var writer = ByteWriter()
    HCIEvent.leAdvertisingReports(read).packet(into: &writer)
    #expect(writer.bytes == hex(packet))
  }

  /// A type that is not specified says nothing of what follows; the report itself is no advertisement.
  @Test(arguments: [("02", "0901b2a1332211c003020106c4"), ("0b", "0001b2a1332211c00100000000000011")])
  func aReservedTypeHidesNoOther(_ form: String, _ reserved: String) throws {
    let known = form == "02" ? Self.good : "01" + reserved.dropFirst(2)
    let bytes = hex("\(form) 02 \(reserved) \(known)")
    let packet = [0x04, 0x3E, UInt8(bytes.count)] + bytes
    let read = try #require(try reports(Hex.string(packet)))
    #expect(!read.isDamaged && read.reports.count == 2)
    #expect(read.reports.map(\.reservedType) == [UInt8(reserved.prefix(2), radix: 16), nil])
    #expect(!read.reports[0].eventType.contains(.connectable))
    var collector = AdvertisementCollector()
    for report in read.reports { _ = collector.receive(report, at: .zero) }
    #expect(collector[PeerIdentity(read.reports[0].address)]?.reportCount == 1)
    var writer = ByteWriter()
    HCIEvent.leAdvertisingReports(read).packet(into: &writer)
    #expect(writer.bytes == packet)
  }

  @Test func acceptsEmptyAdvertisingReport() throws {
    #expect(try reports("04 3e 02 02 00")?.isDamaged == false)
  }

  @Test func moreDataThanFitsIsCut() throws {
    let report = AdvertisingReport(
      address: BluetoothAddress(1, .public), eventType: [], rssi: -1, data: Array(repeating: 7, count: 500))
    let event = HCIEvent.leAdvertisingReports(AdvertisingReports(.extended, [report]))
    let bytes = packet(event)
    #expect(bytes.count == 258)
    guard case .leAdvertisingReports(let again) = try read(bytes) else { return #expect(Bool(false)) }
    #expect(again.reports.first?.data.count == 229)
  }
}

@Suite struct CommandCompleteTests {
  private func complete(_ packet: String) throws -> CommandComplete {
    guard case .commandComplete(let event) = try read(hex(packet)) else {
      throw DecodeError(offset: 0, reason: .invalid("not Command Complete"))
    }
    return event
  }

  @Test func returnParametersAreTyped() throws {
    let version = try complete("040e0c010110000900100931010c22")
      .response(to: ReadLocalVersionInformation.self)
    #expect(version.hciVersion.description == "5.0")
    #expect(version.hciSubversion == 4096)
    #expect(version.lmpVersion.rawValue == 9)
    #expect(version.manufacturer.rawValue == 305)
    #expect(version.lmpSubversion == 8716)

    let features = try complete("040e0c01031000bffecffedbff7b87")
      .response(to: ReadLocalSupportedFeatures.self).features
    #expect(features.rawValue == 0x877B_FFDB_FECF_FEBF)
    #expect(features.isSuperset(of: [.leSupportedController, .extendedFeatures]))
    #expect(!features.contains(.brEDRNotSupported))

    let buffers = try complete("040e0a01602000fb000ffb0006").response(to: LEReadBufferSizeV2.self)
    #expect(buffers.acl.aclDataLength == 251)
    #expect(buffers.acl.aclPackets == 15)
    #expect(buffers.isochronousDataLength == 251)
    #expect(buffers.isochronousPackets == 6)
  }

  @Test func aStatusAloneIsReadable() throws {
    let event = try complete("040e0401092001")
    #expect(event.status == .unknownCommand)
    #expect(event.opcode == LESetScanResponseData.opcode)
    #expect(throws: DecodeError.self) { try event.response(to: ReadBDADDR.self) }
  }

  @Test func creditsComeWithoutACommand() throws {
    let event = try complete("04 0e 03 05 0000")
    #expect(event.opcode == .noOperation)
    #expect(event.commandCredits == 5)
    #expect(event.status == nil)
    #expect(throws: DecodeError.self) { try event.response(to: Reset.self) }
  }

  @Test func answersAreWritten() throws {
    let response = ReadBDADDR.Response { $0.address = BluetoothAddress(0x001A_7DDA_7113, .public) }
    let event = CommandComplete(ReadBDADDR.self, response: response)
    #expect(packet(.commandComplete(event)) == hex("04 0e 0a 01 0910 00 1371da7d1a00"))
    #expect(try event.response(to: ReadBDADDR.self) == response)
  }
}
