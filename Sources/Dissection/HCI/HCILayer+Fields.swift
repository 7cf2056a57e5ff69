import BluetoothCore
import HCI

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
  func list(
    _ packet: RawSpan, hasUpperLayer: Bool, _ commands: HCICommandCatalog, to list: inout FieldList
  ) {
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
      case .acl, .isochronous:
        var header = ACLHeader()
        try header.list(&lister)
      case .synchronous:
        var header = SynchronousHeader()
        try header.list(&lister)
      default: lister.showRest("bytes")
      }
    }
    if !hasUpperLayer { listParameters(packet, commands, to: &list) }
  }

  /// Lists the data that follows the header.
  func listParameters(_ packet: RawSpan, _ commands: HCICommandCatalog, to list: inout FieldList) {
    let first = list.count
    let body = min(headerLength, packet.byteCount)..<packet.byteCount
    list.read(packet, body, reference: reference(commands)) { lister throws(DecodeError) in
      switch type {
      case .command:
        if let opcode { try Self.list(commands[opcode]?.type?.init(), &lister) }
      case .event: try listEvent(&lister, commands)
      default: break
      }
      lister.showRest(type == .event || type == .command ? "parameters" : "data")
    }
    for index in first..<list.count where index > first && list.isNamed(index, "value") {
      // The value of an AD structure follows its type.
      let range = list.entries[index].range
      guard let type = packet.byte(at: range.lowerBound - 1) else { continue }
      let payload = Array(packet.extracting(range))
      list.setValue(of: index) { $0.write(AdvertisingText.describe(ADType(rawValue: type), payload)) }
    }
  }

  private static func list(
    _ fields: (any PacketFields)?, _ lister: inout FieldLister
  ) throws(DecodeError) {
    guard var fields else { return }
    try fields.list(&lister)
  }

  private func listEvent(
    _ lister: inout FieldLister, _ commands: HCICommandCatalog
  ) throws(DecodeError) {
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
    try Self.list(commands[header.opcode]?.type?.returnParameters, &lister)
  }

  private var headerLength: Int {
    switch type {
    case .command, .synchronous: 4
    case .event: 3
    case .acl, .isochronous: 5
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
  /// The payload of one AD structure.
  static func describe(_ type: ADType, _ payload: [UInt8]) -> String {
    let data = AdvertisingData([UInt8(truncatingIfNeeded: payload.count + 1), type.rawValue] + payload)
    guard let structure = data.structures.first else { return Hex.string(payload, separator: " ") }
    return text(of: structure)
  }

  private static func text(of structure: ADStructure) -> String {
    switch structure {
    case .flags(let flags): "\(flags)"
    case .localName(let bytes, _), .uri(let bytes): "\"\(String(printable: bytes))\""
    case .serviceUUIDs(let uuids, _, _), .solicitedServiceUUIDs(let uuids, _):
      uuids.map(UUIDName.described).joined(separator: ", ")
    case .serviceData(let uuid, _, let bytes):
      "\(UUIDName.described(uuid)): \(Hex.string(bytes, separator: " "))"
    case .manufacturerData(let company, let bytes): "company \(company): \(Hex.string(bytes, separator: " "))"
    case .txPower(let power): "\(power) dBm"
    case .appearance(let appearance): "\(appearance)"
    case .connectionIntervalRange(let min, let max): "\(min) to \(max)"
    case .deviceAddress(let address): "\(address)"
    case .role(let role): "\(role)"
    case .unknown(_, let bytes): Hex.string(bytes, separator: " ")
    case .malformed(_, let bytes): "malformed: \(Hex.string(bytes, separator: " "))"
    }
  }
}
