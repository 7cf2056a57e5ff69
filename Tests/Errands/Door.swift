/// A way by which a program uses devices. The errands are written against this, once for all doors.
protocol Door: AnyObject, Sendable {
  /// - Parameter adapter: which adapter, as `halo-raw --adapter` takes it
  static func open(_ adapter: String) async throws -> Self

  /// Finds a device, and connects to it.
  ///
  /// - Parameters:
  ///   - wanted: which device
  ///   - limit: after which the attempt is given up
  ///   - isKept: whether the link is made again when it is lost
  func connect(to wanted: Wanted, within limit: Duration, isKept: Bool) async throws -> any Device
  /// The names that devices advertise, until `take` returns false.
  func scan(_ take: (String) -> Bool) async throws
  /// Offers the served value, as a device named "Served", until the task is cancelled.
  func serve(_ served: any ServedEvents) async throws
  /// Another user of the same radio, who knows nothing of this one.
  func another() async throws -> any Door
  func close() async
}

/// Which device.
enum Wanted {
  case name(String)
  case service(String)
  case address(String)
}

/// A device that is connected.
protocol Device: AnyObject, Sendable {
  func read(_ value: RemoteValue) async throws -> [UInt8]
  func write(_ bytes: [UInt8], to value: RemoteValue) async throws
  /// Returns when the link has room for the next one.
  func writeWithoutResponse(_ bytes: [UInt8], to value: RemoteValue) async throws
  /// What the device sends of a value, until `take` returns false.
  func subscribe(to value: RemoteValue, _ take: ([UInt8]) -> Bool) async throws
  /// Returns when the link has ended, or has been left to others.
  func disconnect() async
}

/// A value of the devices in bumble_errands.py.
enum RemoteValue: String {
  case battery = "2A19"
  case long = "A001"
  case commands = "A002"
  case lengths = "A003"
  case count = "A004"
  case generation = "A101"

  var service: String {
    switch self {
    case .battery: "180F"
    case .generation: "A100"
    default: "A000"
    }
  }
}

/// What a door offers to clients: a service with one value, which is read, written, notified and indicated.
enum ServedValue {
  static let name = "Served"
  static let service = "B000"
  static let uuid = "B001"
  static let first = (0..<300).map { UInt8($0 % 251) }
}

/// What clients do with the served value.
protocol ServedEvents: AnyObject, Sendable {
  /// It is advertised.
  func began(_ server: any Served)
  func written(_ bytes: [UInt8])
  /// So many clients have subscribed.
  func subscribed(_ count: Int)
  /// A client has connected, or has used the value first: the device that it is can be used by its address.
  func met(_ client: String)
}

extension ServedEvents {
  func began(_ server: any Served) { say("begun") }
  func written(_ bytes: [UInt8]) { say("written", bytes) }
  func subscribed(_ count: Int) {}
  func met(_ client: String) {}
}

/// A served value.
protocol Served: AnyObject, Sendable {
  /// Sends a value to all that have subscribed, and returns when the next one can be sent.
  func send(_ bytes: [UInt8]) async throws
}

/// Why something failed, in a word that is the same for each door.
struct DoorError: Error, Equatable {
  let word: String

  static let cancelled = DoorError(word: "cancelled")
  static let linkLost = DoorError(word: "linkLost")
  static let notFound = DoorError(word: "notFound")
  static let timedOut = DoorError(word: "timedOut")
  static let invalidHandle = DoorError(word: "invalidHandle")

  static func ~= (pattern: DoorError, error: any Error) -> Bool { error as? DoorError == pattern }
}
