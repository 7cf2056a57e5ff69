import BluetoothCore
import HCI

/// The properties of the link. Each request for others ends with the procedure of the link layers, after 45 s at the
/// latest; another one does not wait for it.
extension GATTClient {
  /// The PHYs in use; nil if unknown.
  public var phys: LinkPHYs? { link.phys }

  /// The longest packets on air; nil if unknown.
  public var dataLengths: DataLengths? { link.dataLengths }

  /// Requests other connection parameters.
  ///
  /// - Returns: those in force
  @discardableResult
  public func updateParameters(_ parameters: ConnectionParameters) async throws(HCIError) -> LinkParameters {
    try await awaitCallback(cancelled: HCIError.cancelled) { done in
      link.update(parameters, completion: done)
    }
  }

  /// Requests PHYs, for both directions.
  ///
  /// - Parameter phys: the PHYs that may be used; empty for no preference
  /// - Returns: those in use; the peer may keep the ones that were used
  @discardableResult
  public func setPHYs(_ phys: LEPHYs) async throws(HCIError) -> LinkPHYs {
    try await awaitCallback(cancelled: HCIError.cancelled) { done in link.setPHYs(phys, completion: done) }
  }

  /// Requests longer or shorter packets to send. ``onLinkEvent`` reports the lengths in force, if they change.
  ///
  /// - Parameter octets: the maximum payload, 27 to 251 bytes
  public func setDataLength(_ octets: Int) async throws(HCIError) {
    try await awaitCallback(cancelled: HCIError.cancelled) { done in
      link.setDataLength(octets, completion: done)
    }
  }
}
