import BluetoothCore

/// The central's side of pairing, which it does not do: a peer that wants to pair gets a refusal, and may go on
/// without (Core Specification Vol 3, Part H, 3.5).
enum SecurityManager {
  /// The answer to a PDU; nil for what needs none.
  static func answer(to pdu: RawSpan) -> [UInt8]? {
    switch pdu.byte(at: 0).map(SecurityManagerCode.init) {
    case .pairingRequest?, .securityRequest?:
      var writer = ByteWriter(capacity: 2)
      writer.write(SecurityManagerCode.pairingFailed.rawValue)
      PairingFailed.pairingNotSupported.write(into: &writer)
      return writer.bytes
    default: return nil
    }
  }
}
