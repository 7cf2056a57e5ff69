/// Stress or heart rate variability of a day (ring reference, 4.12): a byte with the day, then the slots.
public struct DaySlotLogAssembler: LogAssembler {
  private let request: DaysAgo
  private var pieces = LogPieces()

  public static let forms = [
    LogPieces.noDataForm, LogPieces.headerForm,
    FrameForm(
      "first values", startingWith: [1],
      [FrameField("days-ago", at: 2, .uint8, .days), FrameField("values", at: 3, .bytes(12))]),
    FrameForm("values", [FrameField("frame", at: 1, .uint8), FrameField("values", at: 2, .bytes(13))]),
  ]

  public init(_ request: DaysAgo) {
    self.request = request
  }

  public mutating func receive(_ frame: RingFrame) throws(RingFrameError) -> LogProgress<SlotLog> {
    if LogPieces.isNoData(frame) { return .complete(.empty) }
    switch try pieces.receive(frame) {
    case .incomplete(let received, let count): return .incomplete(received: received, of: count)
    case .gaps(let gaps): return .gaps(gaps)
    case .complete(let bytes):
      guard let daysAgo = bytes.first else { return .complete(.empty) }
      guard daysAgo == request.daysAgo else {
        throw .value("it is about \(daysAgo) days ago, not \(request.daysAgo)")
      }
      var log = SlotLog(minutesPerSlot: pieces.minutesPerSlot, values: Array(bytes.dropFirst()))
      log.values = Array(log.values.prefix(log.slotsOfDay))
      return .complete(log)
    }
  }

  public static func frames(
    of log: SlotLog, command: RingCommand, to request: DaysAgo
  ) -> [RingFrame] {
    guard !log.values.isEmpty else { return LogPieces.noData(command) }
    return LogPieces.frames(
      command, minutesPerSlot: log.minutesPerSlot, [request.daysAgo] + log.values)
  }
}
