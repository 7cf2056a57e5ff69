import HaloBluetoothCore

/// Puts a packet together that takes several transfers.
struct USBAssembler {
  enum Step {
    case incomplete
    /// The packet is complete; it had this many bytes.
    case complete(Int)
    /// The packet before is not complete, and this record begins another one.
    case restarted
  }

  let type: HCIPacketType
  private var bytes: [UInt8] = []
  /// The bytes that were transferred; the capture may have fewer.
  private var length = 0

  init(_ type: HCIPacketType) { self.type = type }

  /// Whether no packet has begun.
  var isEmpty: Bool { length == 0 }

  /// The length of a packet with this beginning; nil if its header is not complete.
  private func expected(_ header: RawSpan) -> Int? {
    type == .event
      ? header.byte(at: 1).map { Int($0) + 2 } : header.uint16(at: 2, .little).map { Int($0) + 4 }
  }

  /// Whether a transfer has at least one packet. If it has more bytes, who reads the packet sees it.
  func isWhole(_ data: RawSpan, length: Int) -> Bool { expected(data).map { length >= $0 } ?? false }

  /// Adds the data of a transfer.
  ///
  /// - Parameters:
  ///   - data: as far as the capture has them
  ///   - transferred: the number of bytes that were transferred
  mutating func add(_ data: RawSpan, length transferred: Int) -> Step {
    if let total = expected(bytes.span.bytes), length + transferred > total {
      bytes = []
      length = 0
      if !isWhole(data, length: transferred) { append(data, transferred) }
      return .restarted
    }
    append(data, transferred)
    guard let total = expected(bytes.span.bytes) else {
      // A header that the capture does not have: nothing can be read until the next packet.
      if bytes.count < length { _ = take() }
      return .incomplete
    }
    return length >= total ? .complete(length) : .incomplete
  }

  private mutating func append(_ data: RawSpan, _ transferred: Int) {
    // Behind bytes that the capture does not have, none can be put in their place.
    if bytes.count == length { data.withUnsafeBytes { bytes.append(contentsOf: $0) } }
    length += transferred
  }

  /// The packet with its type byte; the next one begins.
  mutating func take() -> [UInt8] {
    defer {
      bytes = []
      length = 0
    }
    return [type.rawValue] + bytes
  }
}
