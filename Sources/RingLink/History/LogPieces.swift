/// The frames of a log that is a row of bytes cut into pieces of 13 (ring reference, 4.10 and 4.12): byte 1 is the
/// frame's number, frame 0 tells how many there are and the minutes that a value stands for.
struct LogPieces {
  /// Frame 0 is counted.
  private(set) var count: Int?
  private(set) var minutesPerSlot = 0
  private var pieces: [Int: [UInt8]] = [:]
  private let limit: Int

  /// In every frame but the first.
  static let length = 13

  static let headerForm = FrameForm(
    "header", startingWith: [0],
    [FrameField("frames", at: 2, .uint8), FrameField("interval", at: 3, .uint8, .minutes)])
  static let noDataForm = FrameForm("no data", startingWith: [0xFF])

  /// - Parameter limit: the answer ends after so many frames, whatever the ring says
  init(limit: Int = 255) {
    self.limit = limit
  }

  /// Takes a frame that is not ``noDataForm``. The contents are the bytes in a row; none if there is nothing but a
  /// header.
  mutating func receive(_ frame: RingFrame) throws(RingFrameError) -> LogProgress<[UInt8]> {
    let index = Int(frame.byte(at: 1))
    if index > 0 {
      pieces[index] = (2..<2 + Self.length).map(frame.byte(at:))
    } else if count == nil {
      guard frame.byte(at: 2) > 0 else { throw .value("an answer can't have 0 frames") }
      guard frame.byte(at: 3) > 0 else { throw .value("a value can't stand for 0 minutes") }
      count = Int(frame.byte(at: 2))
      minutesPerSlot = Int(frame.byte(at: 3))
    }
    guard let count else { return .incomplete(received: pieces.count, of: nil) }
    let frames = 1..<max(1, min(count, limit))
    let missing = frames.filter { pieces[$0] == nil }
    if missing.isEmpty { return .complete(frames.flatMap { pieces[$0] ?? [] }) }
    return missing.last == frames.last
      ? .incomplete(received: frames.count + 1 - missing.count, of: frames.count + 1) : .gaps(missing)
  }

  static func frames(_ command: RingCommand, minutesPerSlot: Int, _ bytes: [UInt8]) -> [RingFrame] {
    let pieces = stride(from: 0, to: bytes.count, by: length).map {
      bytes[$0..<min($0 + length, bytes.count)]
    }.prefix(254)
    let header = RingFrame(
      command, 0, UInt8(clamping: pieces.count + 1), UInt8(clamping: minutesPerSlot))
    return [header]
      + pieces.enumerated().map { index, piece in
        RingFrame(command) {
          $0.store(UInt8(clamping: index + 1), at: 1)
          $0.store(piece, at: 2)
        }
      }
  }

  /// What a ring answers that has nothing of that day.
  static func noData(_ command: RingCommand) -> [RingFrame] { [RingFrame(command, 0xFF)] }

  static func isNoData(_ frame: RingFrame) -> Bool { frame.byte(at: 1) == 0xFF }
}

/// What a ring has stored of a day at intervals.
public struct SlotLog: Hashable, Sendable {
  public var minutesPerSlot: Int
  /// From midnight on, 0 for no value; none at all if the ring has nothing of that day.
  public var values: [UInt8]

  public init(minutesPerSlot: Int, values: [UInt8]) {
    self.minutesPerSlot = minutesPerSlot
    self.values = values
  }

  public static let empty = SlotLog(minutesPerSlot: 5, values: [])

  /// How many slots a day has.
  var slotsOfDay: Int { 1440 / max(minutesPerSlot, 1) }
}
