import HCI
import HaloBluetoothCore
import L2CAP

/// A command on a signalling channel (Core Specification Vol 3, Part A, 4).
package struct SignalingLayer: Hashable, Sendable {
  package var code: SignalingPacket.Code
  package var identifier: UInt8
  /// In ``DissectedPacket/source``.
  package var range: Range<Int>

  init?(_ source: RawSpan, _ range: Range<Int>) {
    guard let code = source.byte(at: range.lowerBound),
      let identifier = source.byte(at: range.lowerBound + 1),
      range.count >= 4
    else { return nil }
    self.code = SignalingPacket.Code(rawValue: code)
    self.identifier = identifier
    self.range = range
  }

  /// In the terms of the specification.
  package var name: String { code.name ?? "code \(Hex.string(code.rawValue))" }

  func writeSummary(of source: RawSpan, to text: inout TextBuffer) {
    text.write(name)
    text.write(", id ", Int(identifier))
    let fields = FieldList()
    list(source, to: fields)
    var separator: StaticString = ": "
    for entry in fields.entries where entry.depth == 1 && !entry.value.isEmpty {
      text.write(separator)
      text.write(fields.bytes(entry.name))
      text.write(" ")
      text.write(fields.bytes(entry.value))
      separator = ", "
    }
  }

  func list(_ source: RawSpan, to list: FieldList) {
    // On BR/EDR, several commands may share a frame (4).
    for (range, code) in SignalingLayer.commands(in: source, range) {
      list.read(source, range, reference: code.reference) { lister throws(DecodeError) in
        var (identifier, length) = (UInt8(0), UInt16(0))
        _ = try lister.take { r throws(DecodeError) in try r.readUInt8() }
        lister.note("code", code.title, number: FieldNumber(Int64(code.rawValue)), from: 0)
        try lister.value("identifier", &identifier)
        try lister.value("length", &length, .unit("bytes"))
        try lister.group("data") { lister throws(DecodeError) in
          if var data = code.data { try data.list(&lister) }
          lister.showRest("bytes")
        }
      }
    }
  }

  /// The commands in a frame, each with its range; the last one may be damaged.
  static func commands(
    in source: RawSpan, _ range: Range<Int>
  ) -> [(range: Range<Int>, code: SignalingPacket.Code)] {
    var commands: [(range: Range<Int>, code: SignalingPacket.Code)] = []
    var start = range.lowerBound
    while start < range.upperBound, let code = source.byte(at: start).map(SignalingPacket.Code.init) {
      var end = range.upperBound
      if let low = source.byte(at: start + 2), let high = source.byte(at: start + 3) {
        let next = start + 4 + (Int(high) << 8 | Int(low))
        if next + 4 <= range.upperBound { end = next }
      }
      commands.append((start..<end, code))
      start = end
    }
    return commands
  }
}

extension SignalingPacket.Code {
  /// The specification of a command: name, section, data.
  private struct Row {
    let name: String
    let section: String
    let data: any PacketFields

    init(_ name: String, _ section: String, _ data: any PacketFields) {
      (self.name, self.section, self.data) = (name, section, data)
    }

    init(_ name: String, _ section: String, _ fields: [DecodedField]) {
      self.init(name, section, DecodedFields(fields))
    }
  }

  private static let table: [Self: Row] = [
    .commandReject: Row("Command Reject", "4.1", CommandReject()),
    .connectionRequest: Row("Connection Request", "4.2", [.value("PSM", ExtensiblePSM()), .source]),
    .connectionResponse: Row(
      "Connection Response", "4.3",
      [
        .destination, .source,
        .uint16(
          "result",
          .names([
            0: "successful", 1: "pending", 2: "PSM not supported", 3: "security block", 4: "no resources",
            6: "invalid source CID", 7: "source CID already allocated",
          ])),
        .uint16(
          "status",
          .names([0: "no further information", 1: "authentication pending", 2: "authorization pending"])),
      ]),
    .configurationRequest: Row(
      "Configuration Request", "4.4", [.destination, .configurationFlags, .options]),
    .configurationResponse: Row(
      "Configuration Response", "4.5",
      [
        .source, .configurationFlags,
        .uint16(
          "result",
          .names([
            0: "success", 1: "unacceptable parameters", 2: "rejected", 3: "unknown options", 4: "pending",
            5: "flow specification rejected",
          ])), .options,
      ]),
    .disconnectionRequest: Row("Disconnection Request", "4.6", ChannelEnd()),
    .disconnectionResponse: Row("Disconnection Response", "4.7", ChannelEnd()),
    .echoRequest: Row("Echo Request", "4.8", [.rest("echo data")]),
    .echoResponse: Row("Echo Response", "4.9", [.rest("echo data")]),
    .informationRequest: Row(
      "Information Request", "4.10", [.uint16("type", .names(InformationResponse.types))]),
    .informationResponse: Row("Information Response", "4.11", InformationResponse()),
    .connectionParameterUpdateRequest: Row(
      "Connection Parameter Update Request", "4.20", ConnectionParameterUpdateRequest()),
    .connectionParameterUpdateResponse: Row(
      "Connection Parameter Update Response", "4.21", ConnectionParameterUpdateResponse()),
    .leCreditBasedConnectionRequest: Row(
      "LE Credit Based Connection Request", "4.22", [.spsm, .source, .creditSizes]),
    .leCreditBasedConnectionResponse: Row(
      "LE Credit Based Connection Response", "4.23", [.destination, .creditSizes, .creditResult]),
    .flowControlCredit: Row("Flow Control Credit", "4.24", [.uint16("CID", .hex), .uint16("credits")]),
    .creditBasedConnectionRequest: Row(
      "Credit Based Connection Request", "4.25", [.spsm, .creditSizes, .sources]),
    .creditBasedConnectionResponse: Row(
      "Credit Based Connection Response", "4.26", [.creditSizes, .creditResult, .destinations]),
    .creditBasedReconfigureRequest: Row(
      "Credit Based Reconfigure Request", "4.27", [.uint16("MTU"), .uint16("MPS"), .destinations]),
    .creditBasedReconfigureResponse: Row(
      "Credit Based Reconfigure Response", "4.28",
      [
        .uint16(
          "result",
          .names([
            0: "successful", 1: "MTU would be smaller", 2: "MPS would be smaller",
            3: "invalid destination CID", 4: "unacceptable parameters",
          ]))
      ]),
  ]

  /// Name and number.
  var title: String { "\(name ?? "code") (\(Hex.string(rawValue)))" }

  /// The name in the specification; nil if unknown.
  var name: String? { Self.table[self]?.name }

  /// `Vol 3, Part A, 4.20`.
  var reference: String { "Vol 3, Part A, " + (Self.table[self]?.section ?? "4") }

  /// The data, all zero; nil if it is not declared.
  var data: (any PacketFields)? { Self.table[self]?.data }
}
