import BluetoothCore

/// The central's side of pairing, which it does not do: whoever wants to pair is told so, and may go on without
/// (Core Specification Vol 3, Part H, 3.5).
enum SecurityManager {
  private static let pairingRequest: UInt8 = 0x01
  private static let pairingFailed: UInt8 = 0x05
  private static let securityRequest: UInt8 = 0x0B
  private static let pairingNotSupported: UInt8 = 0x05

  /// The answer to a PDU; nil for what needs none.
  static func answer(to pdu: RawSpan) -> [UInt8]? {
    switch pdu.byte(at: 0) {
    case pairingRequest, securityRequest: [pairingFailed, pairingNotSupported]
    default: nil
    }
  }
}
