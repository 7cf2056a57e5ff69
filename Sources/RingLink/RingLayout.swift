import ATT
import GATTClient

/// Where a ring's attributes are, as discovered on an earlier link, and what proves that they are still there.
public struct RingLayout: Hashable, Sendable {
  public var commandWrite: Characteristic
  public var commandNotify: Characteristic
  /// The Client Characteristic Configuration of ``commandNotify``.
  public var configuration: AttributeHandle
  /// The firmware that had this layout.
  public var firmwareRevision: String?

  public init(
    commandWrite: Characteristic, commandNotify: Characteristic, configuration: AttributeHandle,
    firmwareRevision: String?
  ) {
    self.commandWrite = commandWrite
    self.commandNotify = commandNotify
    self.configuration = configuration
    self.firmwareRevision = firmwareRevision
  }
}
