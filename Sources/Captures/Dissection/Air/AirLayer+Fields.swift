import HCI
import HaloBluetoothCore
import HaloCapture

extension AirLayer {
  /// The section that describes the PDU.
  var reference: String {
    switch kind {
    case .advertising: advertisingType?.reference ?? "Vol 6, Part B, 2.3"
    case .control:
      notes.contains(.encrypted) ? "Vol 6, Part B, 2.4" : opcode?.reference ?? "Vol 6, Part B, 2.4.2"
    case .data: "Vol 6, Part B, 2.4"
    case .isochronous: "Vol 6, Part B, 2.6"
    case .unknown: "Vol 6, Part B, 2.1"
    }
  }

  /// Lists all fields: the sniffer's data, the header, the content unless it is a layer of its own, the CRC.
  func list(_ bytes: RawSpan, _ reception: AirReception?, hasUpperLayer: Bool, to list: FieldList) {
    if let reception { self.list(reception, to: list) }
    listHeader(bytes, to: list)
    guard kind != .unknown else { return }
    if !hasUpperLayer || kind != .data { listContent(bytes, to: list) }
    if micLength > 0 {
      list.read(bytes, max(payloadStart, end - Int(micLength))..<end, reference: "Vol 6, Part B, 2.4.1") {
        lister in
        lister.showRest("MIC")
      }
    }
    listCRC(bytes, to: list)
  }

  private func listHeader(_ bytes: RawSpan, to list: FieldList) {
    let first = list.count
    list.read(bytes, 0..<payloadStart, reference: "Vol 6, Part B, 2.1.2") { lister throws(DecodeError) in
      var address = AccessAddress()
      try lister.value("access address", &address)
      if start > 4 {
        var indicator: UInt8 = 0
        try lister.value("coding indicator", &indicator, .names([0: "S=8", 1: "S=2"]))
      }
      switch kind {
      case .advertising:
        var header = AdvertisingHeader()
        try lister.value("header", &header)
      case .unknown: return lister.showRest("bytes")
      case .isochronous:
        var header: UInt8 = 0
        try lister.value("header", &header, .hex)
      case .data, .control:
        var header = DataHeader()
        try lister.value("header", &header)
      }
      var length: UInt8 = 0
      try lister.value("length", &length, .unit("bytes"))
      if payloadStart > Int(start) + 2 {
        var tone = ToneExtension()
        try lister.value("CTEInfo", &tone)
      }
    }
    // Access address, then the header as the kind of the PDU defines it.
    for index in first..<list.count where list.isNamed(index, "header") || list.isNamed(index, "length") {
      list.setReference(of: index, kind == .advertising ? "Vol 6, Part B, 2.3" : "Vol 6, Part B, 2.4")
    }
  }

  /// Lists the content of the PDU.
  func listContent(_ bytes: RawSpan, to list: FieldList) {
    let first = list.count
    switch kind {
    case .control where isReadable: listControl(bytes, to: list)
    case .advertising where isReadable:
      list.read(bytes, payload(in: bytes), reference: reference) { lister throws(DecodeError) in
        if var fields = advertisingType?.fields(AdvertisingHeader(rawValue: header)) {
          try fields.list(&lister)
        }
        lister.showRest("payload")
      }
      AdvertisingText.describe(list, from: first, bytes, format: "Vol 3, Part C, 11")
    default:
      list.read(bytes, payload(in: bytes), reference: reference) { lister in
        lister.showRest(notes.contains(.encrypted) ? "encrypted" : "payload")
      }
    }
  }

  func listControl(_ bytes: RawSpan, to list: FieldList) {
    list.read(bytes, payload(in: bytes), reference: reference) { lister throws(DecodeError) in
      var opcode = LLOpcodeField()
      try lister.value("opcode", &opcode)
      if var fields = LLControlOpcode(rawValue: opcode.rawValue).fields { try fields.list(&lister) }
      lister.showRest("parameters")
    }
  }

  private func listCRC(_ bytes: RawSpan, to list: FieldList) {
    guard end < bytes.byteCount else { return }
    list.read(bytes, end..<bytes.byteCount, reference: "Vol 6, Part B, 3.1.1") { lister throws(DecodeError) in
      try lister.show("CRC", { reader throws(DecodeError) in try reader.readUInt24() }) { value in
        let digits = Hex.string(UInt64(value), bytes: 3)
        switch crc {
        case .right where notes.contains(.otherCRC): return "\(digits), right for the sniffer"
        case .right: return "\(digits), right"
        case .wrong: return "\(digits), wrong"
        case .unknown: return digits
        }
      }
    }
  }

  /// The sniffer's data stand before the packet in the file: these fields have no bytes.
  private func list(_ reception: AirReception, to list: FieldList) {
    func note(_ name: StaticString, _ value: String) {
      list.add(name, range: 0..<0, reference: "the sniffer's header") { $0.write(value) }
    }
    if let channel = reception.channel { note("channel", "\(channel)") }
    if let rssi = reception.rssi { note("RSSI", "\(rssi) dBm") }
    if let noise = reception.noise { note("noise", "\(noise) dBm") }
    if let phy = reception.phy { note("PHY", "\(phy)") }
    let flags = reception.flags
    if let isValid = reception.isCRCValid { note("CRC for the sniffer", isValid ? "right" : "wrong") }
    if isOfConnection, let direction {
      note(
        "direction",
        (direction == .hostToController ? "from the central" : "from the peripheral")
          + (notes.contains(.derivedDirection) ? ", derived" : ""))
    }
    if let event { note("connection event", "\(event)" + (notes.contains(.beginsEvent) ? ", first" : "")) }
    if flags.contains(.encrypted) || flags.contains(.decrypted) {
      note(
        "encryption",
        (flags.contains(.decrypted) ? "decrypted by the sniffer" : "encrypted")
          + (flags.contains(.micChecked) ? ", MIC " + (flags.contains(.micValid) ? "right" : "wrong") : ""))
    }
    if flags.contains(.hasReferenceAddress) {
      note("reference access address", Hex.string(UInt64(reception.referenceAddress), bytes: 4))
    }
    if flags.contains(.hasOffenses) { note("access address offenses", "\(reception.offenses) bits") }
    if flags.contains(.channelAliased) { note("channel aliased", "perhaps sent on another channel") }
    if flags.contains(.addressResolved) { note("address", "resolved by the sniffer") }
    if flags.contains(.hasCounter) {
      note("packet counter", "\(reception.packetCounter)")
      note(reception.version >= 3 ? "sniffer's clock" : "after the packet before", "\(reception.time) us")
    }
  }
}

/// The first byte of a PDU of a connection (Core Specification Vol 6, Part B, 2.4).
struct DataHeader: HCICode {
  var rawValue: UInt8

  var description: String {
    "LLID \(rawValue & 3), NESN \(rawValue >> 2 & 1), SN \(rawValue >> 3 & 1), MD \(rawValue >> 4 & 1)"
      + (rawValue & 0x20 == 0 ? "" : ", CP 1")
  }
}
