import HaloBluetoothCore

/// What a packet says about the security of its link, together with those before it. It never has a key.
package struct SecurityNote: Hashable, Sendable {
  package enum Kind: String, Hashable, Sendable {
    /// The method of a pairing, and why it was chosen.
    case method
    /// A step of a pairing.
    case progress
    /// A confirm value or a check that can be computed.
    case check
    /// What protects the link from here on.
    case protection
    /// A key that others can compute or receive, or that protects less than it could.
    case weakness
    /// What no device does that keeps to the specification.
    case fault
    /// The sign of a known attack.
    case attack
  }

  package var kind: Kind
  package var text: String

  package init(_ kind: Kind, _ text: String) {
    self.kind = kind
    self.text = text
  }
}
