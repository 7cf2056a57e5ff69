import HCI
import HaloBluetoothCore

extension HCILayer {
  /// The section of the specification.
  func reference(_ commands: HCICommandCatalog) -> String {
    switch type {
    case .command: opcode.flatMap { commands[$0]?.info.reference } ?? "Vol 4, Part E, 5.4.1"
    case .event:
      subevent.flatMap { HCIEventInfo[$0]?.reference } ?? event.flatMap { HCIEventInfo[$0]?.reference }
        ?? "Vol 4, Part E, 5.4.4"
    case .acl: "Vol 4, Part E, 5.4.2"
    case .synchronous: "Vol 4, Part E, 5.4.3"
    case .isochronous: "Vol 4, Part E, 5.4.5"
    default: "Vol 4, Part A, 2"
    }
  }

  /// - Parameter hasUpperLayer: whether the data is a layer of its own, and not shown here
  func list(_ packet: RawSpan, hasUpperLayer: Bool, _ commands: HCICommandCatalog, to list: FieldList) {
    let first = list.count
    list.read(packet, 0..<headerLength, reference: headerReference(commands)) { lister throws(DecodeError) in
      var type = type
      try lister.value("packet type", &type)
      switch type {
      case .command:
        var header = CommandHeader()
        try header.list(&lister)
      case .event:
        var header = EventHeader()
        try header.list(&lister)
      case .acl:
        var header = ACLHeader()
        try header.list(&lister)
      case .isochronous: break
      case .synchronous:
        var header = SynchronousHeader()
        try header.list(&lister)
      default: lister.showRest("bytes")
      }
    }
    // The type byte belongs to the transport.
    if list.count > first { list.setReference(of: first, "Vol 4, Part A, 2") }
    if !hasUpperLayer { listParameters(packet, commands, to: list) }
  }

  /// Lists the data that follows the header.
  ///
  /// - Parameter hasReferences: whether the sections of the specification are wanted, which a line does not show
  func listParameters(
    _ packet: RawSpan, _ commands: HCICommandCatalog, hasReferences: Bool = true, to list: FieldList
  ) {
    let first = list.count
    let body = min(headerLength, packet.byteCount)..<packet.byteCount
    let reference = hasReferences ? reference(commands) : ""
    list.read(packet, body, reference: reference) { lister throws(DecodeError) in
      switch type {
      case .command:
        if let opcode { try Self.list(commands[opcode]?.parameters, &lister) }
      case .event: try listEvent(&lister, commands)
      case .isochronous:
        var header = ISODataHeader()
        try header.list(&lister)
      default: break
      }
      lister.showRest(type == .event || type == .command ? "parameters" : "data")
    }
    hideInvalid(packet, commands, from: first, in: list)
    if hasReferences, event == .commandComplete, let own = opcode.flatMap({ commands[$0]?.info.reference }) {
      // Credits and opcode are the event's; the return parameters are the command's.
      for index in first..<list.count where list.entries[index].range.lowerBound >= 6 {
        list.setReference(of: index, own)
      }
    }
    // Extended inquiry responses have the same structures.
    let format = event == .extendedInquiryResult ? "Vol 3, Part C, 8" : "Vol 3, Part C, 11"
    AdvertisingText.describe(list, from: first, packet, format: format)
  }

  private static func list(_ fields: (any PacketFields)?, _ lister: inout FieldLister) throws(DecodeError) {
    guard var fields else { return }
    try fields.list(&lister)
  }

  private func listEvent(_ lister: inout FieldLister, _ commands: HCICommandCatalog) throws(DecodeError) {
    switch event {
    case .leMeta?:
      var code = LESubevent()
      try lister.value("subevent", &code)
      try Self.list(HCIEventInfo[code]?.parameters, &lister)
    case .commandComplete?: try listCommandComplete(&lister, commands)
    case let code?: try Self.list(HCIEventInfo[code]?.parameters, &lister)
    case nil: break
    }
  }

  /// The return parameters are those of the command.
  private func listCommandComplete(
    _ lister: inout FieldLister, _ commands: HCICommandCatalog
  ) throws(DecodeError) {
    var header = CommandCompleteHeader()
    try header.list(&lister)
    guard !lister.isAtEnd, !header.opcode.isVendorSpecific else { return }
    var status = HCIErrorCode.success
    try lister.status(&status)
    // A command that failed may return only the status.
    guard !lister.isAtEnd else { return }
    try Self.list(commands[header.opcode]?.returnParameters, &lister)
  }

  private var headerLength: Int {
    switch type {
    case .command, .synchronous: 4
    case .event: 3
    case .acl: 5
    default: 1
    }
  }

  private func headerReference(_ commands: HCICommandCatalog) -> String {
    switch type {
    case .command: "Vol 4, Part E, 5.4.1"
    case .event: "Vol 4, Part E, 5.4.4"
    default: reference(commands)
    }
  }
}

/// Advertising data as text.
enum AdvertisingText {
  /// Puts AD structures in words, with the sections that define them.
  ///
  /// - Parameters:
  ///   - list: the fields of the packet; those of structures are a length, a type and a value
  ///   - first: the index of the first field to look at
  ///   - packet: the bytes that the fields are in
  ///   - format: the section that defines structures
  static func describe(_ list: FieldList, from first: Int, _ packet: RawSpan, format: String) {
    for index in first..<list.count where list.isNamed(index, "AD length") {
      list.setReference(of: index, format)
      guard index + 1 < list.count, list.isNamed(index + 1, "type"),
        let type = packet.byte(at: list.entries[index + 1].range.lowerBound).map(ADType.init)
      else { continue }
      list.setReference(of: index + 1, format)
      guard index + 2 < list.count, list.isNamed(index + 2, "value") else { continue }
      list.setReference(of: index + 2, type.reference)
      let structure = ADStructure(type, packet.extracting(list.entries[index + 2].range))
      list.setValue(of: index + 2) { write(structure, to: &$0) }
    }
  }

  private static func write(_ structure: ADStructure, to text: inout TextBuffer) {
    switch structure {
    case .flags(let flags): text.write("\(flags)")
    case .localName(let bytes, _), .uri(let bytes):
      text.write("\"")
      text.writePrintable(bytes.span.bytes)
      text.write("\"")
    case .serviceUUIDs(let uuids, _, _), .solicitedServiceUUIDs(let uuids, _):
      text.write(uuids.map(UUIDName.described).joined(separator: ", "))
    case .serviceData(let uuid, _, let bytes):
      text.write(UUIDName.described(uuid))
      text.write(": ")
      text.writeSpacedHex(bytes.span.bytes)
    case .manufacturerData(let company, let bytes):
      text.write("company ")
      company.writeField(to: &text)
      text.write(": ")
      text.writeSpacedHex(bytes.span.bytes)
    case .txPower(let power):
      text.write(Int(power))
      text.write(" dBm")
    case .appearance(let appearance): appearance.writeField(to: &text)
    case .connectionIntervalRange(let min, let max): text.write("\(min) to \(max)")
    case .deviceAddress(let address): text.write(address)
    case .role(let role): text.write(Int(role))
    case .unknown(_, let bytes): text.writeSpacedHex(bytes.span.bytes)
    case .malformed(_, let bytes):
      text.write("malformed: ")
      text.writeSpacedHex(bytes.span.bytes)
    }
  }
}

extension TextBuffer {
  /// Writes the name in advertising data: ` "R02_BEEF"`; nothing if there is none.
  mutating func writeName(in data: RawSpan) {
    guard let (range, _) = AdvertisingData.nameRange(in: data) else { return }
    write(" \"")
    writePrintable(data.extracting(range))
    write("\"")
  }
}

/// The parameters that are not valid in an event that reports a failure (Core Specification Vol 4, Part E, 4.5).
extension HCILayer {
  /// The name of the field for all parameters that are not valid.
  static let invalidName: StaticString = "other parameters"

  /// Puts one field in the place of the parameters that are not valid, as the status is an error.
  ///
  /// - Parameter first: the index of the first parameter
  func hideInvalid(_ packet: RawSpan, _ commands: HCICommandCatalog, from first: Int, in list: FieldList) {
    guard let end = validEnd(commands), end < packet.byteCount,
      let index = (first..<list.count).first(where: { list.entries[$0].range.lowerBound >= end })
    else { return }
    list.truncate(to: index)
    list.add(Self.invalidName, range: end..<packet.byteCount, reference: "Vol 4, Part E, 4.5") {
      $0.write("not valid after a failure")
    }
  }

  /// Where the valid bytes of the packet end; nil if all are valid.
  private func validEnd(_ commands: HCICommandCatalog) -> Int? {
    guard type == .event, let event, let status, status != .success else { return nil }
    switch event {
    case .commandStatus, .vendorSpecific: return nil
    // Behind the header and the credits, the opcode, the status.
    case .commandComplete: return opcode.flatMap { commands[$0]?.validAfterFailure }.map { 7 + $0 }
    case .leMeta: return subevent.flatMap { HCIEventInfo[$0]?.validAfterFailure }.map { 4 + $0 }
    default: return HCIEventInfo[event]?.validAfterFailure.map { 3 + $0 }
    }
  }
}
