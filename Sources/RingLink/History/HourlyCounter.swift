/// A number for each hour of a day, of unknown meaning: a tally that the wearer counts up (ring reference, 4.16).
public struct HourlyCounter: Hashable, Sendable {
  /// From midnight on; none if the ring has nothing of that day.
  public var values: [UInt16]

  public init(values: [UInt16]) {
    self.values = values
  }
}

/// A byte with the day, then 24 numbers of 16 bits, little-endian.
public struct HourlyCounterAssembler: LogAssembler {
  private let request: ReadDaysAgo
  private var pieces = LogPieces()

  /// 2 would set the counter back.
  public static let requestPrefix: [UInt8] = [1]

  public static let forms = [
    LogPieces.noDataForm, LogPieces.headerForm,
    FrameForm(
      "first values", startingWith: [1],
      [FrameField("days-ago", at: 2, .uint8, .days), FrameField("values", at: 3, .bytes(12))]),
    FrameForm("values", [FrameField("frame", at: 1, .uint8), FrameField("values", at: 2, .bytes(13))]),
  ]

  public init(_ request: ReadDaysAgo) {
    self.request = request
  }

  public mutating func receive(_ frame: RingFrame) throws(RingFrameError) -> LogProgress<HourlyCounter> {
    if LogPieces.isNoData(frame) { return .complete(HourlyCounter(values: [])) }
    switch try pieces.receive(frame) {
    case .incomplete(let received, let count): return .incomplete(received: received, of: count)
    case .gaps(let gaps): return .gaps(gaps)
    case .complete(let bytes):
      guard let daysAgo = bytes.first else { return .complete(HourlyCounter(values: [])) }
      guard daysAgo == request.daysAgo else {
        throw .value("it is about \(daysAgo) days ago, not \(request.daysAgo)")
      }
      let values = stride(from: 1, to: min(bytes.count - 1, 49), by: 2).map {
        UInt16(bytes[$0]) | UInt16(bytes[$0 + 1]) << 8
      }
      return .complete(HourlyCounter(values: values))
    }
  }

  public static func frames(
    of counter: HourlyCounter, command: RingCommand, to request: ReadDaysAgo
  ) -> [RingFrame] {
    guard !counter.values.isEmpty else { return LogPieces.noData(command) }
    let bytes = counter.values.flatMap { [UInt8(truncatingIfNeeded: $0), UInt8($0 >> 8)] }
    return LogPieces.frames(command, minutesPerSlot: 60, [request.daysAgo] + bytes)
  }
}
