import HaloCapture
import TestSupport
import Testing

/// Captures of the air: what four link types say about a packet, and where its bytes are.
@Suite struct AirTests {
  /// Access address, ADV_IND without data, CRC.
  private static let packet = hex("d6be898e 0006 010203040506 aabbcc".dense)

  private func read(_ linkType: UInt32, _ record: [UInt8], original: UInt32? = nil) -> CaptureRecord? {
    let pcap = PCAPBytes()
    let reading = Reading(pcap.header(linkType: linkType) + pcap.record(record, original: original))
    let section = PCAPNGBytes()
    let other = Reading(
      section.section() + section.interface(UInt16(linkType)) + section.packet(record, original: original))
    #expect(reading.error == nil && other.error == nil)
    #expect(reading.records.first?.bytes == other.records.first?.bytes)
    #expect(reading.records.first?.info.content == other.records.first?.info.content)
    return reading.records.first
  }

  private func reception(_ record: CaptureRecord?) -> AirReception? {
    guard case .air(let reception)? = record?.info.content else { return nil }
    return reception
  }

  @Test func readsLinkLayerPacketWithoutPseudoHeader() {
    let record = read(251, Self.packet)
    #expect(record?.bytes == Self.packet && record?.info.originalLength == Self.packet.count)
    #expect(reception(record) == AirReception(.linkLayer))
  }

  /// Channels of advertising are the RF channels 0, 12 and 39 (nccgroup/Sniffle issue 53 reads them so).
  @Test(arguments: [(0, 37), (1, 0), (11, 10), (12, 38), (13, 11), (38, 36), (39, 39)] as [(UInt8, UInt8)])
  func theHeaderHasAnRFChannel(number: UInt8, index: UInt8) {
    let record = read(256, [number] + hex("c4a00112345678330c") + Self.packet)
    #expect(reception(record)?.channel == index)
    #expect(record?.bytes == Self.packet && record?.info.originalLength == Self.packet.count)
  }

  @Test func decodesFieldsMarkedValidByTheHeaderFlags() throws {
    // Dewhitened, signal, reference, offenses, from the peripheral, CRC checked and valid, LE 2M.
    let all = try #require(reception(read(256, hex("0cc4a00378563412b34d") + Self.packet)))
    #expect(all.channel == 38 && all.rssi == -60 && all.noise == nil && all.offenses == 3)
    #expect(all.referenceAddress == 0x1234_5678 && all.phy == .le2M && all.role == .fromPeripheral)
    #expect(all.isCRCValid == true && all.direction == .controllerToHost)
    #expect(all.flags == [.hasReferenceAddress, .hasOffenses, .crcChecked, .crcValid])
    let none = try #require(reception(read(256, hex("28c4a003785634120100") + Self.packet)))
    #expect(none.channel == nil && none.rssi == nil && none.isCRCValid == nil && none.direction == nil)
    #expect(none.phy == .le1M && none.role == .unspecified && none.flags == [])
  }

  @Test func theSnifferOfNordic() throws {
    // Version 3, an advertising PDU: the type of an auxiliary one where others have the direction.
    let primary = try #require(
      reception(read(272, hex("002700033412020a0125 2e 000044332211".dense) + Self.packet)))
    #expect(
      primary.role == .advertising && primary.channel == 37 && primary.rssi == -46 && primary.version == 3)
    #expect(primary.packetCounter == 0x1234 && primary.time == 0x1122_3344 && primary.isCRCValid == true)
    let secondary = try #require(
      reception(read(272, hex("002700033412020a1709 2e 000044332211".dense) + Self.packet)))
    #expect(
      secondary.role == .auxiliaryAdvertising && secondary.auxiliaryType == .scanResponse
        && secondary.phy == .le2M)
    // Version 1, a PDU of a connection: from the central, encrypted, MIC right.
    let data = hex("11223344 0a0100 aabbcc".dense)
    let record = read(272, hex("00061400 3412060a0f052e070044332211".dense) + data)
    let received = try #require(reception(record))
    #expect(
      received.role == .fromCentral && received.eventCounter == 7 && received.direction == .hostToController)
    #expect(received.flags.isSuperset(of: [.encrypted, .decrypted, .micValid, .hasEvent, .crcValid]))
    #expect(record?.bytes == data)
    // Version 0, which begins with a marker.
    let oldest = try #require(reception(read(272, hex("beef06341200001b 0300 2e 070044332211".dense) + data)))
    #expect(oldest.version == 0 && oldest.packetCounter == 0x1234 && oldest.role == .fromCentral)
    #expect(oldest.eventCounter == 7 && oldest.time == 0x1122_3344 && oldest.rssi == -46)
    // A message of the sniffer is no packet.
    #expect(
      read(272, hex("002700033412 0e 0a01252e000044332211".dense))?.info.content == .foreign(.nordicSniffer))
  }

  /// Programs without a sniffer fill in the flags alone: zeros are no channel and no connection event.
  @Test(arguments: ["4b1a00020000000a", "001a00000000000a"])
  func headersThatNoSnifferHasFilledIn(header: String) throws {
    let record = read(272, hex("\(header)030000000000000000") + Self.packet)
    let received = try #require(reception(record))
    #expect(record?.bytes == Self.packet && received.role == .advertising && received.isCRCValid == true)
    #expect(received.channel == nil && received.flags.isDisjoint(with: [.hasEvent, .hasCounter]))
    let data = try #require(
      reception(read(272, hex("\(header)030000000000000000 11223344 0100 aabbcc".dense))))
    #expect(data.role == .fromCentral && !data.flags.contains(.hasEvent))
  }

  /// Ubertooth's files have packets of a private type (mikeryan/crackle reads them so).
  @Test(arguments: ["93000000", "fb000000"])
  func perPacketInformation(type: String) throws {
    let header = hex("00001800\(type)36750c000084090044332211f0e8ec05")
    let record = read(192, header + Self.packet)
    let received = try #require(reception(record))
    #expect(received.channel == 15 && received.rssi == -20 && received.time == 0x1122_3344)
    #expect(record?.bytes == Self.packet)
    // Another field before it, and a packet of another type.
    let second = read(
      192, hex("00002000\(type)0200040001020304 36750c000084090044332211f0e8ec05".dense) + Self.packet)
    #expect(second?.bytes == Self.packet)
    let other = read(192, hex("0000080069000000") + Self.packet)
    #expect(other?.info.content == .foreign(.perPacketInformation))
  }

  /// A packet that is cut within the header of its link type has no bytes; the file is read on.
  @Test(
    arguments: [
      (251, ""), (256, "0cc4a00378563412b34d"), (272, "002700033412020a01252e000044332211"),
      (192, "00001800fb00000036750c000084090044332211f0e8ec05"),
    ] as [(UInt32, String)])
  func everyLength(linkType: UInt32, header: String) {
    let pcap = PCAPBytes()
    let whole = hex(header) + Self.packet
    for length in 0...whole.count {
      let cut = pcap.record(Array(whole.prefix(length)), original: UInt32(whole.count))
      let reading = Reading(pcap.header(linkType: linkType) + cut + pcap.record(whole))
      #expect(reading.error == nil && reading.records.count == 2, "\(length) bytes")
      #expect(reading.records.last?.bytes == Self.packet)
      if length >= hex(header).count {
        #expect(reading.records.first?.bytes == Array(whole.prefix(length).dropFirst(hex(header).count)))
        #expect(reading.records.first?.info.originalLength == Self.packet.count)
      }
    }
  }
}

extension String {
  /// Without spaces.
  fileprivate var dense: String { filter { $0 != " " } }
}
