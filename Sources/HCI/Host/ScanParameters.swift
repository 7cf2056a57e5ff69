/// The parameters of a scan.
package struct ScanParameters: Hashable, Sendable {
  /// Whether scan requests are sent.
  package var isActive: Bool
  package var interval: ScanInterval
  /// How long to listen in each interval.
  package var window: ScanInterval
  package var filtersDuplicates: Bool
  /// Whether to scan on LE Coded, too. A controller that cannot scans on LE 1M alone, which it reports as a refusal.
  package var includesCoded: Bool

  package init(
    isActive: Bool = true, interval: ScanInterval = ScanInterval(.milliseconds(80)),
    window: ScanInterval = ScanInterval(.milliseconds(10)), filtersDuplicates: Bool = false,
    includesCoded: Bool = false
  ) {
    self.isActive = isActive
    self.interval = interval
    self.window = min(window, interval)
    self.filtersDuplicates = filtersDuplicates
    self.includesCoded = includesCoded
  }

  /// Scans 1/8 of the time: on a Raspberry Pi, Wi-Fi shares the antenna.
  package static let gentle = ScanParameters()
  /// Scans continuously.
  package static let aggressive = ScanParameters(window: ScanInterval(.milliseconds(80)))
}
