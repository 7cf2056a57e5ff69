import HaloBluetoothCore

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

  /// Whether bytes are missing.
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
