import BluetoothCore
import L2CAP

/// An L2CAP frame, at the packet that completes it (Core Specification Vol 3, Part A, 3).
public struct L2CAPLayer: Hashable, Sendable {
  public var channel: ChannelID
  /// Header and payload, in ``DissectedPacket/source``.
  public var range: Range<Int>
  /// How many packets it came in.
  public var fragments: Int

  /// In bytes, as the header has it.
  public var length: Int { range.count - BasicHeader.length }
  /// Without the header.
  public var payload: Range<Int> { range.lowerBound + BasicHeader.length..<range.upperBound }

  var summary: String {
    "\(channel.name), \(length) bytes" + (fragments > 1 ? ", from \(fragments) fragments" : "")
  }

  func fields(of source: RawSpan, hasUpperLayer: Bool) -> [PacketField] {
    var f = FieldReader(
      source, hasUpperLayer ? range.lowerBound..<payload.lowerBound : range,
      reference: "Vol 3, Part A, 3.1")
    f.readAll { f throws(DecodeError) in
      try f.uint16("length", unit: "bytes")
      try f.value(
        "channel", { reader throws(DecodeError) in ChannelID(rawValue: try reader.readUInt16()) },
        words: { "\($0.name) (\(Hex.string($0.rawValue)))" })
      f.rest("payload")
    }
    return f.fields
  }
}

extension ChannelID {
  /// In words, where the specification gives it a meaning (2.1).
  var name: String {
    switch rawValue {
    case 0x0001: "BR/EDR signalling"
    case 0x0002: "connectionless"
    case 0x0003: "AMP manager"
    case 0x0007: "BR/EDR SMP"
    case 0x003F: "AMP test manager"
    case 0x0040...0x007F: "dynamic channel \(Hex.string(rawValue))"
    default: description
    }
  }
}
