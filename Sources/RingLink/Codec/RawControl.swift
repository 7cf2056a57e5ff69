import BluetoothCore

/// What the host asks of the raw stream: the second byte of a 0xA1 request (ring reference, 5.1).
public struct RawControl: RawRepresentable, Hashable, Sendable {
  public var rawValue: UInt8

  public init(rawValue: UInt8) {
    self.rawValue = rawValue
  }

  /// Ends a stream; on newer firmware it leaves the light on that ``stream`` switched on.
  public static let stop = RawControl(rawValue: 2)
  /// One set of samples, no stream.
  public static let once = RawControl(rawValue: 3)
  /// All sensors until stopped. Ends whatever measurement runs.
  public static let stream = RawControl(rawValue: 4)
  /// Releases the light that ``stream`` took.
  public static let release = RawControl(rawValue: 5)

  /// The request. Its third byte stays zero: the form that was captured from working hosts; some write 4
  /// there, and no firmware that has been read looks at it.
  public var frame: RingFrame { RingFrame(.rawStream, rawValue) }

  /// Starts the stream. There is no acknowledgement: the first samples are the answer, or a
  /// ``RawSample/refused``.
  public static var start: RingFrame { stream.frame }

  /// What ends the stream, to be sent in this order and without waiting: the oldest rings need only the
  /// second, newer ones keep their light on without the first.
  public static var stopSequence: [RingFrame] { [release.frame, stop.frame] }
}
