import HaloGATT

/// The fate of a value for the clients that have subscribed to it: see ``LocalCharacteristic/notify(_:to:keepsOnlyNewest:)``.
public struct Deliveries: Sendable {
  /// To how many clients it was sent.
  public internal(set) var sent = 0
  /// The number of clients for which it waits, until their links have room, or until they have confirmed an earlier indication.
  public internal(set) var queued = 0
  /// The clients that do not get it: they have taken nothing for a second, and too many values wait for them.
  public internal(set) var full: [Connection] = []
  /// The clients that get its beginning, as it is longer than their MTU less 3 bytes.
  public internal(set) var cut: [Connection] = []

  /// Whether no client has subscribed.
  public var isEmpty: Bool { sent == 0 && queued == 0 && full.isEmpty }
}

/// The fate of a value, and the clients that have had no room for it.
struct Outcome {
  var deliveries = Deliveries()
  var full: [ServedClient] = []

  /// Whether a client has taken it.
  var isTaken: Bool { deliveries.sent > 0 || deliveries.queued > 0 }

  mutating func add(_ client: ServedClient, _ delivery: ServerBearer.Delivery, isCut: Bool) {
    switch delivery {
    case .sent: deliveries.sent += 1
    case .queued: deliveries.queued += 1
    case .full: return full.append(client)
    case .notSubscribed: return
    }
    if isCut { deliveries.cut.append(client.connection) }
  }
}
