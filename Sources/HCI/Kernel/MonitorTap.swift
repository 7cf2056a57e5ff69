import BluetoothCore
import CBlueZHCI
import Capture
import EventLoop

/// A tap on the kernel's monitor channel: what `btmon` sees, of all adapters, while other programs use them.
@BluetoothActor
public final class MonitorTap {
  /// What of the traffic is to be seen.
  public enum Scope: Hashable, Sendable {
    /// All that the channel tells: packets, adapters that come and go, management, notes.
    case everything
    /// All that it tells of one adapter.
    case adapter(AdapterIndex)
    /// The HCI packets of one adapter.
    case packets(of: AdapterIndex)
  }

  /// How many packets were not seen, because they were not read in time.
  public var droppedPackets: Int { socket.packets.droppedPackets }

  private let scope: Scope
  private let socket: HCISocket<MonitorChannel>

  /// Opens the monitor channel (CAP_NET_RAW).
  public init(_ scope: Scope) throws(KernelError) {
    self.scope = scope
    socket = try HCISocket<MonitorChannel>()
  }

  /// Begins to look.
  ///
  /// - Parameter onClosed: called once if the kernel ends it, with its reason
  public func start(_ tap: TrafficTap, onClosed: ((KernelError) -> Void)? = nil) throws(KernelError) {
    let scope = self.scope
    var buffer = ByteWriter(capacity: 1100)
    socket.packets.onPacket = { bytes, time in
      guard let record = MonitorPacket.extract(bytes, in: scope, into: &buffer) else { return }
      tap.take(buffer.span, record.content, adapter: record.adapter, at: time)
    }
    socket.packets.onClosed = { error in
      let error = error ?? SystemError("recvmsg", errno: EPIPE)
      onClosed?(KernelError("watch the adapter's traffic", .system(error)))
    }
    do throws(SystemError) {
      try socket.packets.start()
    } catch {
      throw KernelError("watch the adapter's traffic", .system(error))
    }
  }

  /// Takes what is on its way, and ends.
  public func close() {
    socket.packets.receivePending()
    socket.packets.close()
  }
}

/// A packet of the monitor channel: opcode, adapter and length, two bytes each, little-endian, then an HCI packet
/// without its type, or something else (the kernel's `struct hci_mon_hdr`).
enum MonitorPacket {
  /// Takes the content out; an HCI packet gets its H4 type byte.
  ///
  /// - Returns: what it is, and the adapter's index; nil if it is not in the scope
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
