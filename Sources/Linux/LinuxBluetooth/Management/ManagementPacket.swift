import HCI
import HaloBluetoothCore

/// A packet of the kernel's Bluetooth management interface: a header of six bytes - code, adapter, length, all
/// little-endian - and parameters (BlueZ, doc/mgmt-api.txt, "Packet Structures").
struct ManagementPacket: Hashable {
  var code: UInt16
  var index: AdapterIndex
  var parameters: [UInt8]

  init(code: UInt16, index: AdapterIndex, parameters: [UInt8] = []) {
    self.code = code
    self.index = index
    self.parameters = parameters
  }

  init(_ command: ManagementCommand<some Sendable>, to index: AdapterIndex) {
    self.init(code: command.opcode, index: index, parameters: command.parameters)
  }

  init(parsing reader: inout ByteReader) throws(DecodeError) {
    code = try reader.readUInt16()
    index = AdapterIndex(rawValue: try reader.readUInt16())
    parameters = try reader.readBytes(Int(try reader.readUInt16()))
    try reader.expectEnd()
  }

  func write(into writer: inout ByteWriter) {
    writer.write(code)
    writer.write(index.rawValue)
    writer.write(UInt16(truncatingIfNeeded: parameters.count))
    writer.write(parameters)
  }
}

/// The status of a management command (doc/mgmt-api.txt, "Error Codes").
package struct ManagementStatus: RawRepresentable, Hashable, Sendable, CustomStringConvertible {
  package var rawValue: UInt8

  package init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  package static let success = ManagementStatus(rawValue: 0x00)
  package static let unknownCommand = ManagementStatus(rawValue: 0x01)
  package static let failed = ManagementStatus(rawValue: 0x03)
  package static let busy = ManagementStatus(rawValue: 0x0A)
  package static let rejected = ManagementStatus(rawValue: 0x0B)
  package static let notSupported = ManagementStatus(rawValue: 0x0C)
  package static let invalidParameters = ManagementStatus(rawValue: 0x0D)
  package static let notPowered = ManagementStatus(rawValue: 0x0F)
  package static let invalidIndex = ManagementStatus(rawValue: 0x11)
  package static let blockedByRFKill = ManagementStatus(rawValue: 0x12)
  package static let permissionDenied = ManagementStatus(rawValue: 0x14)

  package var description: String {
    switch self {
    case .success: "success"
    case .unknownCommand: "unknown command"
    case .failed: "failed"
    case .busy: "busy"
    case .rejected: "rejected"
    case .notSupported: "not supported"
    case .invalidParameters: "invalid parameters"
    case .notPowered: "not powered"
    case .invalidIndex: "no such adapter"
    case .blockedByRFKill: "blocked by rfkill"
    case .permissionDenied: "permission denied"
    default: "status \(Hex.string(rawValue))"
    }
  }
}

/// The settings or capabilities of an adapter (doc/mgmt-api.txt, "Read Controller Information Command").
package struct ManagementSettings: OptionSet, Hashable, Sendable, CustomStringConvertible {
  package var rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  package static let powered = ManagementSettings(rawValue: 1 << 0)
  package static let connectable = ManagementSettings(rawValue: 1 << 1)
  package static let discoverable = ManagementSettings(rawValue: 1 << 3)
  package static let bondable = ManagementSettings(rawValue: 1 << 4)
  package static let bredr = ManagementSettings(rawValue: 1 << 7)
  package static let lowEnergy = ManagementSettings(rawValue: 1 << 9)
  package static let advertising = ManagementSettings(rawValue: 1 << 10)
  package static let secureConnections = ManagementSettings(rawValue: 1 << 11)
  package static let privacy = ManagementSettings(rawValue: 1 << 13)
  package static let staticAddress = ManagementSettings(rawValue: 1 << 15)

  private static let names: [(ManagementSettings, String)] = [
    (.powered, "powered"), (.connectable, "connectable"), (.discoverable, "discoverable"),
    (.bondable, "bondable"), (.bredr, "br/edr"), (.lowEnergy, "le"), (.advertising, "advertising"),
    (.secureConnections, "secure-conn"), (.privacy, "privacy"), (.staticAddress, "static-addr"),
  ]

  /// `powered, le, secure-conn`; settings without a name here are omitted.
  package var description: String {
    Self.names.filter { contains($0.0) }.map(\.1).joined(separator: ", ")
  }
}

/// An event of the kernel's Bluetooth management interface (BlueZ, doc/mgmt-api.txt).
package enum ManagementEvent: Hashable, Sendable {
  /// Command Complete: opcode, status, return parameters.
  case commandComplete(UInt16, ManagementStatus, [UInt8])
  /// Command Status: opcode and status.
  case commandStatus(UInt16, ManagementStatus)
  case indexAdded
  case indexRemoved
  case newSettings(ManagementSettings)
  /// A discovery of this type has begun, or ended.
  case discovering(DiscoveryType, Bool)
  /// Another program has ended the advertisement with this number, or its time is over.
  case advertisingRemoved(UInt8)
  case security(ManagementSecurityEvent)
  /// Another event, with its code.
  case unknown(UInt16)

  init(_ packet: ManagementPacket) throws(DecodeError) {
    self = try packet.parameters.withReader { reader throws(DecodeError) in
      switch packet.code {
      case 0x0001:
        let opcode = try reader.readUInt16()
        let status = ManagementStatus(rawValue: try reader.readUInt8())
        return .commandComplete(opcode, status, reader.readRemainingBytes())
      case 0x0002:
        return .commandStatus(try reader.readUInt16(), ManagementStatus(rawValue: try reader.readUInt8()))
      case 0x0004: return .indexAdded
      case 0x0005: return .indexRemoved
      case 0x0006: return .newSettings(ManagementSettings(rawValue: try reader.readUInt32()))
      case 0x0013:
        return .discovering(DiscoveryType(rawValue: try reader.readUInt8()), try reader.readUInt8() != 0)
      case 0x0024: return .advertisingRemoved(try reader.readUInt8())
      default:
        return try ManagementSecurityEvent(packet.code, parsing: &reader).map { .security($0) }
          ?? .unknown(packet.code)
      }
    }
  }
}
