import HaloBluetoothCore
import HaloCapture
import HaloDissection
import TestSupport

/// A capture that a test writes packet by packet.
final class Script {
  let dissector: Dissector
  private var number = 0
  private var microseconds: Int64 = 0

  init(known: [Dissector.KnownDevice] = [], secrets: DissectionSecrets = DissectionSecrets()) {
    dissector = Dissector(known: known, secrets: secrets)
  }

  /// Takes a packet, a millisecond after the one before.
  ///
  /// - Parameters:
  ///   - digits: the packet with its type byte
  ///   - isSent: by the host
  @discardableResult
  func packet(_ bytes: [UInt8], isSent: Bool?, adapter: UInt16? = nil) -> DissectedPacket {
    number += 1
    microseconds += 1000
    let direction: CaptureDirection? = isSent.map { $0 ? .hostToController : .controllerToHost }
    return dissector.dissect(
      bytes.span.bytes,
      CaptureRecordInfo(
        number: number, microseconds: microseconds, adapter: adapter, content: .hci(direction),
        originalLength: bytes.count))
  }

  /// Lets time pass before the next packet.
  func pause(seconds: Int64) { microseconds += seconds * 1_000_000 }

  /// A received packet of which the capture has only the beginning.
  func truncated(_ bytes: [UInt8], to count: Int) -> DissectedPacket {
    number += 1
    microseconds += 1000
    return dissector.dissect(
      bytes.span.bytes.extracting(0..<count),
      CaptureRecordInfo(
        number: number, microseconds: microseconds, content: .hci(.controllerToHost),
        originalLength: bytes.count))
  }

  /// A frame on an L2CAP channel in one ACL packet.
  @discardableResult
  func frame(_ digits: String, channel: UInt16, isSent: Bool) -> DissectedPacket {
    packet(Script.acl(hex(digits.dense), channel: channel, isSent: isSent), isSent: isSent)
  }

  @discardableResult
  func sent(_ digits: String) -> DissectedPacket { packet(hex(digits), isSent: true) }

  @discardableResult
  func received(_ digits: String) -> DissectedPacket { packet(hex(digits), isSent: false) }

  /// An ATT PDU in one ACL packet.
  @discardableResult
  func att(_ digits: String, isSent: Bool, link: UInt16 = 0x40, adapter: UInt16? = nil) -> DissectedPacket {
    packet(Self.acl(hex(digits), channel: 4, isSent: isSent, link: link), isSent: isSent, adapter: adapter)
  }

  /// The host asks, the peer answers.
  @discardableResult
  func ask(_ request: String, _ response: String) -> DissectedPacket {
    att(request, isSent: true)
    return att(response, isSent: false)
  }

  static func acl(_ payload: [UInt8], channel: UInt16, isSent: Bool, link: UInt16 = 0x40) -> [UInt8] {
    var writer = ByteWriter()
    writer.write(UInt8(2))
    writer.write(link | (isSent ? 0 : 0x2000))
    writer.write(UInt16(payload.count + 4))
    writer.write(UInt16(payload.count))
    writer.write(channel)
    writer.write(payload)
    return writer.bytes
  }

  /// LE Connection Complete: link 0x0040, to 30:35:38:41:BE:EF.
  static let connected = "04 3e 13 01 00 4000 00 00 efbe41383530 1800 0000 4800 00"
  /// Disconnection Complete: the peer has ended it.
  static let disconnected = "04 05 04 00 4000 13"
}

extension [PacketField] {
  /// The fields that are not wholly among the first `count` bytes.
  func outside(_ count: Int) -> [PacketField] {
    filter { $0.range.lowerBound < 0 || $0.range.upperBound > count }
  }
}

extension DissectedPacket {
  /// What one field says.
  func value(_ layer: Layer, _ name: String) -> String? {
    fields(of: layer).first { $0.name == name }?.value
  }
}
