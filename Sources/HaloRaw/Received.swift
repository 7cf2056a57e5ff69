import HaloBluetoothCore

/// A value that a device has sent.
public struct Received<Value: Sendable>: Sendable {
  public let value: Value
  /// When its packet was received, by the clock of the radio.
  public let time: Instant
  /// How many values before it were dropped, as they were not fetched in time.
  public internal(set) var dropped = 0
  /// How many values before it could not be decoded; an iteration over bytes (`CharacteristicID<[UInt8]>`) gets those, too.
  public let undecodable: Int
  /// How long nothing could be received before it, as the link was lost and made again; nil for most values.
  public let gap: Duration?
}

extension Received: Equatable where Value: Equatable {}
