import HCI
import HaloBluetoothCore
import HaloCapture
import L2CAP

/// The records of a capture that go into a copy, in their order. A frame that was sent in several packets is selected and
/// changed as one: its packets wait for the last of them.
package struct RecordQueue {
  /// The most records that wait.
  private static let capacity = 4096

  /// The direction of a link whose packets are put together.
  private struct Stream: Hashable {
    var adapter: UInt16?
    var handle: ConnectionHandle
    var direction: CaptureDirection?
  }

  private struct Entry {
    var record: CaptureRecord
    var isSelected: Bool
    /// Not nil while the frame is incomplete.
    var waiting: Stream?
  }

  private var entries: [Entry] = []
  /// The first entry that was not taken.
  private var first = 0
  private let redaction: Redaction?

  /// - Parameter redaction: changes the packets; nil leaves them as they are
  package init(_ redaction: Redaction? = nil) { self.redaction = redaction }

  /// Adds the next record.
  ///
  /// - Parameters:
  ///   - packet: the record
  ///   - isSelected: whether it goes into the copy; if it completes a frame, whether the other packets of the frame do
  package mutating func add(_ packet: DissectedPacket, isSelected: Bool) {
    if entries.count - first >= Self.capacity { release(first) }
    let stream = Self.stream(of: packet)
    if let stream, packet.hci?.boundary != .continuing { close(stream) }
    let index = entries.count
    entries.append(
      Entry(
        record: CaptureRecord(info: packet.info, bytes: packet.bytes), isSelected: isSelected,
        waiting: packet.l2cap == nil ? stream : nil))
    guard let stream, let frame = packet.l2cap, packet.reassembled != nil else {
      if packet.reassembled == nil, let redaction { entries[index].record.bytes = redaction.redacted(packet) }
      redaction?.replaceFound(in: &entries[index].record.bytes)
      return
    }
    var parts = entries.indices.suffix(from: first).filter { entries[$0].waiting == stream }.suffix(
      frame.fragments - 1)
    parts.append(index)
    for part in parts {
      if isSelected { entries[part].isSelected = true }
      entries[part].waiting = nil
    }
    if let redaction { write(redaction.redacted(packet), of: packet, to: Array(parts)) }
    close(stream)
  }

  /// The next record whose frame is complete, and that is selected.
  package mutating func next() -> CaptureRecord? {
    while first < entries.count, entries[first].waiting == nil {
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

  /// There are no more records: those that wait are complete as they are.
  package mutating func finish() {
    for index in entries.indices where entries[index].waiting != nil { release(index) }
  }

  /// The packets of a frame that is never completed are shown as they are, except for what might be a part of a secret.
  private mutating func close(_ stream: Stream) {
    for index in entries.indices.suffix(from: first) where entries[index].waiting == stream { release(index) }
  }

  private mutating func release(_ index: Int) {
    entries[index].waiting = nil
    guard redaction != nil else { return }
    let bytes = entries[index].record.bytes
    let header = HCIPacketType.acl.headerLength
    var reader = ByteReader(bytes.span.bytes)
    guard (try? reader.skip(1)) != nil, let acl = try? ACLHeader(parsing: &reader) else { return }
    var kept = header
    if acl.boundary != .continuing {
      guard let frame = try? BasicHeader(parsing: &reader),
        frame.channel == .securityManager || frame.channel.rawValue == 7
      else { return }
      kept += BasicHeader.length + 1
    }
    blank(index, from: kept)
  }

  private mutating func blank(_ index: Int, from start: Int) {
    let count = entries[index].record.bytes.count
    for place in min(start, count)..<count { entries[index].record.bytes[place] = 0 }
  }

  private static func stream(of packet: DissectedPacket) -> Stream? {
    guard let hci = packet.hci, hci.type == .acl, let handle = hci.connection else { return nil }
    let isFromHost = hci.boundary == .firstNonFlushable
    return Stream(
      adapter: packet.info.adapter, handle: handle,
      direction: packet.info.direction
        ?? (hci.boundary == .continuing ? nil : isFromHost ? .hostToController : .controllerToHost))
  }

  /// Distributes a frame to its packets.
  private mutating func write(_ frame: [UInt8], of packet: DissectedPacket, to parts: [Int]) {
    let header = HCIPacketType.acl.headerLength
    let lengths = parts.map { max(0, entries[$0].record.bytes.count - header) }
    // The unit of a credit-based channel leaves out the headers of its frames: each is searched on its own.
    if lengths.reduce(0, +) == frame.count {
      var offset = 0
      for (part, length) in zip(parts, lengths) where length > 0 {
        entries[part].record.bytes.replaceSubrange(
          header..<header + length, with: frame[offset..<offset + length])
        offset += length
      }
    } else if packet.smp != nil {
      for part in parts { blank(part, from: header + BasicHeader.length) }
    }
    for part in parts { redaction?.replaceFound(in: &entries[part].record.bytes) }
  }
}
