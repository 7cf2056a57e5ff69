import BluetoothCore
import Capture
import HCI

/// The HCI packet (Core Specification Vol 4, Part E, 5.4).
public struct HCILayer: Hashable, Sendable {
  public var type: HCIPacketType
  /// Of a command; or the one that an event answers.
  public var opcode: HCIOpcode?
  public var event: HCIEventCode?
  public var subevent: LESubevent?
  /// The link that it is about, if it is about one.
  public var connection: ConnectionHandle?
  /// Of an event that has one.
  public var status: HCIErrorCode?
  /// Of ACL data.
  public var boundary: ACLHeader.Boundary?
  /// The parameter length in the header.
  public var length = 0
  /// The command that an event answers.
  public var command: PacketReference?
  /// Of a vendor-specific command or event: the manufacturer of the controller, once it is known.
  public var manufacturer: CompanyIdentifier?
  /// The device at the other end of the link.
  public var peer: BluetoothAddress?
  /// The reason why it is malformed.
  public var problem: String?

  /// Parses the headers; the rest is parsed on demand.
  ///
  /// - Parameter packet: with its H4 type byte
  init(_ packet: RawSpan) {
    type = HCIPacketType(rawValue: packet.byte(at: 0) ?? 0)
    guard packet.byteCount > 0 else {
      problem = "empty"
      return
    }
    var reader = ByteReader(packet)
    do throws(DecodeError) {
      try reader.skip(1)
      switch type {
      case .command: try readCommand(&reader)
      case .event: try readEvent(&reader)
      case .acl, .isochronous: try readData(&reader)
      case .synchronous:
        connection = try ConnectionHandle(parsing: &reader)
        length = Int(try reader.readUInt8())
        check(reader.remaining)
      default: problem = "no packet type of HCI"
      }
    } catch {
      problem = error.description
    }
  }

  private mutating func check(_ count: Int) {
    if count != length { problem = "\(length) bytes should follow the header, \(count) do" }
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
      try readLink(HCIEventInfo[subevent], reader.bytes, from: reader.offset)
    case .numberOfCompletedPackets:
      // Of one link, or of several.
      if try reader.readUInt8() == 1 { connection = try ConnectionHandle(parsing: &reader) }
    default: try readLink(HCIEventInfo[code], reader.bytes, from: reader.offset)
    }
  }

  /// Reads the status and the link of an event that has them.
  private mutating func readLink(
    _ event: HCIEventInfo?, _ packet: RawSpan, from start: Int
  ) throws(DecodeError) {
    func value<Value: FieldValue>(at offset: Int?, _ packet: RawSpan) throws(DecodeError) -> Value? {
      guard let offset else { return nil }
      var reader = ByteReader(packet)
      try reader.skip(start + offset)
      return try Value(parsing: &reader)
    }
    status = try value(at: event?.statusOffset, packet)
    connection = try value(at: event?.handleOffset, packet)
  }
}

extension HCILayer {
  /// A one-line summary of the packet.
  func summary(of packet: RawSpan, _ commands: HCICommandCatalog) -> String {
    let text = text(of: packet, commands)
    return problem.map { "\(text); \($0)" } ?? text
  }

  private func text(of packet: RawSpan, _ commands: HCICommandCatalog) -> String {
    switch type {
    case .command:
      guard let opcode else { return "command" }
      let parameters = parameters(of: packet, commands)
      return name(of: opcode, commands) + (parameters.isEmpty ? "" : ": \(parameters)")
    case .event: return eventText(of: packet, commands)
    case .acl:
      guard let connection else { return "ACL data" }
      if connection == .controllerDebug { return "debug output of the controller, \(length) bytes" }
      return "ACL data, link \(connection), \(boundary.map { "\($0)" } ?? ""), \(length) bytes"
    case .synchronous: return "synchronous data, \(length) bytes"
    case .isochronous:
      return "isochronous data: \(parameters(of: packet, commands, without: ["data"])), \(length) bytes"
    default: return "packet type \(Hex.string(type.rawValue))"
    }
  }

  /// Of a command, also where only its manufacturer defines it.
  private func name(of opcode: HCIOpcode, _ commands: HCICommandCatalog) -> String {
    guard opcode.isVendorSpecific, let name = VendorNames.name(of: opcode, manufacturer) else {
      return commands.name(of: opcode)
    }
    return "\(name) (\(Hex.string(opcode.rawValue)))"
  }

  /// The public name of a vendor-specific command or event.
  ///
  /// - Parameter packet: with its H4 type byte
  public func vendorName(in packet: RawSpan) -> String? {
    if let opcode { return opcode.isVendorSpecific ? VendorNames.name(of: opcode, manufacturer) : nil }
    guard event == .vendorSpecific, let code = packet.byte(at: 3) else { return nil }
    return VendorNames.name(ofEvent: code, manufacturer)
  }

  private func eventText(of packet: RawSpan, _ commands: HCICommandCatalog) -> String {
    guard let event else { return "event" }
    // A note of ours among the packets: not the radio's.
    if let note = CaptureNote.text(of: packet.withUnsafeBytes(Array.init)) {
      return "note of halo-raw: \(note)"
    }
    let answered = command.map { ", \($0.words)" } ?? ""
    switch event {
    case .commandComplete, .commandStatus:
      guard let opcode else { return "\(event.name ?? "")" }
      guard opcode != .noOperation else { return "\(event.name ?? ""): commands may be sent" }
      let outcome = status.map { $0 == .success ? "" : ": \($0)" } ?? ""
      let more =
        event == .commandComplete && (status ?? .success) == .success
        ? parameters(of: packet, commands, without: ["commands allowed", "command", "status"]) : ""
      return "\(name(of: opcode, commands)) \(event == .commandComplete ? "done" : "pending")\(outcome)"
        + (more.isEmpty ? "" : ": \(more)") + answered
    case .leMeta:
      guard let subevent else { return "LE Meta" }
      switch subevent {
      case .advertisingReport, .directedAdvertisingReport, .extendedAdvertisingReport:
        return "\(subevent.name ?? ""): \(reports(of: packet))"
      default: return text(subevent.name ?? "\(subevent)", packet, commands) + answered
      }
    case .extendedInquiryResult, .inquiryResultWithRSSI, .inquiryResult:
      return "\(event.name ?? ""): \(ClassicReports.text(packet, event))"
    case .vendorSpecific: return text(vendorName(in: packet) ?? "\(event)", packet, commands)
    default: return text(event.name ?? "\(event)", packet, commands) + answered
    }
  }

  private func text(_ name: String, _ packet: RawSpan, _ commands: HCICommandCatalog) -> String {
    let outcome = status.map { $0 == .success ? [] : ["\($0)"] } ?? []
    let words =
      outcome + [parameters(of: packet, commands, without: ["subevent", "status"])].filter { !$0.isEmpty }
    return words.isEmpty ? name : "\(name): \(words.joined(separator: ", "))"
  }

  /// The fields in a row.
  private func parameters(
    of packet: RawSpan, _ commands: HCICommandCatalog, without: Set<String> = []
  ) -> String {
    parameterFields(of: packet, commands).filter {
      $0.depth == 0 && !$0.value.isEmpty && !without.contains($0.name)
    }
    .map {
      $0.range.count > 8 && $0.value.utf8.count > 60
        ? "\($0.name) \($0.range.count) bytes" : "\($0.name) \($0.value)"
    }
    .joined(separator: ", ")
  }

  private func reports(of packet: RawSpan) -> String {
    var reader = ByteReader(packet.extracting(min(1, packet.byteCount)..<packet.byteCount))
    guard case .leAdvertisingReports(let event)? = try? HCIEvent(parsing: &reader) else { return "damaged" }
    let words = event.reports.map { report in
      let data = AdvertisingData(report.data)
      var words = "\(report.address) (\(report.address.kind))"
      if let name = data.localName { words += " \"\(name)\"" }
      if let rssi = report.rssi { words += ", \(rssi) dBm" }
      return words + ", \(report.data.count) bytes"
    }
    return words.joined(separator: "; ") + (event.isDamaged ? "; damaged" : "")
  }
}
