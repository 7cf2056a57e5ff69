import HaloBluetoothCore

/// The side of a device that does not pair: a request is rejected, and the peer may continue without (Core Specification
/// Vol 3, Part H, 3.5).
package enum PairingRefusal {
  /// The answer to a PDU; nil if none is required.
  package static func answer(to pdu: RawSpan) -> [UInt8]? {
    switch pdu.byte(at: 0).map(SecurityManagerCode.init) {
    case .pairingRequest?, .securityRequest?: PairingFailed { $0.reason = .pairingNotSupported }.pdu
    default: nil
    }
  }
}
