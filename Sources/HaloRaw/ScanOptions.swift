import HCI
import HaloBluetoothCore

/// The parameters of a scan for advertisements. If several scans run at once, the radio's scan has the parameters that each of
/// them needs.
public struct ScanOptions: Hashable, Sendable {
  /// Whether devices are asked for their scan response, which often has the name. A passive scan sends nothing.
  public var isActive: Bool
  /// The time from the beginning of one window to the next: 2.5 ms to 10.24 s.
  public var interval: Duration
  /// How long to listen in each interval; as long as that for a continuous scan.
  public var window: Duration
  /// Whether to scan on LE Coded, too, where the controller can: half of the time.
  public var includesCoded: Bool

  /// By default, the radio scans 1/8 of the time: on a Raspberry Pi, Wi-Fi shares the antenna.
  public init(
    isActive: Bool = true, interval: Duration = .milliseconds(80), window: Duration = .milliseconds(10),
    includesCoded: Bool = false
  ) {
    self.isActive = isActive
    self.interval = interval
    self.window = window
    self.includesCoded = includesCoded
  }
}

extension ScanParameters {
  init(_ options: ScanOptions) {
    self.init(
      isActive: options.isActive, interval: ScanInterval(options.interval),
      window: ScanInterval(options.window), includesCoded: options.includesCoded)
  }
}
