import ATT
import HaloBluetoothCore
import RingLink

/// A message to or from a ring (ring reference, 2 and 3).
package struct RingLayer: Hashable, Sendable {
  package enum Content: Hashable, Sendable {
    /// A frame of 16 bytes, with the right checksum.
    case frame(DecodedFrame)
    /// A whole bulk frame, at the value that completes it.
    indirect case bulk(BulkFrame)
    /// A piece of a bulk frame: payload bytes that are there, and those that it has.
    case part(BulkID, received: Int, length: Int)
    /// Sent to or from a ring, but not a valid frame; as text.
    indirect case damaged(String)
  }

  package var content: Content
  package var isFromRing: Bool
  /// Whether only the bytes resemble a ring's: the discovery is not in the capture.
  package var isByShape: Bool
  /// The value, in ``DissectedPacket/source``.
  package var range: Range<Int>
  /// How the ring encodes acceleration, if the capture has shown it.
  package var encoding: AccelerometerEncoding?

  /// The row of the command table.
  package var entry: CommandEntry? {
    switch content {
    case .frame(let meaning): meaning.entry
    case .bulk(let frame): CommandTable.entries(for: .bulk(frame.id)).first
    case .part(let id, _, _): CommandTable.entries(for: .bulk(id)).first
    case .damaged: nil
    }
  }

  /// The meaning of a frame; nil for any other value.
  package var meaning: DecodedFrame? { if case .frame(let meaning) = content { meaning } else { nil } }

  func writeSummary(of source: RawSpan, to text: inout TextBuffer) {
    switch content {
    case .frame(let meaning): write(meaning, to: &text)
    case .bulk(let frame):
      write(frame.id, to: &text)
      writeSide(to: &text)
      text.write(": ")
      // A status is one byte; a payload is not gone through for less.
      let meaning = frame.payload.count == 1 ? frame.meaning(isFromRing: isFromRing) : nil
      if let meaning, meaning.form == "status", let status = meaning.values.first {
        return text.write("status \(status.text)")
      }
      text.write(frame.payload.count)
      text.write(frame.payload.count == 1 ? " byte of payload" : " bytes of payload")
    case .part(let id, let received, let length):
      write(id, to: &text)
      writeSide(to: &text)
      text.write(": ", received)
      text.write(" of ", length, " bytes so far")
    case .damaged(let what):
      text.write(what)
      writeSide(to: &text)
      text.write(": ")
      return text.writeHex(source.extracting(range.clamped(to: 0..<source.byteCount)))
    }
    if isByShape { text.write(" (by its shape)") }
  }

  /// Writes `bulk sleep`, or `bulk frame, id 0x49`.
  private func write(_ id: BulkID, to text: inout TextBuffer) {
    if id.isKnown { text.write("bulk ") }
    text.write(id.description)
  }

  private func writeSide(to text: inout TextBuffer) {
    if isFromRing { text.write(", from the ring") } else { text.write(", to the ring") }
  }

  private func write(_ meaning: DecodedFrame, to text: inout TextBuffer) {
    text.write(meaning.name)
    if let refusal = meaning.refusal {
      text.write(" refused: ")
      return text.write("\(refusal.code)")
    }
    guard let form = meaning.form else {
      // A command that is not in the table has no name of its own before the side.
      if meaning.isKnown { text.write(",") }
      text.write(isFromRing ? " from the ring: " : " to the ring: ")
      return text.write(meaning.frame)
    }
    if form.name != "request", form.name != "reply" {
      text.write(", ", form.name)
    }
    writeSide(to: &text)
    let encoding = accelerationEncoding
    // A span: fields are read in place.
    let fields = form.fields.span
    for index in fields.indices {
      if index == 0 { text.write(": ") } else { text.write(", ") }
      text.write(fields[index].name)
      text.write(" ")
      Self.write(fields[index], of: meaning.frame, encoding, to: &text)
    }
  }

  /// The encoding of the axes; nil if it is not known, or if this is not a sample of acceleration.
  private var accelerationEncoding: AccelerometerEncoding? {
    guard let encoding, case .accelerometer? = sample else { return nil }
    return encoding
  }

  /// Writes a value; acceleration in g and in counts of the sensor, where its encoding is known.
  private static func write(
    _ field: FrameField, of frame: RingFrame, _ encoding: AccelerometerEncoding?, to text: inout TextBuffer
  ) {
    guard let encoding, field.form == .bytes(2) else { return text.write(field.value(in: frame)) }
    let counts = encoding.counts(
      UInt16(frame.byte(at: field.offset)) << 8 | UInt16(frame.byte(at: field.offset + 1)))
    text.write(Int64((Double(counts) / encoding.countsPerG * 10_000).rounded()), places: 4)
    text.write(" g (", Int(counts), ")")
  }

  /// Lists the values of a bulk frame.
  package func listValues(of meaning: DecodedBulkFrame, to list: FieldList) {
    guard case .bulk(let frame) = content else { return }
    // Only the last value of a frame in several values is here.
    let isWhole = range.count == BulkFrame.headerLength + frame.payload.count
    let start = range.lowerBound + BulkFrame.headerLength
    for value in meaning.values {
      let place =
        isWhole
        ? start + value.range.lowerBound..<start + value.range.upperBound
        : range.lowerBound..<range.lowerBound
      list.append(
        PacketField(
          value.name, value.text, range: place.clamped(to: range), reference: reference,
          depth: 1 + value.depth))
    }
  }

  private var reference: String {
    "ring reference, " + (meaning?.refusal == nil ? entry?.source ?? "2" : "2")
  }

  func list(to list: FieldList) {
    let reference = self.reference
    func add(_ name: String, _ value: String, _ range: Range<Int>, depth: Int = 0) {
      let start = self.range.lowerBound
      let place = start + range.lowerBound..<start + range.upperBound
      list.append(
        PacketField(name, value, range: place.clamped(to: self.range), reference: reference, depth: depth))
    }
    switch content {
    case .frame(let meaning):
      let frame = meaning.frame
      let note = LoneSource.suffix(meaning.entry?.loneSource)
      add("command", "\(meaning.name) (\(Hex.string(frame.command.rawValue)))\(note)", 0..<1)
      if let refusal = meaning.refusal {
        add("reason", "\(refusal.code)", 1..<2)
        add("payload", Hex.string(frame.bytes[1..<15], separator: " "), 1..<15)
      } else if let form = meaning.form {
        add("form", form.name, 1..<15)
        let encoding = accelerationEncoding
        for field in meaning.fields {
          let note = LoneSource.suffix(field.field.loneSource(in: frame))
          add(
            field.name, TextBuffer.string { Self.write(field.field, of: frame, encoding, to: &$0) } + note,
            field.range, depth: 1)
        }
      } else {
        add("payload", Hex.string(frame.bytes[1..<15], separator: " "), 1..<15)
      }
      add("checksum", "right", 15..<16)
    case .bulk(let frame):
      let meaning = frame.meaning(isFromRing: isFromRing)
      let note = LoneSource.suffix(entry?.loneSource)
      add("bulk id", "\(frame.id) (\(Hex.string(frame.id.rawValue)))\(note)", 0..<0)
      if let form = meaning.form { add("form", form, 0..<0) }
      add("payload", Hex.string(frame.payload, separator: " "), 0..<range.count)
      listValues(of: meaning, to: list)
    case .part(let id, let received, let length):
      add("bulk id", "\(id) (\(Hex.string(id.rawValue)))", 0..<0)
      add("payload so far", "\(received) of \(length) bytes", 0..<range.count)
    case .damaged(let what): add("damaged", what, 0..<range.count)
    }
  }
}

/// Finds a ring's frames among the values on a link: by the service of the characteristic, or by their shape where the
/// discovery is not in the capture. The UUIDs of its command characteristics are those of Nordic's serial port, which many
/// devices have in a service of another UUID.
struct RingTracker {
  /// Characteristics whose bulk frames are put together at a time; a ring has two.
  static let capacity = 8

  private struct Place: Hashable {
    var handle: AttributeHandle
    var isFromRing: Bool
  }

  /// The role of an attribute by the discovery.
  enum Role {
    /// A characteristic for frames of 16 bytes, in the service of a ring.
    case command
    /// A characteristic for bulk frames.
    case bulk
    /// No characteristic of a ring.
    case other
    /// It was not discovered, or not its service.
    case unknown

    init(_ uuid: BluetoothUUID, in service: BluetoothUUID?) {
      switch uuid {
      case RingGATT.commandWrite, RingGATT.commandNotify:
        self = service == RingGATT.commandService ? .command : service == nil ? .unknown : .other
      case RingGATT.bulkWrite, RingGATT.bulkNotify: self = .bulk
      default: self = .other
      }
    }
  }

  private var assemblers: [Place: BulkAssembler] = [:]
  /// Handles without a UUID where a command of the table was seen: their values belong to a ring.
  private var known: Set<Place> = []
  /// Handles without a UUID where a value was seen that no ring sends: nothing there is a ring's. Bounded, as links are.
  /// Few: a list is quicker than a set.
  private var others: [Place] = []
  private static let othersCapacity = 64

  /// The command that was sent to the ring last, and is not answered.
  private var pending: RingCommand?
  private var encoding = AccelerometerEncodingDetector()

  /// Learns how the ring encodes acceleration from the revision of its firmware, if a response has it.
  mutating func learnFirmware(_ packet: DissectedPacket) {
    guard encoding.encoding == nil, let firmware = packet.readText(of: RingGATT.firmwareRevision) else {
      return
    }
    let family = RingFirmware(firmwareRevision: firmware, hardwareRevision: nil)
    encoding = AccelerometerEncodingDetector(known: family.accelerometerEncoding)
  }

  /// Handles a written or notified value.
  ///
  /// - Parameter range: its range in `source`
  /// - Returns: nil if this is not a ring
  mutating func take(
    _ source: RawSpan, _ range: Range<Int>, handle: AttributeHandle, role: Role, isFromRing: Bool,
    at moment: PacketTime
  ) -> RingLayer? {
    let value = source.extracting(range)
    let content: RingLayer.Content
    var isByShape = false
    switch role {
    case .command:
      do throws(RingFrameError) {
        content = .frame(meaning(of: try RingFrame(parsing: value), isFromRing))
      } catch {
        content = .damaged("\(error)")
      }
    case .bulk:
      content = receive(value, Place(handle: handle, isFromRing: isFromRing), at: moment)
    case .other: return nil
    case .unknown:
      isByShape = true
      let place = Place(handle: handle, isFromRing: isFromRing)
      guard !others.contains(place) else { return nil }
      if assemblers[place]?.openFrame != nil || Self.looksLikeBulk(value) {
        content = receive(value, place, at: moment)
        switch content {
        // Not one byte of it can be trusted then.
        case .damaged: return reject(place)
        // Its checksum is not known to be right before it is whole.
        case .part where !known.contains(place): return nil
        default: if known.count < Self.capacity { known.insert(place) }
        }
      } else if let frame = try? RingFrame(parsing: value) {
        // A frame with an unknown command counts only where a ring has spoken.
        guard
          known.contains(place)
            || CommandTable.meaning(of: frame, isFromRing: isFromRing, pending: pending).isKnown
        else { return nil }
        if known.count < Self.capacity { known.insert(place) }
        content = .frame(meaning(of: frame, isFromRing))
      } else {
        return reject(place)
      }
    }
    var layer = RingLayer(content: content, isFromRing: isFromRing, isByShape: isByShape, range: range)
    if case .accelerometer(let sample)? = layer.sample {
      encoding.observe(sample)
      layer.encoding = encoding.encoding
    }
    return layer
  }

  /// A value was none of a ring's: none of that handle is.
  private mutating func reject(_ place: Place) -> RingLayer? {
    known.remove(place)
    if others.count < Self.othersCapacity { others.append(place) }
    return nil
  }

  private mutating func receive(_ value: RawSpan, _ place: Place, at moment: PacketTime) -> RingLayer.Content
  {
    if assemblers[place] == nil, assemblers.count >= Self.capacity { assemblers.removeAll() }
    var assembler = assemblers[place] ?? BulkAssembler()
    defer { assemblers[place] = assembler }
    let (nanoseconds, overflow) = (moment.microseconds ?? 0).multipliedReportingOverflow(by: 1000)
    let before = assembler.errors
    switch assembler.receive(value, at: Instant(nanoseconds: overflow ? 0 : nanoseconds)) {
    case .frame(let frame): return .bulk(frame)
    case .raw(let frame): return .frame(meaning(of: frame, place.isFromRing))
    case .incomplete:
      guard let open = assembler.openFrame else { return .damaged("a piece of nothing") }
      return .part(open.id, received: open.received, length: open.length)
    case .dropped:
      let after = assembler.errors
      if after.badCRC > before.badCRC { return .damaged("a bulk frame with a wrong CRC") }
      if after.tooLong > before.tooLong { return .damaged("a bulk frame that claims to be too long") }
      return .damaged("no bulk frame, and no piece of one")
    }
  }

  /// The meaning of a frame, given the frames sent before it.
  private mutating func meaning(of frame: RingFrame, _ isFromRing: Bool) -> DecodedFrame {
    let meaning = CommandTable.meaning(of: frame, isFromRing: isFromRing, pending: pending)
    if !isFromRing {
      pending = frame.command
    } else if pending == meaning.refusal?.command ?? frame.command {
      pending = nil
    }
    return meaning
  }

  /// The header of a bulk frame, and no more bytes than it announces.
  private static func looksLikeBulk(_ value: RawSpan) -> Bool {
    guard value.byte(at: 0) == BulkFrame.magic, let low = value.byte(at: 2), let high = value.byte(at: 3)
    else { return false }
    let length = Int(high) << 8 | Int(low)
    return length <= BulkFrame.maximumPayload && value.byteCount >= BulkFrame.headerLength
      && value.byteCount <= length + BulkFrame.headerLength
  }
}
