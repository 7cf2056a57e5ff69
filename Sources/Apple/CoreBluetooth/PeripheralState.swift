internal import ATT

extension CBPeripheral {
  /// The state of a peripheral that the program's queue, other threads and the loop share.
  struct Shared {
    weak var delegate: (any CBPeripheralDelegate)?
    var name: String?
    var connection = ManagedConnection()
    /// The link, from the call of the delegate for its begin until the one for its end.
    private(set) var link: PeripheralLink?
    var services: [CBService]?
    var mtu = ATTBearer.defaultMTU
    var credits = WriteCredits()

    init(name: String?) {
      self.name = name
    }

    /// The link is established.
    mutating func established(_ driver: PeripheralLink) -> ManagedConnection.Report? {
      let report = connection.established(driver)
      guard report != nil else { return nil }
      link = driver
      credits = .whole
      mtu = ATTBearer.defaultMTU
      return report
    }

    /// The attempt is over.
    mutating func ended(
      _ driver: PeripheralLink, _ ending: ManagedConnection.Ending
    ) -> (ManagedConnection.Command?, ManagedConnection.Report?) {
      if link === driver { detach() }
      return connection.ended(driver, ending)
    }

    /// There is no link any more.
    mutating func detach() {
      link = nil
      services = nil
      credits = WriteCredits()
    }
  }
}

/// How many writes without response a program may hand over before the link has taken the earlier ones.
struct WriteCredits {
  /// Writes that may be on their way to the link.
  static let maximum = 32
  /// Writes that wait at most if a program does not ask for credits.
  static let maximumWaiting = 512

  enum Taking {
    case taken
    case dropped(isFirst: Bool)
  }

  /// How many more the link takes at once; negative for those that wait.
  private var count = 0
  /// Whether the program waits for room.
  private var needsReadyCallback = false
  private var hasDropped = false

  /// The credits of a new link.
  static var whole: WriteCredits {
    var credits = WriteCredits()
    credits.count = maximum
    return credits
  }

  /// Whether a write is sent at once; after false, ``give()`` says when there is room again.
  mutating func ask() -> Bool {
    if count == 0 { needsReadyCallback = true }
    return count > 0
  }

  /// The program writes.
  mutating func take() -> Taking {
    if count <= 1 { needsReadyCallback = true }
    guard Self.maximum - count < Self.maximumWaiting else {
      defer { hasDropped = true }
      return .dropped(isFirst: !hasDropped)
    }
    count -= 1
    return .taken
  }

  /// A write has left.
  ///
  /// - Returns: whether the delegate is called: the program waits, and there is room again
  mutating func give() -> Bool {
    count += 1
    guard needsReadyCallback, count >= Self.maximum / 2 else { return false }
    needsReadyCallback = false
    return true
  }
}
