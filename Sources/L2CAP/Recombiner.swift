import HaloBluetoothCore

/// Recombines the ACL fragments of one link into L2CAP frames (Core Specification Vol 3, Part A, 7.2).
///
/// A frame contained in one fragment is delivered in place. Others are collected in one buffer, which never exceeds the
/// largest accepted frame; larger frames are skipped.
///
/// A class, so that `deliver` can read the counters; it must not call ``receive(_:isStart:deliver:)``.
package final class Recombiner {
  /// Counts of discarded input.
  package struct Counters: Hashable, Sendable {
    /// Incomplete frames, interrupted by the start of another one.
    package var unfinished = 0
    /// Continuation fragments without a frame.
    package var orphans = 0
    /// Frames longer than stated in their header.
    package var overlong = 0
    /// Frames larger than the accepted maximum.
    package var tooLarge = 0
  }

  /// Discarded input, counted.
  @exclusivity(unchecked) package private(set) var counters = Counters()
  private let maximumPayload: Int
  @exclusivity(unchecked) private var partial: ByteWriter
  /// Whether a frame has begun; its first fragment may be empty.
  @exclusivity(unchecked) private var hasBegun = false
  /// The number of bytes still to be skipped of a frame.
  @exclusivity(unchecked) private var skipping = 0

  /// - Parameters:
  ///   - maximumPayload: the largest accepted frame, in bytes without the header
  ///   - reserved: the frame size to reserve memory for; nil for the largest
  package init(maximumPayload: Int = 1024, reserved: Int? = nil) {
    self.maximumPayload = maximumPayload
    partial = ByteWriter(capacity: (reserved ?? maximumPayload) + BasicHeader.length)
  }

  /// Whether a frame has begun and is not complete.
  package var isCollecting: Bool { hasBegun || skipping > 0 }

  /// Processes the data of an ACL packet.
  ///
  /// - Parameters:
  ///   - fragment: the data, without the ACL header
  ///   - isStart: whether the packet boundary flag marks the start of a frame
  ///   - deliver: called with the channel and payload of a complete frame; the span is valid only during the
  ///     call
  package func receive(_ fragment: RawSpan, isStart: Bool, deliver: (ChannelID, RawSpan) -> Void) {
    if isStart {
      if hasBegun || skipping > 0 { counters.unfinished += 1 }
      reset()
      if let whole = Self.frameLength(fragment), fragment.byteCount >= whole {
        guard fragment.byteCount == whole else {
          counters.overlong += 1
          return
        }
        guard whole - BasicHeader.length <= maximumPayload else {
          counters.tooLarge += 1
          return
        }
        Self.deliver(fragment, deliver)
        return
      }
      hasBegun = true
    } else if skipping > 0 {
      skipping = max(0, skipping - fragment.byteCount)
      return
    } else if !hasBegun {
      counters.orphans += 1
      return
    }
    collect(fragment, deliver: deliver)
  }

  /// Discards an incomplete frame.
  package func reset() {
    if partial.count > 0 { partial.removeAll() }
    hasBegun = false
    skipping = 0
  }

  private func collect(_ fragment: RawSpan, deliver: (ChannelID, RawSpan) -> Void) {
    let limit = maximumPayload + BasicHeader.length
    guard partial.count + fragment.byteCount <= limit else {
      // Either the data exceeds the stated length, or that length exceeds the accepted maximum.
      let whole = wholeLength(with: fragment)
      let received = partial.count + fragment.byteCount
      reset()
      if whole > limit {
        counters.tooLarge += 1
        skipping = max(0, whole - received)
      } else {
        counters.overlong += 1
      }
      return
    }
    partial.write(fragment)
    guard let whole = Self.frameLength(partial.span) else { return }
    if whole > limit {
      let rest = whole - partial.count
      reset()
      counters.tooLarge += 1
      skipping = rest
    } else if partial.count == whole {
      hasBegun = false
      Self.deliver(partial.span, deliver)
      partial.removeAll()
    } else if partial.count > whole {
      counters.overlong += 1
      reset()
    }
  }

  /// The length of the frame that starts with ``partial`` and `fragment`.
  private func wholeLength(with fragment: RawSpan) -> Int {
    if let known = Self.frameLength(partial.span) { return known }
    var start = partial
    start.write(fragment.extracting(0..<min(fragment.byteCount, BasicHeader.length)))
    return Self.frameLength(start.span) ?? 0
  }

  /// The length of the frame with its header, if its first two bytes are available.
  private static func frameLength(_ bytes: RawSpan) -> Int? {
    guard let low = bytes.byte(at: 0), let high = bytes.byte(at: 1) else { return nil }
    return (Int(high) << 8 | Int(low)) + BasicHeader.length
  }

  private static func deliver(_ frame: RawSpan, _ deliver: (ChannelID, RawSpan) -> Void) {
    guard let low = frame.byte(at: 2), let high = frame.byte(at: 3) else { return }
    deliver(
      ChannelID(rawValue: UInt16(high) << 8 | UInt16(low)),
      frame.extracting(BasicHeader.length..<frame.byteCount))
  }
}
