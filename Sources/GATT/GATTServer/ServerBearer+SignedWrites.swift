import ATT
import HaloBluetoothCore

/// Checks the signature of a command.
///
/// - Parameters:
///   - message: the whole PDU up to its signature
///   - signature: the signature
///   - accept: called once, then or later, if the signature is the client's and was not used before: with whether its key comes
///     from a pairing with protection against a man in the middle
package typealias SignatureCheck = (
  _ message: [UInt8], _ signature: ATTSignature, _ accept: @escaping (_ isAuthenticated: Bool) -> Void
) -> Void

/// Signed writes (Core Specification Vol 3, Part F, 3.4.5.4). What is wrong with one is not told to the client.
extension ServerBearer {
  /// The signature is checked first, whatever the write is about: one that was ignored for another reason would be valid later,
  /// from whoever has recorded it.
  func receiveSigned(_ pdu: RawSpan) {
    guard !security.isEncrypted, pdu.byteCount <= mtu, let checkSignature,
      let command = try? ATTSignedWriteCommand(pdu: pdu)
    else { return }
    checkSignature(command.message, command.signature) { [weak self] isAuthenticated in
      guard let self, !isClosed, caching.isChangeAware else { return }
      writeSigned(command.value, to: command.handle, isAuthenticated: isAuthenticated)
    }
  }
}
