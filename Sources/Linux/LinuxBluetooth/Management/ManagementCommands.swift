import HCI
import HaloBluetoothCore

/// A command of the kernel's Bluetooth management interface (BlueZ, doc/mgmt-api.txt). Each is answered with Command Complete
/// or Command Status. `Response` is the type of its return parameters.
package struct ManagementCommand<Response: Sendable>: Sendable {
  let opcode: UInt16
  /// Its purpose, for errors: `advertise`.
  let operation: String
  let parameters: [UInt8]
  /// Reads the return parameters. Bytes after them are ignored.
  package let read: @Sendable (inout ByteReader) throws(DecodeError) -> Response

  init(
    _ opcode: UInt16, _ operation: String, _ write: (inout ByteWriter) -> Void = { _ in },
    read: @escaping @Sendable (inout ByteReader) throws(DecodeError) -> Response
  ) {
    (self.opcode, self.operation, self.read) = (opcode, operation, read)
    var writer = ByteWriter()
    write(&writer)
    parameters = writer.bytes
  }
}

extension ManagementCommand<Void> {
  init(_ opcode: UInt16, _ operation: String, _ write: (inout ByteWriter) -> Void) {
    self.init(opcode, operation, write, read: { _ in })
  }
}

// MARK: Adapters

extension ManagementCommand<[AdapterIndex]> {
  /// Lists the adapters that the kernel manages, which excludes those opened through the user channel.
  package static var readControllerIndexList: Self { list(0x0003) }

  /// Lists the adapters that the kernel has set up, and cannot use before a program has given them an address.
  static var readUnconfiguredControllerIndexList: Self { list(0x0036) }

  private static func list(_ opcode: UInt16) -> Self {
    Self(opcode, "list the adapters") { reader throws(DecodeError) in
      var indexes: [AdapterIndex] = []
      for _ in 0..<(try reader.readUInt16()) {
        indexes.append(AdapterIndex(rawValue: try reader.readUInt16()))
      }
      return indexes
    }
  }
}

/// The properties and settings of an adapter (doc/mgmt-api.txt, "Read Controller Information Command").
package struct ManagementControllerInformation: Hashable, Sendable {
  package var address: BluetoothAddress
  /// The version of the Core Specification, as numbered in HCI.
  package var version: CoreVersion
  package var manufacturer: CompanyIdentifier
  package var supportedSettings: ManagementSettings
  package var currentSettings: ManagementSettings
  /// The local name; empty if none is set.
  package var name: String
}

extension ManagementCommand<ManagementControllerInformation> {
  /// Reads the properties and settings of an adapter.
  package static var readControllerInformation: Self {
    Self(0x0004, "ask what the adapter is") { reader throws(DecodeError) in
      let address = try BluetoothAddress(parsing: &reader, kind: .public)
      let version = try CoreVersion(parsing: &reader)
      let manufacturer = try CompanyIdentifier(parsing: &reader)
      let supported = ManagementSettings(rawValue: try reader.readUInt32())
      let current = ManagementSettings(rawValue: try reader.readUInt32())
      // Class of device.
      try reader.skip(3)
      let name = try reader.readBytes(249).prefix { $0 != 0 }
      return ManagementControllerInformation(
        address: address, version: version, manufacturer: manufacturer, supportedSettings: supported,
        currentSettings: current, name: String(decoding: name, as: UTF8.self))
    }
  }
}

extension ManagementCommand<ManagementSettings> {
  /// Switches an adapter on or off, and reads the resulting settings. Requires CAP_NET_ADMIN.
  package static func setPowered(_ isPowered: Bool) -> Self {
    setting(0x0005, "switch the adapter", isPowered ? 1 : 0)
  }

  /// A command with one byte.
  static func setting(_ opcode: UInt16, _ operation: String, _ value: UInt8) -> Self {
    Self(opcode, operation) {
      $0.write(value)
    } read: { reader throws(DecodeError) in
      ManagementSettings(rawValue: try reader.readUInt32())
    }
  }
}

extension ManagementCommand<LEPHYs> {
  /// Reads the physical layers that an adapter supports. Requires CAP_NET_ADMIN. Of the three sets in the answer - supported,
  /// configurable and selected PHYs - the first is read.
  package static var getPHYConfiguration: Self {
    Self(0x0044, "ask for the PHYs") { reader throws(DecodeError) in
      let supported = try reader.readUInt32()
      var phys: LEPHYs = []
      // Two bits each, for sending and receiving.
      if supported & 3 << 9 != 0 { phys.insert(.le1M) }
      if supported & 3 << 11 != 0 { phys.insert(.le2M) }
      if supported & 3 << 13 != 0 { phys.insert(.leCoded) }
      return phys
    }
  }
}

// MARK: Scans and links

/// The kinds of addresses that a discovery is for, a bit each; none for a scan before any discovery.
package struct DiscoveryType: Hashable, Sendable, CustomStringConvertible {
  package var rawValue: UInt8

  package init(rawValue: UInt8) { self.rawValue = rawValue }

  package var description: String { "addresses \(Hex.string(rawValue))" }
}

extension ManagementCommand<Void> {
  /// Ends a discovery: also one for which the kernel has taken an active scan of a program
  /// (``KernelRelease/takesScanForDiscovery``). Requires CAP_NET_ADMIN.
  ///
  /// - Parameter type: as the kernel has announced it
  static func stopDiscovery(_ type: DiscoveryType) -> Self {
    Self(0x0024, "end the discovery") { $0.write(type.rawValue) }
  }

  /// Sets the kernel's connection parameters for a device, replacing those loaded before for all devices. Requires
  /// CAP_NET_ADMIN.
  static func loadConnectionParameters(_ parameters: ConnectionParameters, for peer: BluetoothAddress) -> Self
  {
    Self(0x0035, "set the connection parameters") { writer in
      writer.write(UInt16(1))
      peer.write(into: &writer)
      writer.write(peer.kernelType)
      parameters.intervalMin.write(into: &writer)
      parameters.intervalMax.write(into: &writer)
      writer.write(parameters.latency)
      parameters.supervisionTimeout.write(into: &writer)
    }
  }
}

extension BluetoothAddress {
  /// The address type as in sockets and the management interface: 1 is LE public, 2 LE random. Unlike in HCI, 0 is
  /// BR/EDR.
  package var kernelType: UInt8 {
    kind == .public || kind == .publicIdentity ? 1 : 2
  }
}

// MARK: Advertising

/// The kind of an advertisement that the kernel sends, and which of its parameters count (doc/mgmt-api.txt, "Add Advertising
/// Command" and "Add Extended Advertising Parameters Command").
package struct ManagementAdvertisingFlags: OptionSet, Hashable, Sendable {
  package var rawValue: UInt32

  package init(rawValue: UInt32) {
    self.rawValue = rawValue
  }

  /// A central may connect.
  package static let connectable = ManagementAdvertisingFlags(rawValue: 1 << 0)
  /// The PDUs are extended, and the data are sent on LE 1M, LE 2M or LE Coded.
  package static let secondary1M = ManagementAdvertisingFlags(rawValue: 1 << 7)
  package static let secondary2M = ManagementAdvertisingFlags(rawValue: 1 << 8)
  package static let secondaryCoded = ManagementAdvertisingFlags(rawValue: 1 << 9)
  /// The interval is the one given, and not the kernel's.
  package static let hasInterval = ManagementAdvertisingFlags(rawValue: 1 << 14)
}

/// How much of the advertising of an adapter is in use.
struct ManagementAdvertisingFeatures: Hashable, Sendable {
  /// How many advertisements there may be at once, those of all programs together. Their numbers begin with 1.
  var maximumInstances: UInt8
  /// The numbers of those that there are.
  var instances: [UInt8]
}

extension ManagementCommand<ManagementAdvertisingFeatures> {
  /// Reads how much of the advertising of an adapter is in use. It needs no privilege.
  static var readAdvertisingFeatures: Self {
    Self(0x003D, "advertise") { reader throws(DecodeError) in
      // The supported flags, and the room in an advertisement and in a scan response.
      try reader.skip(6)
      let most = try reader.readUInt8()
      let count = Int(try reader.readUInt8())
      return ManagementAdvertisingFeatures(maximumInstances: most, instances: try reader.readBytes(count))
    }
  }
}

/// All of these require CAP_NET_ADMIN. `instance` is the number of the advertisement.
extension ManagementCommand<Void> {
  /// Adds an advertisement, and starts it. The kernel chooses the interval. It replaces one of the same number.
  static func addAdvertising(
    _ instance: UInt8, flags: ManagementAdvertisingFlags, data: [UInt8], scanResponse: [UInt8]
  ) -> Self {
    Self(0x003E, "advertise") { writer in
      writer.write(instance)
      writer.write(flags.rawValue)
      // The duration within a rotation, and the timeout: the kernel's, and none.
      writer.write(UInt16(0))
      writer.write(UInt16(0))
      writer.write(data, and: scanResponse)
    }
  }

  /// Adds an advertisement, which ``addExtendedAdvertisingData(_:data:scanResponse:)`` starts: the way to choose the interval.
  /// Since Linux 5.11.
  static func addExtendedAdvertisingParameters(
    _ instance: UInt8, flags: ManagementAdvertisingFlags, interval: ClosedRange<AdvertisingInterval>
  ) -> Self {
    Self(0x0054, "advertise") { writer in
      writer.write(instance)
      writer.write(flags.union(.hasInterval).rawValue)
      // The duration within a rotation, and the timeout: flags mark both as unused.
      writer.write(UInt16(0))
      writer.write(UInt16(0))
      writer.write(UInt32(interval.lowerBound.rawValue))
      writer.write(UInt32(interval.upperBound.rawValue))
      // The transmit power, which does not count either.
      writer.write(UInt8(0))
    }
  }

  /// Gives an advertisement its data, and starts it. Kernels of 2026 refuse a command with bytes after the data (bluez/bluez
  /// 2269, raspberrypi/linux 7473).
  static func addExtendedAdvertisingData(_ instance: UInt8, data: [UInt8], scanResponse: [UInt8]) -> Self {
    Self(0x0055, "advertise") { writer in
      writer.write(instance)
      writer.write(data, and: scanResponse)
    }
  }

  /// Ends an advertisement. The number zero would end those of all programs.
  static func removeAdvertising(_ instance: UInt8) -> Self {
    Self(0x003F, "advertise") { $0.write(instance) }
  }
}

extension ByteWriter {
  /// Both lengths, and then both data, without padding.
  fileprivate mutating func write(_ data: [UInt8], and scanResponse: [UInt8]) {
    write(UInt8(truncatingIfNeeded: data.count))
    write(UInt8(truncatingIfNeeded: scanResponse.count))
    write(data)
    write(scanResponse)
  }
}
