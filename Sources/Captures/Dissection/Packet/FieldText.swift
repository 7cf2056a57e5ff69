import HaloBluetoothCore

extension TextBuffer {
  /// Writes a number between two fixed pieces of a line: `, 20 bytes`.
  @inline(__always)
  mutating func write(_ before: StaticString, _ value: Int, _ after: StaticString = "") {
    write(before)
    write(value)
    write(after)
  }

  /// The same for a value.
  @inline(__always)
  mutating func write(_ before: StaticString, _ value: some TextWritable, _ after: StaticString = "") {
    write(before)
    write(value)
    write(after)
  }

  /// The same for text.
  @inline(__always)
  mutating func write(_ before: StaticString, _ value: String, _ after: StaticString = "") {
    write(before)
    write(value)
    write(after)
  }

  /// Writes fields in one line, with their names: `interval 15 ms, latency 0 events`.
  ///
  /// - Parameters:
  ///   - start: the text before the first one, if there is one
  ///   - isOmitted: whether the field with a number is left out
  mutating func write(_ fields: FieldList, after start: StaticString, omitting isOmitted: (Int) -> Bool) {
    var separator = start
    for index in fields.entries.indices {
      let entry = fields.entries[index]
      if entry.depth > 0 || entry.value.isEmpty || isOmitted(index) { continue }
      write(separator)
      separator = ", "
      write(fields.bytes(entry.name))
      write(" ")
      if entry.range.count > 8, entry.value.count > 60 {
        write(entry.range.count)
        write(" bytes")
      } else {
        write(fields.bytes(entry.value))
      }
    }
  }
}

/// The document that the references of fields are sections of.
package enum Specification {
  /// With its version.
  package static let name = "Bluetooth Core Specification 6.2"
}

/// Why a packet, or a layer of it, is malformed. It holds numbers only, so that a packet is copied without a cost.
package enum PacketProblem: Hashable, Sendable, TextWritable {
  case empty
  /// The H4 type byte is none of HCI.
  case unknownType
  /// The header states another length than there are bytes, both without the header.
  case length(stated: Int, present: Int)
  /// A field needs `needed` bytes at an offset, and only `available` are left.
  case truncated(offset: Int, needed: Int, available: Int)
  /// A field has an invalid value.
  case invalid(offset: Int)
  /// The CRC of a packet of the air is wrong, so that its bytes may be wrong, too.
  case wrongCRC
  /// An L2CAP frame has more bytes than its header states.
  case overlongFrame
  /// A fragment of an L2CAP frame whose beginning is not there.
  case orphan
  /// The L2CAP frame before this one was not completed.
  case unfinishedFrame
  /// The capture has only its beginning (snap length): it is not damaged.
  case cut

  init(_ error: DecodeError) {
    switch error.reason {
    case .truncated(let needed, let available):
      self = .truncated(offset: error.offset, needed: needed, available: available)
    case .invalid, .trailing: self = .invalid(offset: error.offset)
    }
  }

  /// Whether it is about missing bytes.
  var isOfLength: Bool {
    switch self {
    case .length, .truncated, .empty: true
    default: false
    }
  }

  package func write(to text: inout TextBuffer) {
    switch self {
    case .empty: text.write("empty")
    case .unknownType: text.write("no packet type of HCI")
    case .length(let stated, let present):
      text.write("\(stated) bytes should follow the header, \(present) do")
    case .truncated(let offset, let needed, let available):
      text.write(
        DecodeError(offset: offset, reason: .truncated(needed: needed, available: available)).description)
    case .invalid(let offset): text.write("byte \(offset): not valid")
    case .wrongCRC: text.write("wrong CRC")
    case .overlongFrame: text.write("more bytes than the L2CAP frame has")
    case .orphan: text.write("goes on with an L2CAP frame whose beginning is not there")
    case .cut: text.write("the rest is not in the capture")
    case .unfinishedFrame: text.write("the L2CAP frame before was never completed")
    }
  }
}
