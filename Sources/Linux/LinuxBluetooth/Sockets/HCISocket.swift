import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem

/// The channel of a kernel HCI socket. Each channel has its own rules and its own type: only the raw one has filters.
package protocol HCIChannel {
  static var number: UInt16 { get }
}

/// One adapter, shared with the kernel and other programs: receives all events, and accepts commands.
package enum RawChannel: HCIChannel {
  package static let number: UInt16 = 0
}

/// One adapter with exclusive access: it is removed from the kernel's list until it is released.
package enum UserChannel: HCIChannel {
  package static let number: UInt16 = 1
}

/// All traffic of all adapters, read-only.
package enum MonitorChannel: HCIChannel {
  package static let number: UInt16 = 2
}

/// The kernel's Bluetooth management interface.
package enum ControlChannel: HCIChannel {
  package static let number: UInt16 = 3
}

/// A kernel HCI socket, bound to a channel.
@BluetoothActor
package struct HCISocket<Channel: HCIChannel> {
  package let packets: PacketSocket

  /// The largest packet of any channel: a management packet, or ACL data with all headers.
  private static var largestPacket: Int { 65_536 + 16 }

  init(binding index: AdapterIndex) throws(SystemError) {
    self.init(
      descriptor: try retryingInterrupts("socket") {
        SystemCall.socket(AF_BLUETOOTH, SOCK_RAW, KernelABI.protocolHCI)
      })
    try Self.bind(packets.descriptor, to: index)
  }

  private init(descriptor: Int32, closesOnThread: Bool = false) {
    packets = PacketSocket(
      descriptor: descriptor, largestPacket: Self.largestPacket, closesOnThread: closesOnThread)
  }

  private static func bind(_ descriptor: Int32, to index: AdapterIndex) throws(SystemError) {
    let result = KernelAddress.hci(index, channel: Channel.number).withPointer {
      SystemCall.bind(descriptor, $0, $1)
    }
    guard result == 0 else { throw .last("bind") }
  }
}

/// Which packets a raw socket delivers (`HCI_FILTER`).
package struct HCIFilter: Hashable, Sendable {
  var types: UInt32 = 0
  var events: UInt64 = 0

  /// - Parameters:
  ///   - types: the packet types
  ///   - codes: the events; all if empty
  package init(types: [HCIPacketType], events codes: [HCIEventCode] = []) {
    for type in types { self.types |= 1 << UInt32(type.rawValue & 31) }
    events = codes.isEmpty ? .max : 0
    // The kernel compares only six bits of an event code.
    for code in codes { events |= 1 << UInt64(code.rawValue & 63) }
  }

  /// The kernel's `struct hci_filter`: type mask, event mask of 64 bits, opcode, padding.
  var bytes: [UInt8] {
    var writer = ByteWriter(capacity: 16)
    writer.write(types)
    writer.write(events)
    writer.write(UInt32(0))
    return writer.bytes
  }

  /// The packets that a ``RawController`` reads.
  static let rawController = HCIFilter(types: [.event, .command], events: ownEvents)
  /// The same, and the data of all links.
  static let rawControllerAndData = HCIFilter(types: [.event, .command, .acl], events: ownEvents)
  private static let ownEvents: [HCIEventCode] = [
    .commandComplete, .commandStatus, .disconnectionComplete, .encryptionChange,
    .encryptionKeyRefreshComplete,
    .leMeta,
  ]
}

extension HCISocket where Channel == RawChannel {
  /// Opens the raw channel of an adapter.
  package init(_ index: AdapterIndex, filter: HCIFilter) throws(StackError) {
    do throws(SystemError) {
      try self.init(binding: index)
      try setFilter(filter)
      packets.setOption(KernelABI.levelHCI, KernelABI.timeStamp, Int32(1))
    } catch {
      throw StackError("open \(index)", StackError(opening: error, adapter: index))
    }
  }

  /// Sets which packets are delivered from now on.
  package func setFilter(_ filter: HCIFilter) throws(SystemError) {
    let bytes = filter.bytes
    let descriptor = packets.descriptor
    let result = bytes.withUnsafeBytes { buffer in
      SystemCall.control(descriptor) {
        setsockopt(
          descriptor, KernelABI.levelHCI, KernelABI.filter, buffer.baseAddress, socklen_t(buffer.count))
      }
    }
    guard result == 0 else { throw .last("setsockopt") }
  }
}

extension HCISocket where Channel == UserChannel {
  /// - Parameter descriptor: bound to the channel by the ``AdapterHelper``
  init(taken descriptor: Int32) {
    // The driver may take time to close the controller.
    self.init(descriptor: descriptor, closesOnThread: true)
  }
}

extension HCISocket where Channel == MonitorChannel {
  /// Opens the monitor channel.
  package init() throws(StackError) {
    do throws(SystemError) {
      try self.init(binding: .none)
    } catch {
      throw StackError("watch the adapter's traffic", StackError(opening: error))
    }
  }
}

extension HCISocket where Channel == ControlChannel {
  /// Opens the kernel's Bluetooth management interface. Without CAP_NET_ADMIN it is read-only. The kernel checks the
  /// capability here: a process that drops it afterwards can still use this socket fully.
  package init() throws(StackError) {
    do throws(SystemError) {
      try self.init(binding: .none)
    } catch {
      throw StackError("reach the kernel's Bluetooth management", StackError(opening: error))
    }
  }
}

extension StackError {
  /// The meaning of an error from opening or binding a socket, or from sending a command.
  package init(opening error: SystemError, adapter: AdapterIndex? = nil) {
    switch error.errno {
    case EAFNOSUPPORT, EPROTONOSUPPORT: self = .noBluetooth
    case ENODEV: self = .noSuchAdapter
    case EPIPE: self = .adapterRemoved
    case ENETDOWN: self = .adapterDown(adapter)
    case ERFKILL: self = .radioBlocked
    case EPERM, EACCES: self = .missing(.netRaw)
    default: self = .system(error)
    }
  }

  /// The meaning of an error from opening the user channel.
  ///
  /// - Parameter device: the adapter; EBUSY means that it is up, or that the kernel does not manage it: it has not finished
  ///   setting it up, or has failed to
  package init(takingUserChannel error: SystemError, _ device: HCIDevices.Device?) {
    switch error.errno {
    case EBUSY:
      let unmanaged = Controllers.Managed(configured: [], unconfigured: [])
      self = device.flatMap { ControllerState.Condition(of: $0, managed: unmanaged).obstacle } ?? .adapterUp
    case EUSERS: self = .adapterTaken
    case EPERM, EACCES: self = .missing(.netAdmin)
    default: self.init(opening: error)
    }
  }
}
