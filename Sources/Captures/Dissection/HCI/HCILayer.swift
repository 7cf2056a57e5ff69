import HCI
import HaloBluetoothCore
import HaloCapture

/// The HCI packet (Core Specification Vol 4, Part E, 5.4).
package struct HCILayer: Hashable, Sendable {
  package var type: HCIPacketType
  /// The opcode of a command, or of the one that an event answers.
  package var opcode: HCIOpcode?
  package var event: HCIEventCode?
  package var subevent: LESubevent?
  /// The link that it is about, if it is about one.
  package var connection: ConnectionHandle?
  /// The status of an event that has one.
  package var status: HCIErrorCode?
  /// How a packet of ACL data relates to its frame.
  package var boundary: ACLHeader.Boundary?
  /// The parameter length in the header.
  package var length = 0
  /// The command that an event answers.
  package var command: PacketReference?
  /// The manufacturer of the controller, once it is known: only for a vendor-specific command or event.
  package var manufacturer: CompanyIdentifier?
  /// The device at the other end of the link.
  package var peer: BluetoothAddress?
  /// The reason why it is malformed.
  package var problem: PacketProblem?
  /// Whether the capture has only its beginning (snap length).
  package var isCut = false

  /// Parses the headers; the rest is parsed on demand.
  ///
  /// - Parameter packet: with its H4 type byte
  init(_ packet: RawSpan) {
    type = HCIPacketType(rawValue: packet.byte(at: 0) ?? 0)
    guard packet.byteCount > 0 else {
      problem = .empty
      return
    }
    do throws(DecodeError) {
      var reader = ByteReader(packet)
      try readHeaders(&reader)
    } catch {
      problem = PacketProblem(error)
    }
  }

  /// Not inlined: the optimizer of Swift 6.2 can't.
  @inline(never)
  private mutating func readHeaders(_ reader: inout ByteReader) throws(DecodeError) {
    try reader.skip(1)
    switch type {
    case .command: try readCommand(&reader)
    case .event: try readEvent(&reader)
    case .acl, .isochronous: try readData(&reader)
    case .synchronous:
      connection = try ConnectionHandle(parsing: &reader)
      length = Int(try reader.readUInt8())
      check(reader.remaining)
    default: problem = .unknownType
    }
  }

  private mutating func check(_ count: Int) {
    if count != length { problem = .length(stated: length, present: count) }
  }

  private mutating func readCommand(_ reader: inout ByteReader) throws(DecodeError) {
    let opcode = try HCIOpcode(parsing: &reader)
    self.opcode = opcode
    length = Int(try reader.readUInt8())
    check(reader.remaining)
    if length >= 2, HCICommandCatalog.standard[opcode]?.isAboutLink == true {
      connection = try ConnectionHandle(parsing: &reader)
    }
  }

  private mutating func readData(_ reader: inout ByteReader) throws(DecodeError) {
    let header = try ACLHeader(parsing: &reader)
    connection = header.handle
    boundary = header.boundary
    // The two bits above are reserved in isochronous packets.
    length = Int(type == .isochronous ? header.dataLength & 0x3FFF : header.dataLength)
    check(reader.remaining)
  }

  private mutating func readEvent(_ reader: inout ByteReader) throws(DecodeError) {
    let code = try HCIEventCode(parsing: &reader)
    event = code
    length = Int(try reader.readUInt8())
    check(reader.remaining)
    switch code {
    case .commandComplete:
      try reader.skip(1)
      let answered = try HCIOpcode(parsing: &reader)
      opcode = answered
      // The return parameters of vendor-specific commands are known only to the manufacturer.
      if answered != .noOperation, !answered.isVendorSpecific {
        status = reader.peek().map(HCIErrorCode.init)
      }
    case .commandStatus:
      status = try HCIErrorCode(parsing: &reader)
      try reader.skip(1)
      opcode = try HCIOpcode(parsing: &reader)
    case .leMeta:
      let subevent = try LESubevent(parsing: &reader)
      self.subevent = subevent
      try readLink(HCIEventInfo.offsets(of: subevent), reader.bytes, from: reader.offset)
    case .numberOfCompletedPackets:
      // The event names one link, or several.
      if try reader.readUInt8() == 1 { connection = try ConnectionHandle(parsing: &reader) }
    default: try readLink(HCIEventInfo.offsets(of: code), reader.bytes, from: reader.offset)
    }
  }

  /// Reads the status and the link of an event that has them.
  private mutating func readLink(
    _ offsets: HCIEventInfo.Offsets, _ packet: RawSpan, from start: Int
  ) throws(DecodeError) {
    func value<Value: FieldValue>(at offset: Int?, _ packet: RawSpan) throws(DecodeError) -> Value? {
      guard let offset else { return nil }
      var reader = ByteReader(packet)
      try reader.skip(start + offset)
      return try Value(parsing: &reader)
    }
    status = try value(at: offsets.status, packet)
    // No link was made.
    if let status, status != .success, !offsets.hasHandleAfterFailure { return }
    connection = try value(at: offsets.handle, packet)
  }

  /// Writes a one-line summary of the packet.
  ///
  /// - Parameter fields: memory for the fields; its contents are overwritten
  func writeSummary(
    of packet: RawSpan, _ commands: HCICommandCatalog, to text: inout TextBuffer,
    using fields: FieldList
  ) {
    switch type {
    case .command:
      if let opcode {
        write(opcode, commands, to: &text)
        writeParameters(of: packet, commands, after: ": ", to: &text, using: fields)
      } else {
        text.write("command")
      }
    case .event: writeEvent(packet, commands, to: &text, using: fields)
    case .acl: writeData(to: &text)
    case .synchronous:
      text.write("synchronous data, ", length, " bytes")
    case .isochronous:
      text.write("isochronous data")
      writeParameters(of: packet, commands, after: ": ", without: .data, to: &text, using: fields)
      text.write(", ", length, " bytes")
    default:
      text.write("packet type ")
      text.writeHex(type.rawValue)
    }
    if let problem { text.write("; ", problem) }
  }

  /// Writes the name of a command, also where only its manufacturer defines it.
  private func write(_ opcode: HCIOpcode, _ commands: HCICommandCatalog, to text: inout TextBuffer) {
    guard opcode.isVendorSpecific, let name = VendorNames.name(of: opcode, manufacturer) else {
      return text.write(commands.name(of: opcode))
    }
    text.write("", name, " (")
    text.writeHex(opcode.rawValue)
    text.write(")")
  }

  /// The public name of a vendor-specific command or event.
  ///
  /// - Parameter packet: with its H4 type byte
  package func vendorName(in packet: RawSpan) -> String? {
    if let opcode { return opcode.isVendorSpecific ? VendorNames.name(of: opcode, manufacturer) : nil }
    guard event == .vendorSpecific, let code = packet.byte(at: 3) else { return nil }
    return VendorNames.name(ofEvent: code, manufacturer)
  }

  private func writeData(to text: inout TextBuffer) {
    guard let connection else { return text.write("ACL data") }
    if connection == .controllerDebug {
      text.write("debug output of the controller, ")
    } else {
      text.write("ACL data, link ", connection, ", ")
      if let boundary { text.write("\(boundary)") }
      text.write(", ")
    }
    text.write("", length, " bytes")
  }

  private func writeEvent(
    _ packet: RawSpan, _ commands: HCICommandCatalog, to text: inout TextBuffer, using fields: FieldList
  ) {
    guard let event else { return text.write("event") }
    // A note of ours among the packets: not the radio's.
    if event == .vendorSpecific, let note = CaptureNote.text(of: Array(packet)) {
      text.write("note of halo-raw: ")
      return text.write(note)
    }
    switch event {
    case .commandComplete, .commandStatus:
      guard let opcode else { return text.write(event.name ?? "") }
      guard opcode != .noOperation else {
        return text.write("", event.name ?? "", ": commands may be sent")
      }
      write(opcode, commands, to: &text)
      if event == .commandComplete { text.write(" done") } else { text.write(" pending") }
      if let status, status != .success {
        text.write(": ", "\(status)")
      } else if event == .commandComplete {
        // Behind the number of commands, the opcode and the status.
        writeParameters(of: packet, commands, after: ": ", without: .answered, to: &text, using: fields)
      }
      writeAnswered(to: &text)
    case .leMeta:
      guard let subevent else { return text.write("LE Meta") }
      text.write(subevent.name ?? "\(subevent)")
      switch subevent {
      case .advertisingReport, .directedAdvertisingReport, .extendedAdvertisingReport:
        text.write(": ")
        writeReports(of: packet, to: &text)
      default:
        writeOutcome(packet, commands, to: &text, using: fields)
        writeAnswered(to: &text)
      }
    case .extendedInquiryResult, .inquiryResultWithRSSI, .inquiryResult:
      text.write(event.name ?? "")
      text.write(": ", ClassicReports.text(packet, event))
    case .vendorSpecific:
      text.write(vendorName(in: packet) ?? "\(event)")
      writeOutcome(packet, commands, to: &text, using: fields)
    default:
      text.write(event.name ?? "\(event)")
      writeOutcome(packet, commands, to: &text, using: fields)
      writeAnswered(to: &text)
    }
  }

  /// Writes which command an event answers.
  private func writeAnswered(to text: inout TextBuffer) {
    if let command { text.write(", ", command) }
  }

  /// Writes the status of a failure, and the parameters.
  private func writeOutcome(
    _ packet: RawSpan, _ commands: HCICommandCatalog, to text: inout TextBuffer, using fields: FieldList
  ) {
    var separator: StaticString = ": "
    if let status, status != .success {
      text.write(separator)
      text.write("\(status)")
      separator = ", "
    }
    writeParameters(of: packet, commands, after: separator, without: .outcome, to: &text, using: fields)
  }

  /// Fields that a line shows elsewhere.
  private enum Omission {
    case none
    /// The beginning of the answer to a command.
    case answered
    /// Subevent and status.
    case outcome
    /// The data behind headers.
    case data

    func covers(_ fields: FieldList, _ index: Int) -> Bool {
      switch self {
      case .none: false
      case .answered:
        fields.isNamed(index, "commands allowed") || fields.isNamed(index, "command")
          || fields.isNamed(index, "status")
      case .outcome:
        fields.isNamed(index, "subevent") || fields.isNamed(index, "status")
          || fields.isNamed(index, HCILayer.invalidName)
      case .data: fields.isNamed(index, "data")
      }
    }
  }

  /// Writes the fields in a row.
  private func writeParameters(
    of packet: RawSpan, _ commands: HCICommandCatalog, after separator: StaticString,
    without omission: Omission = .none, to text: inout TextBuffer, using fields: FieldList
  ) {
    fields.removeAll(isCut: isCut)
    listParameters(packet, commands, hasReferences: false, to: fields)
    text.write(fields, after: separator) { omission.covers(fields, $0) }
  }

  private func writeReports(of packet: RawSpan, to text: inout TextBuffer) {
    var reader = ByteReader(packet.extracting(min(1, packet.byteCount)..<packet.byteCount))
    guard case .leAdvertisingReports(let event)? = try? HCIEvent(parsing: &reader) else {
      return text.write(isCut ? "the rest not in the capture" : "damaged")
    }
    for (index, report) in event.reports.enumerated() {
      if index > 0 { text.write("; ") }
      text.write(report.address)
      text.write(" (", report.address.kind.description, ")")
      text.writeName(in: report.data.span.bytes)
      if let rssi = report.rssi { text.write(", ", Int(rssi), " dBm") }
      text.write(", ", report.data.count, " bytes")
    }
    if event.isDamaged { text.write("; damaged") }
  }
}
