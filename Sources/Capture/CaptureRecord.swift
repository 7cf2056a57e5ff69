import BluetoothCore

/// Which way a packet went, seen from the host.
public enum CaptureDirection: Hashable, Sendable {
  case hostToController
  case controllerToHost
}

/// One packet of a capture.
public struct CaptureRecord: Hashable, Sendable {
  public var direction: CaptureDirection
  /// Microseconds since 1970-01-01 UTC.
  public var microseconds: Int64
  /// The HCI packet with its H4 type byte in front.
  public var packet: [UInt8]
  /// How long the packet was on the wire; more than `packet` holds if the capture cut it.
  public var originalLength: Int

  public init(
    direction: CaptureDirection, microseconds: Int64, packet: [UInt8], originalLength: Int? = nil
  ) {
    self.direction = direction
    self.microseconds = microseconds
    self.packet = packet
    self.originalLength = originalLength ?? packet.count
  }
}
