import ATT
import BluetoothCore
import RingLink

/// Finds a ring's frames among the values on a link: by the UUID of the characteristic, or by their shape where the
/// discovery is not in the capture.
struct RingTracker {
  /// Characteristics whose bulk frames are put together at a time; a ring has two.
  static let capacity = 8

  private struct Place: Hashable {
    var handle: AttributeHandle
    var isFromRing: Bool
  }

  private var assemblers: [Place: BulkAssembler] = [:]
  /// Handles without a UUID where a command of the table was seen: their values belong to a ring.
  private var known: Set<Place> = []

  /// The command that was sent to the ring last, and is not answered.
  private var pending: RingCommand?

  /// Handles a written or notified value.
  ///
  /// - Parameter range: its range in `source`
  /// - Returns: nil if this is not a ring
  mutating func take(
    _ source: RawSpan, _ range: Range<Int>, handle: AttributeHandle, uuid: BluetoothUUID?, isFromRing: Bool,
    at moment: Moment
  ) -> RingLayer? {
    let value = source.extracting(range)
    var layer = RingLayer(
      content: .damaged(""), isFromRing: isFromRing, isByShape: uuid == nil, range: range)
    switch uuid {
    case RingGATT.commandWrite?, RingGATT.commandNotify?:
      do throws(RingFrameError) {
        layer.content = .frame(meaning(of: try RingFrame(parsing: value), isFromRing))
      } catch {
        layer.content = .damaged("\(error)")
      }
    case RingGATT.bulkWrite?, RingGATT.bulkNotify?:
      layer.content = receive(value, Place(handle: handle, isFromRing: isFromRing), at: moment)
    case .some: return nil
    case nil:
      let place = Place(handle: handle, isFromRing: isFromRing)
      if assemblers[place]?.openFrame != nil || Self.looksLikeBulk(value) {
        layer.content = receive(value, place, at: moment)
        // Not one byte of it can be trusted then.
        if case .damaged = layer.content { return nil }
      } else if let frame = try? RingFrame(parsing: value),
        known.contains(place)
          || CommandTable.meaning(of: frame, isFromRing: isFromRing, pending: pending).entry != nil
      {
        if known.count < Self.capacity { known.insert(place) }
        layer.content = .frame(meaning(of: frame, isFromRing))
      } else {
        return nil
      }
    }
    return layer
  }

  private mutating func receive(_ value: RawSpan, _ place: Place, at moment: Moment) -> RingLayer.Content {
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
  private mutating func meaning(of frame: RingFrame, _ isFromRing: Bool) -> FrameMeaning {
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
