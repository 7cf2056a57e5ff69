/// The heart rates of a day (ring reference, 4.10): four bytes with the time that was asked for, then the slots.
public struct HeartRateLogAssembler: LogAssembler {
  private let request: DayByTime
  private var pieces: LogPieces

  public static let forms = [
    LogPieces.noDataForm, LogPieces.headerForm,
    FrameForm(
      "first values", startingWith: [1],
      [FrameField("time", at: 2, .uint32LittleEndian, .seconds), FrameField("values", at: 6, .bytes(9))]),
    FrameForm("values", [FrameField("frame", at: 1, .uint8), FrameField("values", at: 2, .bytes(13))]),
  ]

  /// Answers about today end with frame 23, whatever the ring says.
  public init(_ request: DayByTime) {
    self.request = request
    pieces = LogPieces(limit: request.isToday ? 24 : 255)
  }

  public mutating func receive(_ frame: RingFrame) throws(RingFrameError) -> LogProgress<SlotLog> {
    if LogPieces.isNoData(frame) { return .complete(.empty) }
    switch try pieces.receive(frame) {
    case .incomplete(let received, let count): return .incomplete(received: received, of: count)
    case .gaps(let gaps): return .gaps(gaps)
    case .complete(let bytes):
      guard bytes.count >= 4 else { return .complete(.empty) }
      let seconds = bytes.prefix(4).reversed().reduce(0) { $0 << 8 | Int($1) }
      let day = RingTime(seconds: seconds).day
      guard day == request.day else { throw .value("it is about \(day), not \(request.day)") }
      return .complete(Self.log(pieces.minutesPerSlot, Array(bytes.dropFirst(4))))
    }
  }

  /// Old firmware keeps slots of five minutes whatever interval it tells: values beyond the day's end give it away.
  private static func log(_ minutes: Int, _ values: [UInt8]) -> SlotLog {
    var log = SlotLog(minutesPerSlot: minutes, values: values)
    if minutes > 5, values.prefix(288).dropFirst(log.slotsOfDay).contains(where: { $0 != 0 }) {
      log.minutesPerSlot = 5
    }
    log.values = Array(values.prefix(log.slotsOfDay))
    return log
  }

  public static func frames(
    of log: SlotLog, command: RingCommand, to request: DayByTime
  ) -> [RingFrame] {
    guard !log.values.isEmpty else { return LogPieces.noData(command) }
    let time = (0..<4).map { UInt8(truncatingIfNeeded: request.seconds >> ($0 * 8)) }
    return LogPieces.frames(command, minutesPerSlot: log.minutesPerSlot, time + log.values)
  }
}
