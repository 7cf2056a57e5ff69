import BluetoothCore

/// Puts the ACL fragments of one link together to L2CAP frames (Core Specification Vol 3, Part A, 7.2).
///
/// A frame that lies whole in one fragment is handed on where it lies. Others are collected in one buffer,
/// which never grows beyond the largest frame that is accepted; larger ones are skipped, not collected.
///
/// A class, so that those who get a frame may ask for the counters meanwhile; ``receive(_:isStart:deliver:)`` itself
/// must not be called from within `deliver`.
public final class Recombiner {
  /// What was dropped, and why.
  public struct Counters: Hashable, Sendable {
    /// Frames whose end never came, because another one began.
    public var unfinished = 0
    /// Continuations with nothing to continue.
    public var orphans = 0
    /// Frames with more bytes than their header said.
    public var overlong = 0
    /// Frames larger than what is accepted.
    public var tooLarge = 0
  }

  public private(set) var counters = Counters()
  private let maximumPayload: Int
  private var partial: ByteWriter
  /// Whether a frame has begun; its first fragment may be empty.
  private var hasBegun = false
  /// What is left to come of a frame that is skipped.
  private var skipping = 0

  /// - Parameters:
  ///   - maximumPayload: the largest frame that is accepted, in bytes without the header
  ///   - reserved: for how large a frame there is room from the start; nil for the largest
  public init(maximumPayload: Int = 1024, reserved: Int? = nil) {
    self.maximumPayload = maximumPayload
    partial = ByteWriter(capacity: (reserved ?? maximumPayload) + BasicHeader.length)
  }

  /// Whether a frame has begun and is not complete.
  public var isCollecting: Bool { hasBegun || skipping > 0 }

  /// Takes the data of an ACL packet.
  ///
  /// - Parameters:
  ///   - isStart: whether the packet boundary flag says that a frame begins here
  ///   - deliver: gets the channel and payload of a frame that is complete; the span is valid only during the call
  public func receive(
    _ fragment: RawSpan, isStart: Bool, deliver: (ChannelID, RawSpan) -> Void
  ) {
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

  /// Forgets a frame that is not complete.
  public func reset() {
    partial.removeAll()
    hasBegun = false
    skipping = 0
  }

  private func collect(_ fragment: RawSpan, deliver: (ChannelID, RawSpan) -> Void) {
    let limit = maximumPayload + BasicHeader.length
    guard partial.count + fragment.byteCount <= limit else {
      // Either it is more than was announced, or more than is accepted was announced.
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

  /// The length of the frame that ``partial`` and `fragment` are the beginning of.
  private func wholeLength(with fragment: RawSpan) -> Int {
    if let known = Self.frameLength(partial.span) { return known }
    var start = partial
    start.write(fragment.extracting(0..<min(fragment.byteCount, BasicHeader.length)))
    return Self.frameLength(start.span) ?? 0
  }

  /// Length of the frame with its header, once its first two bytes are there.
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
