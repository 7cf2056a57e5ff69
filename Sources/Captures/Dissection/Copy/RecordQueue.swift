import HCI
import HaloBluetoothCore
import HaloCapture
import L2CAP

/// The records of a capture that go into a copy, in their order. A frame that was sent in several packets is selected and
/// changed as one: its packets wait for the last of them.
package struct RecordQueue {
  /// The most records that wait.
  private static let capacity = 4096
  /// The most directions of links whose last part is kept.
  private static let streamCapacity = 256

  private struct Entry {
    var record: CaptureRecord
    var isSelected: Bool
    /// Not nil for a packet with a part of an L2CAP frame.
    var part: FramePart?
    /// Whether the frame is incomplete so far.
    var isWaiting = false
    /// The bytes of a packet of the air before it is changed, and the places of its PDU and of the PDU's payload.
    var original: (bytes: [UInt8], pdu: Range<Int>, payload: Range<Int>)?
  }

  private var entries: [Entry] = []
  /// The first entry that was not taken.
  private var first = 0
  /// The last part of each direction of a link on the air, as it is in the copy: it may be sent again.
  private var last: [FramePart.Stream: [UInt8]] = [:]
  private let redaction: Redaction?

  /// - Parameter redaction: changes the packets; nil leaves them as they are
  package init(_ redaction: Redaction? = nil) { self.redaction = redaction }

  /// Adds the next record.
  ///
  /// - Parameters:
  ///   - packet: the record
  ///   - linkHeader: of a packet of the air, the bytes before it in its file
  ///   - isSelected: whether it goes into the copy; if it completes a frame, whether the other packets of the frame do
  package mutating func add(_ packet: DissectedPacket, linkHeader: [UInt8] = [], isSelected: Bool) {
    if entries.count - first >= Self.capacity { release(first) }
    let part = FramePart(packet)
    if let part, part.kind == .beginning { close(part.stream) }
    let index = entries.count
    var entry = Entry(
      record: CaptureRecord(info: packet.info, bytes: packet.bytes, linkHeader: linkHeader),
      isSelected: isSelected, part: part)
    if let part { entry.isWaiting = part.kind != .repetition && packet.l2cap == nil }
    if redaction != nil, let air = packet.air {
      entry.original = (packet.bytes, Int(air.start)..<air.end, air.place(in: packet.bytes))
    }
    entries.append(entry)
    guard let part, let frame = packet.l2cap, packet.reassembled != nil else {
      if packet.reassembled == nil, let redaction { entries[index].record.bytes = redaction.redacted(packet) }
      redaction?.replaceFound(in: &entries[index].record.bytes, at: entries[index].original?.payload)
      return
    }
    var parts = entries.indices.suffix(from: first).filter {
      entries[$0].isWaiting && entries[$0].part?.stream == part.stream
    }.suffix(frame.fragments - 1)
    parts.append(index)
    for part in parts {
      if isSelected { entries[part].isSelected = true }
      entries[part].isWaiting = false
    }
    if let redaction { write(redaction.redacted(packet), of: packet, to: Array(parts)) }
    close(part.stream)
  }

  /// The next record whose frame is complete, and that is selected.
  package mutating func next() -> CaptureRecord? {
    while first < entries.count, !entries[first].isWaiting {
      finish(first)
      let entry = entries[first]
      first += 1
      if first >= 1024 {
        entries.removeFirst(first)
        first = 0
      }
      if entry.isSelected { return entry.record }
    }
    return nil
  }

  /// Makes the parts that depend on the whole record, or on those before.
  private mutating func finish(_ index: Int) {
    guard let original = entries[index].original else { return }
    if let part = entries[index].part {
      if part.kind == .repetition {
        let again = last[part.stream].flatMap { $0.count == part.range.count ? $0 : nil }
        entries[index].record.bytes.replaceSubrange(
          part.range, with: again ?? [UInt8](repeating: 0, count: part.range.count))
      } else {
        if last.count >= Self.streamCapacity { last.removeAll() }
        last[part.stream] = Array(entries[index].record.bytes[part.range])
      }
    }
    AirCRC.adapt(&entries[index].record.bytes, from: original.bytes, original.pdu)
  }

  /// There are no more records: those that wait are complete as they are.
  package mutating func finish() {
    for index in entries.indices where entries[index].isWaiting { release(index) }
  }

  /// The packets of a frame that is never completed are shown as they are, except for bytes that might be a part of a secret.
  private mutating func close(_ stream: FramePart.Stream) {
    for index in entries.indices.suffix(from: first)
    where entries[index].isWaiting && entries[index].part?.stream == stream { release(index) }
  }

  private mutating func release(_ index: Int) {
    entries[index].isWaiting = false
    guard redaction != nil, let part = entries[index].part else { return }
    var kept = part.range.lowerBound
    if part.kind == .beginning {
      let header = Array(entries[index].record.bytes[part.range].prefix(BasicHeader.length))
      guard let frame = header.withReader({ try? BasicHeader(parsing: &$0) }),
        frame.channel == .securityManager || frame.channel.rawValue == 7
      else { return }
      kept += BasicHeader.length + 1
    }
    blank(index, from: kept)
  }

  private mutating func blank(_ index: Int, from start: Int) {
    let end = entries[index].part?.range.upperBound ?? entries[index].record.bytes.count
    for place in min(start, end)..<end { entries[index].record.bytes[place] = 0 }
  }

  /// Distributes a frame to its packets.
  private mutating func write(_ frame: [UInt8], of packet: DissectedPacket, to parts: [Int]) {
    let ranges = parts.map { entries[$0].part?.range ?? 0..<0 }
    // The unit of a credit-based channel leaves out the headers of its frames: each is searched on its own.
    if ranges.reduce(0, { $0 + $1.count }) == frame.count {
      var offset = 0
      for (part, range) in zip(parts, ranges) {
        entries[part].record.bytes.replaceSubrange(range, with: frame[offset..<offset + range.count])
        offset += range.count
      }
    } else if packet.smp != nil {
      for (part, range) in zip(parts, ranges) { blank(part, from: range.lowerBound + BasicHeader.length) }
    }
    for part in parts {
      redaction?.replaceFound(in: &entries[part].record.bytes, at: entries[part].original?.payload)
    }
  }
}

/// A packet with a part of an L2CAP frame, over HCI or on the air.
private struct FramePart {
  enum Kind {
    case beginning, continuation
    /// On the air, the same as the part before.
    case repetition
  }

  /// The direction of a link whose packets are put together.
  struct Stream: Hashable {
    var adapter: UInt16?
    /// The handle, or the access address.
    var link: UInt32
    var direction: CaptureDirection?
  }

  var stream: Stream
  var kind: Kind
  /// Where the part is in the packet.
  var range: Range<Int>

  /// Nil for other packets.
  init?(_ packet: DissectedPacket) {
    if let air = packet.air {
      guard air.kind == .data, air.isReadable, !air.isEmpty, let direction = air.direction else { return nil }
      stream = Stream(adapter: nil, link: air.accessAddress, direction: direction)
      kind = air.notes.contains(.retransmission) ? .repetition : air.llid == 2 ? .beginning : .continuation
      range = air.payload(in: packet.bytes.span.bytes)
      return
    }
    guard let hci = packet.hci, hci.type == .acl, let handle = hci.connection else { return nil }
    kind = hci.boundary == .continuing ? .continuation : .beginning
    let isFromHost = hci.boundary == .firstNonFlushable
    stream = Stream(
      adapter: packet.info.adapter, link: UInt32(handle.rawValue),
      direction: packet.info.direction
        ?? (kind == .continuation ? nil : isFromHost ? .hostToController : .controllerToHost))
    range = (HCIPacketType.acl.headerLength..<max(HCIPacketType.acl.headerLength, packet.bytes.count))
      .clamped(to: 0..<packet.bytes.count)
  }
}
