import Foundation
internal import HaloRaw
internal import HaloSystem

/// A program's settings of the picker.
open class ASPickerDisplaySettings: NSObject, @unchecked Sendable {
  /// How long the picker waits for the first accessory that matches, in seconds.
  public struct DiscoveryTimeout: RawRepresentable, Hashable, Sendable {
    public let rawValue: TimeInterval

    public init(rawValue: TimeInterval) {
      self.rawValue = rawValue
    }

    /// One minute.
    public static let short = DiscoveryTimeout(rawValue: 60)
    /// Two minutes.
    public static let medium = DiscoveryTimeout(rawValue: 120)
    /// Five minutes.
    public static let long = DiscoveryTimeout(rawValue: 300)
    /// As long as the program does not end the session.
    public static let unbounded = DiscoveryTimeout(rawValue: .infinity)
  }

  private let timeout = LockedValue(DiscoveryTimeout(rawValue: 30))

  /// New settings, without a change.
  open class var `default`: ASPickerDisplaySettings { ASPickerDisplaySettings() }

  /// 30 s at first. Without a terminal, the picker fails then; on a terminal, the user cancels it.
  open var discoveryTimeout: DiscoveryTimeout {
    get { timeout.withLock { $0 } }
    set { timeout.withLock { $0 = newValue } }
  }
}
