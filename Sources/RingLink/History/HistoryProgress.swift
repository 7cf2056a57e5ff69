/// How far the reading of a history has come.
public struct HistoryProgress: Hashable, Sendable {
  public var kind: HistoryKind
  /// The day that is being read; nil for what comes in one piece.
  public var day: RingDay?
  /// Answers that are complete.
  public var completed: Int
  /// Answers that are asked for.
  public var total: Int
  /// Of the answer that arrives: its frames, or its bytes if it comes in one piece.
  public var received: Int
  /// How many there will be; nil if the ring has not told.
  public var expected: Int?

  public init(
    kind: HistoryKind, day: RingDay?, completed: Int, total: Int, received: Int, expected: Int?
  ) {
    self.kind = kind
    self.day = day
    self.completed = completed
    self.total = total
    self.received = received
    self.expected = expected
  }
}
