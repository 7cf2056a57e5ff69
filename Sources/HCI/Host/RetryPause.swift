import BluetoothCore

/// How long to wait before the controller is asked again for what it has refused: each time twice as long.
struct RetryPause {
  static let first = Duration.milliseconds(250)
  static let longest = Duration.seconds(10)

  /// How often in a row it was refused.
  private(set) var refusals = 0

  /// Counts a refusal.
  ///
  /// - Returns: the pause
  mutating func refused() -> Duration {
    refusals += 1
    return min(Self.first * (1 << min(refusals - 1, 10)), Self.longest)
  }

  /// The controller does what it is asked for, or it is no longer asked.
  mutating func end() { refusals = 0 }
}
