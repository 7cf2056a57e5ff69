import BluetoothCore
import CBlueZHCI
import Capture
import EventLoop

/// Writes all HCI traffic of an adapter that the kernel drives to a capture file: what `btmon` sees, as H4 records.
@BluetoothActor
public final class MonitorRecorder {
  /// Called once, when nothing can be written any more.
  public var onFailure: ((CaptureError) -> Void)?

  /// How many packets the recording lacks, as they were not fetched in time.
  public var droppedPackets: Int { socket.packets.droppedPackets }

  private let index: AdapterIndex
  private let socket: HCISocket<MonitorChannel>
  private let wallOffset = SystemClock.wallMicroseconds - SystemClock.monotonic.nanoseconds / 1000
  private var writer: CaptureWriter?
  private var last = Instant.zero

  /// Opens the monitor channel (CAP_NET_RAW).
  public init(_ index: AdapterIndex) throws(KernelError) {
    self.index = index
    socket = try HCISocket<MonitorChannel>()
  }

  /// Records from here on.
  public func record(to writer: CaptureWriter) throws(KernelError) {
    let index = self.index
    self.writer = writer
    var packet = ByteWriter(capacity: 1100)
    socket.packets.onPacket = { [weak self] bytes, time in
      guard let self, writer.failure == nil,
        let direction = MonitorPacket.extract(bytes, of: index, into: &packet)
      else { return }
      // Stamps of the two directions are made in different places; a capture goes forward only.
      last = max(last, time)
      writer.write(
        packet.span, direction: direction, microseconds: last.nanoseconds / 1000 + wallOffset)
      if let failure = writer.failure {
        let onFailure = self.onFailure
        self.onFailure = nil
        onFailure?(failure)
      }
    }
    do throws(SystemError) {
      try socket.packets.start()
    } catch {
      throw KernelError("watch the adapter's traffic", .system(error))
    }
  }

  /// Writes a remark.
  public func note(_ text: String) {
    last = max(last, SystemClock.monotonic)
    writer?.write(
      CaptureNote.packet(text).span.bytes, direction: .controllerToHost,
      microseconds: last.nanoseconds / 1000 + wallOffset)
  }

  /// Writes what is on its way, and ends the recording.
  public func close() {
    socket.packets.receivePending()
    socket.packets.close()
  }
}

/// A packet of the monitor channel: opcode, adapter and length, two bytes each, little-endian, then an HCI packet
/// without its type (the kernel's `struct hci_mon_hdr`).
enum MonitorPacket {
  /// Takes the HCI packet out, with its H4 type byte.
  ///
  /// - Returns: which way it went; nil if it is none, or another adapter's
  static func extract(
    _ bytes: RawSpan, of index: AdapterIndex, into writer: inout ByteWriter
  ) -> CaptureDirection? {
    var reader = ByteReader(bytes)
    guard let opcode = try? reader.readUInt16(), let kind = MonitorOpcode(rawValue: opcode).packet,
      (try? reader.readUInt16()) == index.rawValue, let length = try? reader.readUInt16(),
      reader.remaining == Int(length)
    else { return nil }
    writer.removeAll()
    writer.write(kind.type.rawValue)
    writer.write(reader.readRest())
    return kind.direction
  }
}
