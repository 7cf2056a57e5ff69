import HaloBluetoothCore

/// A key of a bond, which encrypts a link (Core Specification Vol 3, Part H, 2.4.4).
package struct LongTermKey: Hashable, Sendable {
  /// 16 bytes, the least significant first.
  package var value: [UInt8]
  /// Rand, which names a key of LE legacy pairing; 0 for others.
  package var random: UInt64
  /// EDIV, which names a key of LE legacy pairing; 0 for others.
  package var diversifier: UInt16
  /// Whether its pairing had protection against a man in the middle.
  package var isAuthenticated: Bool
  /// Its length, in bytes: 7 to 16. The most significant bytes of a shorter one are zero.
  package var size: Int

  package init(
    _ value: [UInt8], random: UInt64 = 0, diversifier: UInt16 = 0, isAuthenticated: Bool = false,
    size: Int = 16
  ) {
    self.value = value
    self.random = random
    self.diversifier = diversifier
    self.isAuthenticated = isAuthenticated
    self.size = size
  }
}

/// The encryption of a link (Core Specification Vol 4, Part E, 7.7.8, 7.7.39 and 7.7.65.5). The central begins it with a key;
/// the peripheral is asked for that key.
extension LEConnection {
  /// Encrypts the link, or encrypts it with another key. Only the central may do so.
  ///
  /// - Parameters:
  ///   - key: the key, which the peripheral must have, too
  ///   - completion: called exactly once, when the link is encrypted or that has failed: with `.pinOrKeyMissing` if the
  ///     peripheral does not have the key. If its key is another one, the link is lost.
  package func encrypt(with key: LongTermKey, completion: @escaping (Result<Void, StackError>) -> Void) {
    nextKey = key
    perform(encryptions, completion) {
      LEEnableEncryption {
        $0.handle = handle
        $0.random = key.random
        $0.encryptedDiversifier = key.diversifier
        $0.longTermKey = key.value
      }
    }
  }

  func receive(_ event: EncryptionChange) {
    let isOn = event.status == .success && event.encryption != .off
    finishEncryption(event.status, isEncrypted: isOn)
    // Controllers exist that stay in clear after a pause (CVE-2025-52435).
    if event.status == .success, !isOn { disconnect() }
  }

  func receive(_ event: EncryptionKeyRefreshComplete) {
    finishEncryption(event.status, isEncrypted: event.status == .success)
  }

  private func finishEncryption(_ status: HCIErrorCode, isEncrypted isOn: Bool) {
    // A renewal is a change, too: of the key.
    let isChange = isOn || isEncrypted
    isEncrypted = isOn
    if isOn { key = nextKey ?? key }
    nextKey = nil
    if isChange { onChange?(.encryption(isOn)) }
    let refusal = status == .success ? .unspecifiedError : status
    encryptions.receive(isOn ? .success(()) : .failure(.commandFailed(LEEnableEncryption.opcode, refusal)))
  }

  /// Answers the controller of a peripheral, which waits for the key. A controller without an answer keeps the link in clear
  /// for 40 s and drops it (nrfconnect/sdk-nrf 3695), and an answer with a wrong key drops it at once (google/bumble 890).
  func receive(_ event: LELongTermKeyRequest) {
    guard let links, isConnected else { return }
    let key = role == .peripheral ? onKeyRequest?(event.random, event.encryptedDiversifier) : nil
    let done = { [self] (result: Result<LinkOnly, StackError>) -> Void in
      if case .failure(let error) = result { self.links?.note(error, on: self) }
    }
    nextKey = key
    guard let key else {
      return links.commands.send(LELongTermKeyRequestNegativeReply(handle: handle), completion: done)
    }
    let reply = LELongTermKeyRequestReply {
      $0.handle = handle
      $0.longTermKey = key.value
    }
    links.commands.send(reply, completion: done)
  }
}
