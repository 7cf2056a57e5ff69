import BluetoothCore
import HCI

extension HCILayer {
  /// Where the packet is specified.
  var reference: String {
    switch type {
    case .command: opcode.map(\.section) ?? "Vol 4, Part E, 5.4.1"
    case .event:
      subevent.map(\.section) ?? event.map(\.section) ?? "Vol 4, Part E, 5.4.4"
    case .acl: "Vol 4, Part E, 5.4.2"
    case .synchronous: "Vol 4, Part E, 5.4.3"
    case .isochronous: "Vol 4, Part E, 5.4.5"
    default: "Vol 4, Part A, 2"
    }
  }

  /// - Parameter hasUpperLayer: whether the data is a layer of its own, and not shown here
  func fields(of packet: RawSpan, hasUpperLayer: Bool = false) -> [PacketField] {
    var header = FieldReader(packet, 0..<headerLength, reference: headerReference)
    header.readAll { reader throws(DecodeError) in
      try reader.uint8(
        "packet type",
        words: [
          1: "command (1)", 2: "ACL data (2)", 3: "synchronous data (3)", 4: "event (4)",
          5: "isochronous data (5)",
        ])
      switch type {
      case .command:
        try reader.code("opcode", HCIOpcode.self)
        try reader.uint8("parameter length", unit: "bytes")
      case .event:
        try reader.code("event code", HCIEventCode.self)
        try reader.uint8("parameter length", unit: "bytes")
      case .acl, .isochronous:
        try reader.value(
          "connection handle and flags", { reader throws(DecodeError) in try reader.readUInt16() }
        ) {
          let boundary = ACLHeader.Boundary(rawValue: UInt8(truncatingIfNeeded: $0 >> 12))
          return "\(ConnectionHandle(rawValue: $0)), \(boundary), broadcast \($0 >> 14)"
        }
        try reader.uint16("data length", unit: "bytes")
      case .synchronous:
        try reader.connection()
        try reader.uint8("data length", unit: "bytes")
      default: reader.rest("bytes")
      }
    }
    return header.fields + (hasUpperLayer ? [] : parameterFields(of: packet))
  }

  /// What stands behind the header.
  func parameterFields(of packet: RawSpan) -> [PacketField] {
    var body = FieldReader(
      packet, min(headerLength, packet.byteCount)..<packet.byteCount, reference: reference)
    body.readAll { reader throws(DecodeError) in
      switch type {
      case .command: try opcode?.readParameters(&reader)
      case .event: try event?.readParameters(&reader)
      default: break
      }
      reader.rest(type == .event || type == .command ? "parameters" : "data")
    }
    return body.fields
  }

  private var headerLength: Int {
    switch type {
    case .command, .synchronous: 4
    case .event: 3
    case .acl, .isochronous: 5
    default: 1
    }
  }

  private var headerReference: String {
    switch type {
    case .command: "Vol 4, Part E, 5.4.1"
    case .event: "Vol 4, Part E, 5.4.4"
    default: reference
    }
  }
}
