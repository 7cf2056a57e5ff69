import HaloBluetoothCore

/// An event of the kernel's Bluetooth management interface (BlueZ, doc/mgmt-api.txt).
enum ManagementEvent: Hashable {
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
      default: return .unknown(packet.code)
      }
    }
  }
}
