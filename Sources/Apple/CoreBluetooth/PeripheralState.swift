internal import ATT
internal import HaloRaw

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
