import HaloSecurityManager

/// A level of the LE security mode 1 (Core Specification Vol 3, Part C, 10.2.1).
package enum LESecurityLevel: Int, Hashable, Sendable, Comparable {
  case none = 1
  /// Encrypted, with a key of any pairing.
  case encrypted
  /// Encrypted, with a key of a pairing that was protected against a man in the middle.
  case authenticated
  /// The same, of LE Secure Connections, with 16 bytes.
  case secureConnections

  package static func < (first: LESecurityLevel, second: LESecurityLevel) -> Bool {
    first.rawValue < second.rawValue
  }

  /// The level of a link that is encrypted with a key.
  package init(_ key: PairingStrength) {
    self =
      if !key.isAuthenticated { .encrypted } else if key.isSecureConnections, key.keySize == 16 {
        .secureConnections
      } else { .authenticated }
  }
}
