import HCI
import HaloBluetoothCore
import HaloGATT

/// The properties of the link. Each request for others ends with the procedure of the link layers, after 45 s at the
/// latest; another one does not wait for it.
extension GATTLink {
  /// The role of this side: whether it has connected, or has advertised.
  package var role: LERole { link.role }

  /// The address of this side on the link; nil if unknown.
  package var localAddress: BluetoothAddress? { link.localAddress }

  /// The encryption of the link, and the key of that; none if the kernel does not report it.
  package var security: LinkSecurity { link.security }

  /// Raises the security of the link: encrypts it with the keys of a bond, or pairs, as the settings of its radio allow.
  ///
  /// - Throws: `.keyMissing` if the peer has forgotten the bond; `.pairingFailed`
  package func secure(to level: LESecurityLevel) async throws(StackError) {
    try await awaitCallback(cancelled: .cancelled) { link.secure(to: level, completion: $0) }
  }

  /// The connection parameters; nil if unknown.
  package var parameters: LinkParameters? { link.parameters }

  /// The PHYs in use; nil if unknown.
  package var phys: LinkPHYs? { link.phys }

  /// The longest packets on air; nil if unknown.
  package var dataLengths: DataLengths? { link.dataLengths }

  /// The largest ATT PDU that both ends take, in bytes.
  package var mtu: Int { gatt.mtu }

  /// The number of the peer's connection parameter requests that were rejected because there were too many.
  package var excessParameterRequests: Int { link.excessParameterRequests }

  /// The signal strength in dBm; nil if it is not available.
  package func readRSSI() async throws(StackError) -> Int8? {
    try await link.readRSSI()
  }

  /// Requests other connection parameters.
  ///
  /// - Returns: those in force
  @discardableResult
  package func updateParameters(
    _ parameters: ConnectionParameters
  ) async throws(StackError) -> LinkParameters {
    try await awaitCallback(cancelled: .cancelled) { link.update(parameters, completion: $0) }
  }

  /// Requests PHYs, for both directions.
  ///
  /// - Parameter phys: the PHYs that may be used; empty for no preference
  /// - Returns: those in use; the peer may keep the ones that were used
  @discardableResult
  package func setPHYs(_ phys: LEPHYs) async throws(StackError) -> LinkPHYs {
    try await awaitCallback(cancelled: .cancelled) { link.setPHYs(phys, completion: $0) }
  }

  /// Requests longer or shorter packets to send. `onEvent` reports the lengths in force, if they change.
  ///
  /// - Parameter octets: the maximum payload, 27 to 251 bytes
  package func setDataLength(_ octets: Int) async throws(StackError) {
    try await awaitCallback(cancelled: .cancelled) { link.setDataLength(octets, completion: $0) }
  }
}
