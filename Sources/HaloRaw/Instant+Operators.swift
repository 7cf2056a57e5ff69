import HaloBluetoothCore

/// The operators of the layers, for programs that import this module alone: operators are not exported with their type.
extension InstantProtocol where Self == Instant {
  /// The instant after a duration; the last one there is if it overflows.
  public static func + (instant: Self, duration: Swift.Duration) -> Self { instant.advanced(by: duration) }

  /// The duration from `earlier` to `later`.
  public static func - (later: Self, earlier: Self) -> Swift.Duration { earlier.duration(to: later) }
}
