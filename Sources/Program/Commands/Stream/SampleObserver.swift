import HaloBluetoothCore
import HaloCommandLine
import HaloPulse
import RingLink

/// Gets the samples of a stream besides its output.
@BluetoothActor
protocol SampleObserver: AnyObject {
  /// The stream has begun.
  ///
  /// - Parameters:
  ///   - identification: the task that reads the firmware of a new ring; to be waited for before the ring is asked for more
  ///   - ring: the ring, on its link of now
  func begin(after identification: Task<Void, Never>?, _ ring: @escaping @BluetoothActor () -> RingClient)
  func take(_ sample: RawSample, at time: Instant)
  /// - Parameter packet: the unwrapped number of the sample's packet
  func take(_ sample: CountedSample, packet: Int, at time: Instant)
  func mark(_ mark: SampleWriter.Mark, at time: Instant)
  /// The light has shown how good a second was; only if beats are looked for.
  func take(_ second: PulseSecond)
  /// The ring has reported something itself.
  func take(_ event: RingEvent, at time: Instant)
  /// The stream has ended. Nothing is asked of the ring afterwards.
  func end() async
  /// Lines for the end of the stream.
  var summary: [String] { get }
}

extension SampleObserver {
  func take(_ second: PulseSecond) {}
  func take(_ event: RingEvent, at time: Instant) {}
  var summary: [String] { [] }
}
