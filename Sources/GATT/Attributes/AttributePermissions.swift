import ATT

/// Security requirements of an attribute: the properties that a link needs before it is read or written (Core Specification Vol
/// 3, Part F, 3.2.5; Part C, 10.3.1).
package struct SecurityRequirement: Hashable, Sendable {
  package var needsEncryption = false
  /// Whether the key must come from a pairing with protection against a man in the middle.
  package var needsAuthentication = false
  /// Whether the user or the program must have allowed this client.
  package var needsAuthorization = false
  /// The shortest key of the encryption, in bytes: 0, or 7 to 16.
  package var minimumKeySize = 0
  /// Whether the signature of a write does in place of encryption (Part C, 10.2.2).
  package var acceptsSignature = false

  /// Any link will do.
  package static let none = SecurityRequirement()
  /// An encrypted link.
  package static let encrypted = SecurityRequirement(needsEncryption: true)
  /// An encrypted link, with a key of an authenticated pairing.
  package static let authenticated = SecurityRequirement(needsEncryption: true, needsAuthentication: true)
  /// An encrypted link, or a signed write over any link.
  package static let encryptedOrSigned = SecurityRequirement(needsEncryption: true, acceptsSignature: true)
  /// A client that was allowed.
  package static let authorized = SecurityRequirement(needsAuthorization: true)
}

/// The security of a link, as far as attributes ask for it.
package struct LinkSecurity: Hashable, Sendable {
  package var isEncrypted: Bool
  /// Whether the key of the link comes from a pairing with protection against a man in the middle.
  package var isAuthenticated: Bool
  /// Whether the user or the program has allowed this client.
  package var isAuthorized: Bool
  /// Whether there is a key of the peer, also while the link is not encrypted with it.
  package var isPaired: Bool
  /// The length of the key of the encryption, in bytes.
  package var keySize: Int

  package init(
    isEncrypted: Bool = false, isAuthenticated: Bool = false, isAuthorized: Bool = false,
    isPaired: Bool = false, keySize: Int = 16
  ) {
    self.isEncrypted = isEncrypted
    self.isAuthenticated = isAuthenticated
    self.isAuthorized = isAuthorized
    self.isPaired = isPaired
    self.keySize = keySize
  }

  /// A new link.
  package static let none = LinkSecurity()

  /// The error of a refused access; nil if the link meets the requirement. It is Insufficient Authentication for a client
  /// without a key, which has to pair, and Insufficient Encryption for one with a key (Vol 3, Part C, 10.3.1).
  package func refusal(of requirement: SecurityRequirement) -> ATTErrorCode? {
    let needsLink = requirement.needsEncryption || requirement.minimumKeySize > 0
    if needsLink || requirement.needsAuthentication, !isEncrypted {
      return isPaired ? .insufficientEncryption : .insufficientAuthentication
    }
    if requirement.needsAuthentication, !isAuthenticated { return .insufficientAuthentication }
    if isEncrypted, keySize < requirement.minimumKeySize { return .encryptionKeySizeTooShort }
    if requirement.needsAuthorization, !isAuthorized { return .insufficientAuthorization }
    return nil
  }

  /// The same for a signed write over a link that is not encrypted.
  ///
  /// - Parameter isAuthenticated: whether the key of the signature comes from a pairing with protection against a man in the
  ///   middle
  package func refusal(
    ofSigned requirement: SecurityRequirement, isAuthenticated: Bool
  ) -> ATTErrorCode? {
    guard requirement.acceptsSignature else { return refusal(of: requirement) }
    if requirement.needsAuthentication, !isAuthenticated { return .insufficientAuthentication }
    if requirement.needsAuthorization, !isAuthorized { return .insufficientAuthorization }
    return nil
  }
}
