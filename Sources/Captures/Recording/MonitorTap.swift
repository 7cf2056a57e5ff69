import Glibc
import HCI
import HaloBluetoothCore
import HaloCapture
import HaloLinuxBluetooth
import HaloSystem

/// A tap on the kernel's monitor channel: captures the traffic of all adapters, like `btmon`, while other programs use
/// them.
@BluetoothActor
package final class MonitorTap {
  /// The part of the traffic to capture.
  package enum Scope: Hashable, Sendable {
    /// Everything on the channel: packets, added and removed adapters, management, notes.
    case everything
    /// Everything about one adapter.
    case adapter(AdapterIndex)
    /// The HCI packets of one adapter.
    case packets(of: AdapterIndex)
  }

  /// The number of packets lost because they were not read in time.
  package var droppedPackets: Int { socket.packets.droppedPackets }

  /// How often packets are read that are only recorded: the smallest receive buffer, of 530 packets, lasts for that long at
  /// 5,000 a second.
  private static let interval = Duration.milliseconds(100)

  private let scope: Scope
  private let socket: HCISocket<MonitorChannel>

  /// Opens the monitor channel (CAP_NET_RAW).
  package init(_ scope: Scope) throws(StackError) {
    self.scope = scope
    socket = try HCISocket<MonitorChannel>()
  }

  /// Starts capturing.
  ///
  /// - Parameters:
  ///   - tap: receives the packets
  ///   - onClosed: called once if the kernel closes the channel, with the reason
  package func start(_ tap: TrafficTap, onClosed: ((StackError) -> Void)? = nil) throws(StackError) {
    // A session has one adapter; its recording does not name it.
    let isSession = if case .packets = scope { true } else { false }
    let scope = self.scope
    var buffer = ByteWriter(capacity: 1100)
    socket.packets.onPacket = { bytes, arrival in
      guard let record = MonitorPacket.extract(bytes, in: scope, into: &buffer) else { return }
      tap.take(buffer.span, record.content, adapter: isSession ? nil : record.adapter, at: arrival.time)
    }
    // A recording can wait; who watches the traffic can't.
    if tap.onPacket == nil { socket.packets.readInterval = Self.interval }
    socket.packets.onClosed = { error in
      let error = error ?? SystemError("recvmsg", errno: EPIPE)
      onClosed?(StackError("watch the adapter's traffic", .system(error)))
    }
    do throws(SystemError) {
      try socket.packets.start()
    } catch {
      throw StackError("watch the adapter's traffic", .system(error))
    }
  }

  /// Processes the pending packets, and closes the channel.
  package func close() {
    socket.packets.receivePending()
    socket.packets.close()
  }
}

/// A packet of the monitor channel: opcode, adapter and length, two bytes each, little-endian, followed by an HCI
/// packet without its type, or by other data (the kernel's `struct hci_mon_hdr`).
enum MonitorPacket {
  /// Extracts the content; an HCI packet is preceded by its H4 type byte.
  ///
  /// - Returns: the content and the adapter's index; nil if it is out of scope
  static func extract(
    _ bytes: RawSpan, in scope: MonitorTap.Scope, into writer: inout ByteWriter
  ) -> (content: CaptureContent, adapter: UInt16?)? {
    var reader = ByteReader(bytes)
    guard let opcode = (try? reader.readUInt16()).map(MonitorOpcode.init),
      let index = try? reader.readUInt16(),
      let length = try? reader.readUInt16(), reader.remaining == Int(length)
    else { return nil }
    let packet = opcode.packet
    switch scope {
    case .everything: break
    case .adapter(let wanted): guard index == wanted.rawValue else { return nil }
    case .packets(let wanted): guard index == wanted.rawValue, packet != nil else { return nil }
    }
    writer.removeAll()
    if let packet { writer.write(packet.type.rawValue) }
    writer.write(reader.readRest())
    return (
      packet.map { .hci($0.direction) } ?? .monitor(opcode), index == MonitorOpcode.noAdapter ? nil : index
    )
  }
}
