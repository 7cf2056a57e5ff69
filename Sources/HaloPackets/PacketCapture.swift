import HaloCapture
import HaloDissection

/// The packets of a capture file, in order, with the meaning of their bytes: btsnoop, pcap, pcapng, PacketLogger, hcidump, also
/// compressed and in the archives of a phone's bug report.
///
/// ```swift
/// let capture = try PacketCapture(path: "session.btsnoop")
/// while let packet = try capture.next() { print(packet.number, packet.summary) }
/// ```
///
/// The module `HaloPackets` is not stable: any declaration may change with each version.
public final class PacketCapture {
  private var reader: CaptureReader
  private let dissector = Dissector()

  /// - Parameter path: the file; "-" is standard input
  /// - Throws: an error whose description says why it cannot be read
  public init(path: String) throws {
    reader = try CaptureReader(path: path)
  }

  /// The next packet; nil at the end.
  ///
  /// - Throws: an error whose description says where the file is damaged; all packets before that were returned
  public func next() throws -> CapturedPacket? {
    guard try reader.advance() == .record else { return nil }
    return CapturedPacket(dissected(reader))
  }

  private func dissected(_ reader: borrowing CaptureReader) -> DissectedPacket {
    dissector.dissect(reader.bytes, reader.info)
  }
}

/// Explains packets that a program has itself, one after the other: earlier ones, as those with the handles of a link and its
/// attributes, explain later ones.
public final class PacketExplainer {
  private let dissector = Dissector()
  private var count = 0

  public init() {}

  /// Explains the next packet.
  ///
  /// - Parameters:
  ///   - bytes: an HCI packet, with its type byte
  ///   - isReceived: whether it comes from the controller
  ///   - microseconds: when it was sent or received, since 1970-01-01 UTC; nil if that does not matter
  public func explain(
    _ bytes: [UInt8], isReceived: Bool, microseconds: Int64? = nil
  ) -> CapturedPacket {
    count += 1
    let info = CaptureRecordInfo(
      number: count, microseconds: microseconds,
      content: .hci(isReceived ? .controllerToHost : .hostToController), originalLength: bytes.count)
    return CapturedPacket(dissector.dissect(bytes.span.bytes, info))
  }
}
