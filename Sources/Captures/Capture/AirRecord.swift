extension CaptureLinkType {
  /// Packets of the air, from the access address to the CRC.
  package static let lowEnergyLinkLayer = CaptureLinkType(rawValue: 251)
  /// The same, preceded by ten bytes on their reception.
  package static let lowEnergyLinkLayerWithHeader = CaptureLinkType(rawValue: 256)
  /// The same, preceded by the header of Nordic's nRF Sniffer.
  package static let nordicSniffer = CaptureLinkType(rawValue: 272)
  /// Packets of a type that their header names, for any protocol.
  package static let perPacketInformation = CaptureLinkType(rawValue: 192)

  /// Whether packets of this type were received on the air; those with ``perPacketInformation`` may be others.
  package var isAir: Bool {
    switch self {
    case .lowEnergyLinkLayer, .lowEnergyLinkLayerWithHeader, .nordicSniffer, .perPacketInformation: true
    default: false
    }
  }
}

extension AirReception.Source {
  package var linkType: CaptureLinkType {
    switch self {
    case .linkLayer: .lowEnergyLinkLayer
    case .linkLayerWithHeader: .lowEnergyLinkLayerWithHeader
    case .nordic: .nordicSniffer
    case .perPacketInformation: .perPacketInformation
    }
  }
}

// Sources: tcpdump.org, "Link-layer header types", and the pages that it names; the header of the nRF Sniffer as Nordic
// has described it for Wireshark (packet-nordic_ble.c); the fields of PPI as in "PPI Packet Header" (CACE Technologies),
// with Ubertooth's field as in libbtbb (pcap.c). All numbers are little-endian.
extension FoundRecord {
  /// Interprets a packet of the air. A packet that is none, such as one of another protocol with PPI, is unchanged.
  mutating func readAir(_ linkType: CaptureLinkType, of bytes: RawSpan) {
    let packet = bytes.extracting(min(start, bytes.byteCount)..<min(start + length, bytes.byteCount))
    switch linkType {
    case .lowEnergyLinkLayer: content = .air(AirReception(.linkLayer))
    case .lowEnergyLinkLayerWithHeader: readLinkLayerHeader(packet)
    case .nordicSniffer: readNordicHeader(packet)
    case .perPacketInformation: readPerPacketInformation(packet)
    default: break
    }
  }

  /// Consumes the header. A record that ends within it has no bytes of the packet.
  private mutating func take(_ reception: AirReception, header: Int) {
    var reception = reception
    if length < header { reception.flags.insert(.incompleteHeader) }
    let taken = min(header, length)
    start += taken
    length -= taken
    linkHeaderLength = taken
    originalLength = max(0, originalLength - header)
    content = .air(reception)
  }

  // MARK: 256

  private mutating func readLinkLayerHeader(_ packet: RawSpan) {
    let headerLength = 10
    var reception = AirReception(.linkLayerWithHeader)
    defer { take(reception, header: headerLength) }
    guard let channel = packet.byte(at: 0), let signal = packet.byte(at: 1), let noise = packet.byte(at: 2),
      let offenses = packet.byte(at: 3), let reference = packet.uint32(at: 4, .little),
      let bits = packet.uint16(at: 8, .little)
    else { return }
    func has(_ bit: UInt16) -> Bool { bits & bit != 0 }
    reception.channel = AirReception.channel(atRFChannel: channel)
    if has(0x0002) { reception.rssi = Int8(bitPattern: signal) }
    if has(0x0004) { reception.noise = Int8(bitPattern: noise) }
    reception.offenses = offenses
    reception.referenceAddress = reference
    reception.phy = AirReception.PHY(rawValue: UInt8(bits >> 14))
    let flags: [(UInt16, AirReception.Flags)] = [
      (0x0008, .decrypted), (0x0010, .hasReferenceAddress), (0x0020, .hasOffenses), (0x0040, .channelAliased),
      (0x0400, .crcChecked), (0x0800, .crcValid), (0x1000, .micChecked), (0x2000, .micValid),
    ]
    for (bit, flag) in flags where has(bit) { reception.flags.insert(flag) }
    if !has(0x0001) { reception.flags.insert(.whitened) }
    // Bits 7 to 9. Early files have zeros: a PDU of a connection without a direction.
    switch bits >> 7 & 7 {
    case 1: reception.role = .auxiliaryAdvertising
    case 2: reception.role = .fromCentral
    case 3: reception.role = .fromPeripheral
    case 4: reception.role = .isochronousFromCentral
    case 5: reception.role = .isochronousFromPeripheral
    case 6: reception.role = .broadcastIsochronous
    default: break
    }
  }

  // MARK: nRF Sniffer

  /// The header has 17 bytes in all versions. In version 0: 0xBEEF, packet ID (1 byte), packet counter (2 bytes), two unused
  /// bytes. Since then: board (1 byte), header length and payload length (1 byte each; since version 2, a payload length of 2
  /// bytes), version (1 byte), packet counter (2 bytes), packet ID (1 byte). Then the length of the fields up to the packet,
  /// flags, channel, RSSI, event counter (2 bytes), time (4 bytes).
  private mutating func readNordicHeader(_ packet: RawSpan) {
    let headerLength = 17
    var reception = AirReception(.nordic)
    let isOldest = packet.byte(at: 0) == 0xBE && packet.byte(at: 1) == 0xEF
    guard let version = isOldest ? 0 : packet.byte(at: 3),
      let counter = packet.uint16(at: isOldest ? 3 : 4, .little),
      let kind = packet.byte(at: isOldest ? 2 : 6), let bits = packet.byte(at: 8),
      let channel = packet.byte(at: 9),
      let strength = packet.byte(at: 10), let event = packet.uint16(at: 11, .little),
      let time = packet.uint32(at: 13, .little)
    else { return take(reception, header: headerLength) }
    // 2 is an advertising PDU since version 3, 6 any packet before, and a PDU of a connection since then. Programs without
    // a sniffer leave zero, as they do in the counters, the channel and the RSSI. Others, such as the answer to a ping,
    // are messages of the sniffer.
    guard [0, 2, 6].contains(kind) else { return }
    let isOfSniffer = kind != 0
    reception.version = version
    reception.packetCounter = counter
    reception.eventCounter = event
    reception.time = time
    reception.flags = isOfSniffer ? [.hasCounter, .crcChecked] : .crcChecked
    reception.channel = channel < 40 && (isOfSniffer || channel > 0) ? channel : nil
    // Its magnitude; the sign is left out.
    if isOfSniffer || strength > 0 { reception.rssi = Int8(truncatingIfNeeded: -Int(min(strength, 128))) }
    reception.phy = AirReception.PHY(rawValue: bits >> 4 & 7)
    if bits & 1 != 0 { reception.flags.insert(.crcValid) }
    if kind == 2 || packet.uint32(at: headerLength, .little) == 0x8E89_BED6 {
      readAdvertisingFlags(bits, version, &reception)
    } else {
      reception.role = bits & 2 != 0 ? .fromCentral : .fromPeripheral
      if isOfSniffer { reception.flags.insert(.hasEvent) }
      if bits & 4 != 0 {
        reception.flags.formUnion([.encrypted, .micChecked])
        if bits & 8 != 0 { reception.flags.formUnion([.micValid, .decrypted]) }
      }
    }
    take(reception, header: headerLength)
  }

  private func readAdvertisingFlags(_ bits: UInt8, _ version: UInt8, _ reception: inout AirReception) {
    let isPrimary = reception.channel.map { $0 >= 37 } ?? true
    reception.role = isPrimary ? .advertising : .auxiliaryAdvertising
    guard version >= 3 else { return }
    if !isPrimary { reception.auxiliaryType = AirReception.AuxiliaryType(rawValue: bits >> 1 & 3) }
    if bits & 8 != 0 { reception.flags.insert(.addressResolved) }
  }

  // MARK: PPI

  /// Version, flags, length of the header (2 bytes), type of the packet (4 bytes); then fields of a type, a length (2
  /// bytes each) and a value.
  private mutating func readPerPacketInformation(_ packet: RawSpan) {
    var reception = AirReception(.perPacketInformation)
    guard let headerLength = packet.uint16(at: 2, .little).map(Int.init),
      let type = packet.uint32(at: 4, .little), headerLength >= 8
    else { return }
    // 147 is reserved for private use; Ubertooth's files had it before 251 was assigned.
    guard type == 147 || type == UInt32(CaptureLinkType.lowEnergyLinkLayer.rawValue) else { return }
    var offset = 8
    while offset + 4 <= headerLength, let field = packet.uint16(at: offset, .little),
      let size = packet.uint16(at: offset + 2, .little).map(Int.init)
    {
      if field == 30006, size >= 12 { readUbertoothField(packet, offset + 4, &reception) }
      offset += 4 + size
    }
    take(reception, header: headerLength)
  }

  /// Version, frequency in MHz (2 bytes), clock (1 byte), clock in steps of 100 ns (4 bytes), RSSI: the greatest, the
  /// least, the average, and of how many values.
  private func readUbertoothField(_ packet: RawSpan, _ offset: Int, _ reception: inout AirReception) {
    guard let frequency = packet.uint16(at: offset + 1, .little),
      let clock = packet.uint32(at: offset + 4, .little), let average = packet.byte(at: offset + 10),
      let count = packet.byte(at: offset + 11)
    else { return }
    if frequency >= 2402, frequency <= 2480, frequency % 2 == 0 {
      reception.channel = AirReception.channel(atRFChannel: UInt8((frequency - 2402) / 2))
    }
    reception.time = clock
    if count > 0 { reception.rssi = Int8(bitPattern: average) }
  }
}
