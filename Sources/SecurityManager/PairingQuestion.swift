import HaloBluetoothCore

/// What the user has to do for a pairing (Core Specification Vol 3, Part H, 2.3.5).
public enum PairingQuestion: Hashable, Sendable {
  /// Allow a pairing that does not show who the peer is: Just Works.
  case allow
  /// Compare a number of six digits with the one that the peer shows.
  case compare(UInt32)
  /// Type the passkey that the peer shows.
  case enterPasskey
  /// Have this passkey typed at the peer. It needs no answer, and may be refused.
  case showPasskey(UInt32)
}

/// The user's answer.
public enum PairingAnswer: Hashable, Sendable {
  /// Yes, or equal.
  case accept
  /// No, different, or given up.
  case refuse
  /// 0 to 999,999.
  case passkey(UInt32)
}

/// Asks the user, for a program. Each call is made on the loop.
@BluetoothActor
package protocol PairingAgent: AnyObject {
  /// What the user can see and type.
  var ioCapability: IOCapability { get }
  /// Asks a question. `answer` may be called once, at once or later.
  func ask(
    _ question: PairingQuestion, about peer: BluetoothAddress, answer: @escaping (PairingAnswer) -> Void)
  /// The question is no longer of interest: the pairing has ended, in this way.
  func pairingEnded(with peer: BluetoothAddress, _ error: StackError?)
}

/// Which pairings this side agrees to.
package enum PairingPolicy: Hashable, Sendable {
  /// None; links are not encrypted, either.
  case never
  /// None; links to bonded peers are encrypted.
  case encryptOnly
  /// Pairings that need no user: Just Works.
  case justWorks
  /// Pairings that the agent agrees to.
  case ask
}

/// How this side pairs.
package struct PairingSettings: Hashable, Sendable {
  package var policy = PairingPolicy.encryptOnly
  /// The shortest key, in bytes: 7 to 16. Shorter ones can be found by trying (KNOB).
  package var minimumKeySize = 16
  /// Whether the pairing has to be protected against a man in the middle.
  package var requiresAuthentication = false
  /// Whether LE legacy pairing is refused.
  package var requiresSecureConnections = false
  /// Whether a peer with the debug key of the specification is paired with; such a bond is not kept.
  package var allowsDebugKeys = false
  /// Whether a bonded peer may pair again over a link that is not encrypted with its bond's key.
  package var allowsRepairing = false
  /// Whether this side may pair with a device whose bond is not one of a chosen peer: anybody can have made it.
  package var replacesUncheckedBonds = false
  /// Whether the keys are kept.
  package var bonds = true
  /// What is known of the device to pair with by another way; nil if nothing is.
  package var outOfBand: OutOfBandData?

  package init(policy: PairingPolicy = .encryptOnly) { self.policy = policy }
}
