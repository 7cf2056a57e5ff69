import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import L2CAP

/// The address of a Bluetooth socket in the kernel's form.
struct KernelAddress {
  let bytes: [UInt8]

  /// An adapter's channel: struct sockaddr_hci.
  static func hci(_ index: AdapterIndex, channel: UInt16) -> KernelAddress {
    var writer = ByteWriter(capacity: 6)
    writer.write(UInt16(AF_BLUETOOTH))
    writer.write(index.rawValue)
    writer.write(channel)
    return KernelAddress(bytes: writer.bytes)
  }

  /// The ATT channel of a device, or of an adapter: struct sockaddr_l2.
  static func l2cap(_ device: BluetoothAddress) -> KernelAddress {
    var writer = ByteWriter(capacity: 14)
    writer.write(UInt16(AF_BLUETOOTH))
    // A channel, and no PSM.
    writer.write(UInt16(0))
    device.write(into: &writer)
    writer.write(ChannelID.attribute.rawValue)
    writer.write(device.kernelType)
    writer.pad(to: 14)
    return KernelAddress(bytes: writer.bytes)
  }

  /// The address of the device at the other end of a connected socket; nil if it is not connected.
  static func l2capPeer(of descriptor: Int32) -> BluetoothAddress? {
    var bytes = [UInt8](repeating: 0, count: 14)
    var length = socklen_t(bytes.count)
    let result = bytes.withUnsafeMutableBytes { buffer in
      buffer.withMemoryRebound(to: sockaddr.self) { storage in
        storage.baseAddress.map { address in
          SystemCall.perform(.status, on: descriptor) { getpeername(descriptor, address, &length) }
        }
      }
    }
    return result == 0 ? l2capDevice(in: bytes) : nil
  }

  /// - Parameter bytes: a struct sockaddr_l2
  static func l2capDevice(in bytes: [UInt8]) -> BluetoothAddress? {
    bytes.withReader { reader in
      guard (try? reader.skip(4)) != nil,
        let address = try? BluetoothAddress(parsing: &reader, kind: .public),
        (try? reader.skip(2)) != nil, let type = try? reader.readUInt8()
      else { return nil }
      return BluetoothAddress(address.value, type == 2 ? .random : .public)
    }
  }

  func withPointer<Result>(_ body: (UnsafePointer<sockaddr>?, socklen_t) -> Result) -> Result {
    bytes.withUnsafeBytes { buffer in
      buffer.withMemoryRebound(to: sockaddr.self) { body($0.baseAddress, socklen_t(buffer.count)) }
    }
  }
}
