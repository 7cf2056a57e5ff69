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
  public func explain(_ bytes: [UInt8], isReceived: Bool, microseconds: Int64? = nil) -> CapturedPacket {
    count += 1
    let info = CaptureRecordInfo(
      number: count, microseconds: microseconds,
      content: .hci(isReceived ? .controllerToHost : .hostToController), originalLength: bytes.count)
    return CapturedPacket(dissector.dissect(bytes.span.bytes, info))
  }
}

/// A packet, with the meaning of its bytes.
public struct CapturedPacket: Hashable, Sendable {
  /// The number of its record, counted from 1.
  public let number: Int
  /// When it was captured, in microseconds since 1970-01-01 UTC; nil if the capture does not say.
  public let microseconds: Int64?
  /// The number of the adapter, 0 for hci0; nil if the capture does not say.
  public let adapter: Int?
  /// Whether the host has received it; nil if unknown.
  public let isReceived: Bool?
  /// An HCI packet begins with its type byte, as over a serial line (Core Specification Vol 4, Part A, 2). A packet of the
  /// air begins with its access address.
  public let bytes: [UInt8]
  /// The line that `halo-raw decode` shows of it.
  public let summary: String
  /// From the wire up; empty for a record that is no packet.
  public let layers: [CapturedLayer]
}

/// A layer of a packet.
public struct CapturedLayer: Hashable, Sendable {
  /// `hci`, `l2cap`, `signaling`, `smp`, `att`, `gatt`, `ring`, `ll`, or the name of a classic profile.
  public let name: String
  /// One line.
  public let summary: String
  /// The fields with their meaning, each behind the one that it is part of.
  public let fields: [CapturedField]
}

/// A field of a packet.
public struct CapturedField: Hashable, Sendable {
  /// The name in the specification, in lower case.
  public let name: String
  /// The value as text, with its unit.
  public let value: String
  /// Which bytes it is in, of the packet as it was put together from its fragments.
  public let range: Range<Int>
  /// Where it is specified: `Vol 4, Part E, 7.7.65.2`.
  public let reference: String
  /// How deep it is nested; 0 is the top of its layer.
  public let depth: Int
}

extension CapturedPacket {
  init(_ packet: DissectedPacket) {
    number = packet.info.number
    microseconds = packet.info.microseconds
    adapter = packet.info.adapter.map { Int($0) }
    isReceived = packet.direction.map { $0 == .controllerToHost }
    bytes = packet.bytes
    summary = packet.summary
    layers = packet.layers.map { layer in
      CapturedLayer(
        name: layer.rawValue, summary: packet.summary(of: layer) ?? "",
        fields: packet.fields(of: layer).map {
          CapturedField(
            name: $0.name, value: $0.value, range: $0.range, reference: $0.reference, depth: $0.depth)
        })
    }
  }
}
