import HaloBluetoothCore
import HaloGATT

/// A service that a program offers to other devices.
///
/// ```swift
/// let temperature = LocalCharacteristic(.temperature, 20.5)
/// let service = LocalService("181A", temperature)
/// ```
public struct LocalService: Sendable {
  /// Its type.
  public let uuid: BluetoothUUID
  /// Whether the advertisement has it, so that it is found by those who look for it.
  public let isAdvertised: Bool
  let characteristics: [any ServedCharacteristic]

  /// - Parameters:
  ///   - uuid: its type
  ///   - isAdvertised: whether the advertisement has it
  ///   - characteristics: what it has, in the order of their handles
  public init<each Value: GATTValue>(
    _ uuid: BluetoothUUID, isAdvertised: Bool = true,
    _ characteristics: repeat LocalCharacteristic<each Value>
  ) {
    self.uuid = uuid
    self.isAdvertised = isAdvertised
    var all: [any ServedCharacteristic] = []
    for characteristic in repeat each characteristics { all.append(characteristic) }
    self.characteristics = all
  }
}
