import Glibc
import HCI
import HaloBluetoothCore
import HaloSystemCalls

/// What an advertisement that the kernel sends is, and which parameters of ``AddExtendedAdvertisingParameters`` count
/// (BlueZ, doc/mgmt-api.txt, "Add Advertising Command" and "Add Extended Advertising Parameters Command").
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

/// Reads how much of the advertising of an adapter is in use. It needs no privilege.
package struct ReadAdvertisingFeatures: ManagementCommand {
  package struct Response: Hashable, Sendable {
    /// How many advertisements there may be at once, those of all programs together. Their numbers begin with 1.
    package var maximumInstances: UInt8
    /// The numbers of those that there are.
    package var instances: [UInt8]
  }

  package static let opcode: UInt16 = 0x003D

  package init() {}

  package func write(into writer: inout ByteWriter) {}

  package static func response(parsing reader: inout ByteReader) throws(DecodeError) -> Response {
    // The supported flags, and the room in an advertisement and in a scan response.
    try reader.skip(6)
    let most = try reader.readUInt8()
    let count = Int(try reader.readUInt8())
    return Response(maximumInstances: most, instances: try reader.readBytes(count))
  }
}

/// Adds an advertisement, and starts it. The kernel chooses the interval. It replaces one of the same number. Requires
/// CAP_NET_ADMIN.
package struct AddAdvertising: ManagementCommand {
  package static let opcode: UInt16 = 0x003E

  package var instance: UInt8
  package var flags: ManagementAdvertisingFlags
  package var data: [UInt8]
  package var scanResponse: [UInt8]

  package init(
    _ instance: UInt8, flags: ManagementAdvertisingFlags, data: [UInt8],
    scanResponse: [UInt8]
  ) {
    self.instance = instance
    self.flags = flags
    self.data = data
    self.scanResponse = scanResponse
  }

  package func write(into writer: inout ByteWriter) {
    writer.write(instance)
    writer.write(flags.rawValue)
    // The duration within a rotation, and the timeout: the kernel's, and none.
    writer.write(UInt16(0))
    writer.write(UInt16(0))
    writer.write(data, and: scanResponse)
  }

  package static func response(parsing reader: inout ByteReader) throws(DecodeError) -> NoReturnParameters {
    NoReturnParameters()
  }
}

/// Adds an advertisement, which ``AddExtendedAdvertisingData`` starts: the way to choose the interval. Since Linux 5.11.
/// Requires CAP_NET_ADMIN.
package struct AddExtendedAdvertisingParameters: ManagementCommand {
  package static let opcode: UInt16 = 0x0054

  package var instance: UInt8
  package var flags: ManagementAdvertisingFlags
  package var intervalMin: AdvertisingInterval
  package var intervalMax: AdvertisingInterval

  package init(
    _ instance: UInt8, flags: ManagementAdvertisingFlags, intervalMin: AdvertisingInterval,
    intervalMax: AdvertisingInterval
  ) {
    self.instance = instance
    self.flags = flags
    self.intervalMin = intervalMin
    self.intervalMax = intervalMax
  }

  package func write(into writer: inout ByteWriter) {
    writer.write(instance)
    writer.write(flags.union(.hasInterval).rawValue)
    // The duration within a rotation, and the timeout: flags say that neither counts.
    writer.write(UInt16(0))
    writer.write(UInt16(0))
    writer.write(UInt32(intervalMin.rawValue))
    writer.write(UInt32(intervalMax.rawValue))
    // The transmit power, which does not count either.
    writer.write(UInt8(0))
  }

  package static func response(parsing reader: inout ByteReader) throws(DecodeError) -> NoReturnParameters {
    NoReturnParameters()
  }
}

/// Gives an advertisement its data, and starts it. Kernels of 2026 refuse a command with bytes after the data (bluez/bluez
/// 2269, raspberrypi/linux 7473). Requires CAP_NET_ADMIN.
package struct AddExtendedAdvertisingData: ManagementCommand {
  package static let opcode: UInt16 = 0x0055

  package var instance: UInt8
  package var data: [UInt8]
  package var scanResponse: [UInt8]

  package init(_ instance: UInt8, data: [UInt8], scanResponse: [UInt8]) {
    self.instance = instance
    self.data = data
    self.scanResponse = scanResponse
  }

  package func write(into writer: inout ByteWriter) {
    writer.write(instance)
    writer.write(data, and: scanResponse)
  }

  package static func response(parsing reader: inout ByteReader) throws(DecodeError) -> NoReturnParameters {
    NoReturnParameters()
  }
}

/// Ends an advertisement. Requires CAP_NET_ADMIN.
package struct RemoveAdvertising: ManagementCommand {
  package static let opcode: UInt16 = 0x003F

  package var instance: UInt8

  /// - Parameter instance: its number. Zero would end those of all programs.
  package init(_ instance: UInt8) {
    self.instance = instance
  }

  package func write(into writer: inout ByteWriter) {
    writer.write(instance)
  }

  package static func response(parsing reader: inout ByteReader) throws(DecodeError) -> NoReturnParameters {
    NoReturnParameters()
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

/// The number of an advertisement of an adapter, which no other program of this package uses meanwhile. The kernel would give
/// the advertisement the data of both, one after the other, and tell neither.
final class AdvertisingNumber {
  let index: AdapterIndex
  let value: UInt8
  private let socket: Int32?

  /// - Parameters:
  ///   - value: at least 1
  ///   - index: of the adapter
  /// - Returns: nil if another program has it
  convenience init?(_ value: UInt8, of index: AdapterIndex) {
    guard let socket = LocalSocket.listen(at: "@halo-raw-\(index)-advertisement-\(value)") else {
      return nil
    }
    self.init(value, of: index, holding: socket)
  }

  /// - Parameter socket: what others see that it is taken by; closed with this object
  init(_ value: UInt8, of index: AdapterIndex, holding socket: Int32?) {
    self.value = value
    self.index = index
    self.socket = socket
  }

  deinit {
    if let socket { close(socket) }
  }
}
