import HaloRaw

/// A way by which a program uses devices. The errands are written against this, once for all doors.
@BluetoothActor
package protocol Door: AnyObject, Sendable {
  /// Finds a device, and connects to it.
  ///
  /// - Parameters:
  ///   - wanted: which device
  ///   - limit: after which the attempt is given up
  ///   - isKept: whether the link is made again when it is lost
  func connect(to wanted: Wanted, within limit: Duration, isKept: Bool) async throws -> any Device
  /// The names that devices advertise, until `take` returns false.
  func scan(_ take: @BluetoothActor (String) -> Bool) async throws
  /// Offers the served value, as a device named "Served", until the task is cancelled.
  func serve(_ served: any ServedEvents) async throws
  /// Another user of the same radio, who knows nothing of this one.
  func another() async throws -> any Door
  func close() async

  /// The time of the door: how long ago something was that never changes.
  var time: Duration { get }
  /// Waits in that time.
  ///
  /// - Throws: when the task is cancelled
  func sleep(for duration: Duration) async throws
}

/// Which device.
package enum Wanted: Sendable {
  case name(String)
  case service(String)
  case address(String)
}

/// A device that is connected.
@BluetoothActor
package protocol Device: AnyObject, Sendable {
  func read(_ value: RemoteValue) async throws -> [UInt8]
  func write(_ bytes: [UInt8], to value: RemoteValue) async throws
  /// Returns when the link has room for the next one.
  func writeWithoutResponse(_ bytes: [UInt8], to value: RemoteValue) async throws
  /// What the device sends of a value, until `take` returns false.
  func subscribe(to value: RemoteValue, _ take: @BluetoothActor ([UInt8]) -> Bool) async throws
  /// Returns when the link has ended, or has been left to others.
  func disconnect() async
}

/// A value of the devices in bumble_errands.py and Lamp.swift.
package enum RemoteValue: String, Sendable {
  case battery = "2A19"
  case long = "A001"
  case commands = "A002"
  case lengths = "A003"
  case count = "A004"
  case generation = "A101"

  package var service: String {
    switch self {
    case .battery: "180F"
    case .generation: "A100"
    default: "A000"
    }
  }
}

/// Why something failed, in a word that is the same for each door.
package struct DoorError: Error, Equatable {
  package let word: String

  package init(word: String) { self.word = word }

  package static let cancelled = DoorError(word: "cancelled")
  package static let linkLost = DoorError(word: "linkLost")
  package static let notFound = DoorError(word: "notFound")
  package static let timedOut = DoorError(word: "timedOut")
  package static let invalidHandle = DoorError(word: "invalidHandle")

  package static func ~= (pattern: DoorError, error: any Error) -> Bool { error as? DoorError == pattern }
}
