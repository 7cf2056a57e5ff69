import HCI
import HaloBluetoothCore

/// A command of the kernel's Bluetooth management interface (BlueZ, doc/mgmt-api.txt). Each is answered with Command
/// Complete or Command Status.
package protocol ManagementCommand: Sendable {
  associatedtype Response: Sendable

  static var opcode: UInt16 { get }
  /// Writes the parameters.
  func write(into writer: inout ByteWriter)
  /// Reads the return parameters. Bytes after them are ignored.
  static func response(parsing reader: inout ByteReader) throws(DecodeError) -> Response
}

/// Lists the adapters that the kernel manages, which excludes those opened through the user channel.
package struct ReadControllerIndexList: ManagementCommand {
  package static let opcode: UInt16 = 0x0003

  package init() {}

  package func write(into writer: inout ByteWriter) {}

  package static func response(parsing reader: inout ByteReader) throws(DecodeError) -> [AdapterIndex] {
    var indexes: [AdapterIndex] = []
    for _ in 0..<(try reader.readUInt16()) {
      indexes.append(AdapterIndex(rawValue: try reader.readUInt16()))
    }
    return indexes
  }
}

/// Lists the adapters that the kernel has set up, and cannot use before a program has given them an address.
package struct ReadUnconfiguredControllerIndexList: ManagementCommand {
  package static let opcode: UInt16 = 0x0036

  package init() {}

  package func write(into writer: inout ByteWriter) {}

  package static func response(parsing reader: inout ByteReader) throws(DecodeError) -> [AdapterIndex] {
    try ReadControllerIndexList.response(parsing: &reader)
  }
}

/// Reads the properties and settings of an adapter.
package struct ReadControllerInformation: ManagementCommand {
  package struct Response: Hashable, Sendable {
    package var address: BluetoothAddress
    /// The version of the Core Specification, as numbered in HCI.
    package var version: CoreVersion
    package var manufacturer: CompanyIdentifier
    package var supportedSettings: ManagementSettings
    package var currentSettings: ManagementSettings
    /// The local name; empty if none is set.
    package var name: String
  }

  package static let opcode: UInt16 = 0x0004

  package init() {}

  package func write(into writer: inout ByteWriter) {}

  package static func response(parsing reader: inout ByteReader) throws(DecodeError) -> Response {
    let address = try BluetoothAddress(parsing: &reader, kind: .public)
    let version = try CoreVersion(parsing: &reader)
    let manufacturer = try CompanyIdentifier(parsing: &reader)
    let supported = ManagementSettings(rawValue: try reader.readUInt32())
    let current = ManagementSettings(rawValue: try reader.readUInt32())
    // Class of device.
    try reader.skip(3)
    let name = try reader.readBytes(249).prefix { $0 != 0 }
    return Response(
      address: address, version: version, manufacturer: manufacturer, supportedSettings: supported,
      currentSettings: current, name: String(decoding: name, as: UTF8.self))
  }
}

/// Switches an adapter on or off. Requires CAP_NET_ADMIN.
package struct SetPowered: ManagementCommand {
  package static let opcode: UInt16 = 0x0005

  package var isPowered: Bool

  package init(_ isPowered: Bool) {
    self.isPowered = isPowered
  }

  package func write(into writer: inout ByteWriter) {
    writer.write(UInt8(isPowered ? 1 : 0))
  }

  /// The resulting settings.
  package static func response(parsing reader: inout ByteReader) throws(DecodeError) -> ManagementSettings {
    ManagementSettings(rawValue: try reader.readUInt32())
  }
}

/// The kinds of addresses that a discovery is for, a bit each; none for a scan before any discovery.
package struct DiscoveryType: Hashable, Sendable, CustomStringConvertible {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package var description: String { "addresses \(Hex.string(rawValue))" }
}

/// Ends a discovery: also one for which the kernel has taken an active scan of a program
/// (``KernelRelease/takesScanForDiscovery``). Requires CAP_NET_ADMIN.
package struct StopDiscovery: ManagementCommand {
  package static let opcode: UInt16 = 0x0024

  /// As the kernel has announced it.
  package var type: DiscoveryType

  package init(_ type: DiscoveryType) {
    self.type = type
  }

  package func write(into writer: inout ByteWriter) { writer.write(type.rawValue) }

  package static func response(parsing reader: inout ByteReader) throws(DecodeError) -> NoReturnParameters {
    NoReturnParameters()
  }
}

/// Sets the kernel's connection parameters for a device, replacing those loaded before for all devices. Requires
/// CAP_NET_ADMIN.
package struct LoadConnectionParameters: ManagementCommand {
  package static let opcode: UInt16 = 0x0035

  package var peer: BluetoothAddress
  package var parameters: ConnectionParameters

  package init(peer: BluetoothAddress, parameters: ConnectionParameters) {
    self.peer = peer
    self.parameters = parameters
  }

  package func write(into writer: inout ByteWriter) {
    writer.write(UInt16(1))
    peer.write(into: &writer)
    writer.write(peer.kernelType)
    parameters.intervalMin.write(into: &writer)
    parameters.intervalMax.write(into: &writer)
    writer.write(parameters.latency)
    parameters.supervisionTimeout.write(into: &writer)
  }

  package static func response(parsing reader: inout ByteReader) throws(DecodeError) -> NoReturnParameters {
    NoReturnParameters()
  }
}

extension BluetoothAddress {
  /// The address type as in sockets and the management interface: 1 is LE public, 2 LE random. Unlike in HCI, 0 is
  /// BR/EDR.
  package var kernelType: UInt8 {
    kind == .public || kind == .publicIdentity ? 1 : 2
  }
}

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
