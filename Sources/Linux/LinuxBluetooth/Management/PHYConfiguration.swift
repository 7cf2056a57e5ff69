import HCI
import HaloBluetoothCore

/// Reads the physical layers that an adapter supports (BlueZ, doc/mgmt-api.txt, "Get PHY Configuration"). Needs
/// CAP_NET_ADMIN.
package struct GetPHYConfiguration: ManagementCommand {
  package init() {}

  package static let opcode: UInt16 = 0x0044

  package func write(into writer: inout ByteWriter) {}

  /// Three sets: supported, configurable and selected PHYs. Only the first is read.
  package static func response(parsing reader: inout ByteReader) throws(DecodeError) -> LEPHYs {
    let supported = try reader.readUInt32()
    var phys: LEPHYs = []
    // Two bits each, for sending and receiving.
    if supported & 3 << 9 != 0 { phys.insert(.le1M) }
    if supported & 3 << 11 != 0 { phys.insert(.le2M) }
    if supported & 3 << 13 != 0 { phys.insert(.leCoded) }
    return phys
  }
}
