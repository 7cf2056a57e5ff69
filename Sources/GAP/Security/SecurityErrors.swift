import HaloBluetoothCore
import HaloSecurityManager

/// Why a link has not got the security that was wanted.
extension StackError {
  /// The peer does not have the key of the bond: it was reset, or has forgotten this side; or another device pretends to be it.
  package static func keyMissing(at peer: BluetoothAddress) -> StackError {
    StackError(
      .keyMissing, .final,
      "\(peer) does not have the key of its bond: it was reset or has forgotten this device, or another one pretends to be it",
      cause: .peer(peer))
  }

  /// The peer has not got this side's Identity Resolving Key.
  package static func unknownPrivateAddress(to peer: BluetoothAddress) -> StackError {
    StackError(
      .keyMissing, .final,
      "\(peer) does not know this machine at its private address, as its bond was made without one: leave private addresses out, or forget the bond and pair again with them",
      cause: .peer(peer))
  }

  /// Encryption was not complete in time.
  package static func encryptionTimedOut(_ peer: BluetoothAddress) -> StackError {
    StackError(.encryptionTimedOut, .link, "\(peer) has not encrypted the link in time")
  }

  /// This side does not pair, or not as the peer wants.
  package static func pairingNotAllowed(_ peer: BluetoothAddress, _ reason: String) -> StackError {
    StackError(.pairingFailed, .final, "\(peer) wants pairing, \(reason)")
  }

  /// Whoever pairs anew in the name of a bonded peer would take the place of its bond.
  package static func repairingRefused(_ peer: BluetoothAddress) -> StackError {
    StackError(
      .pairingFailed, .final,
      "there is a bond with \(peer), whose key does not encrypt this link: it is kept; if the device was reset, forget its bond",
      cause: .peer(peer))
  }

  package static func pairingFailed(_ failure: PairingFailure, with peer: BluetoothAddress) -> StackError {
    let reason =
      switch failure {
      case .peer(let reason): "\(peer) has refused to pair: \(reason)\(reason.remedy(byPeer: true))"
      case .local(let reason):
        "pairing with \(peer) was ended here: \(reason)\(reason.remedy(byPeer: false))"
      case .encryption: "the link to \(peer) could not be encrypted after pairing; try again"
      case .timeout:
        "pairing with \(peer) was not done after 30 s, as the device or a person has not answered; try again"
      case .disconnected:
        "\(peer) has ended the link while pairing; if it is in a pairing mode, start that again"
      }
    return StackError(.pairingFailed, failure == .disconnected ? .link : .final, reason)
  }
}

extension PairingFailureReason {
  fileprivate func remedy(byPeer: Bool) -> String {
    switch self {
    case .pairingNotSupported: "; put the device into its pairing mode, or remove its other bonds"
    case .authenticationRequirements where byPeer:
      "; it wants a passkey or a comparison: pair on a terminal"
    case .oobNotAvailable: "; pair without a tag"
    case .repeatedAttempts: "; it was tried too often: wait a minute"
    case .encryptionKeySize where !byPeer: "; the device can only do short keys, which can be guessed"
    case .confirmValueFailed, .dhKeyCheckFailed:
      "; the passkey or the tag was wrong, or somebody is between the two devices"
    default: ""
    }
  }
}

/// Why a write can't be signed.
extension StackError {
  /// The pairing has agreed on no key, or there was none.
  static func noSigningKey(_ peer: BluetoothAddress) -> StackError {
    StackError(
      .pairingFailed, .final,
      "there is no key to sign writes to \(peer) with: pair with it; if there is a bond, its pairing has agreed on no such key"
    )
  }

  /// There is no counter left: a signature with one that was used would be refused.
  static func signaturesUsedUp(_ peer: BluetoothAddress) -> StackError {
    StackError(
      .pairingFailed, .final,
      "all \(Bond.SigningKey.end) signatures of the bond with \(peer) are used; forget it, and pair again")
  }

  static func signingNeedsLibrary(_ peer: BluetoothAddress) -> StackError {
    StackError(
      .pairingFailed, .final,
      "writes to \(peer) can't be signed without libcrypto; install libssl3 or libssl3t64")
  }

  /// A signature whose counter may be used again could be replaced by another one.
  static func counterNotKept(_ error: BondStoreError) -> StackError {
    StackError(.pairingFailed, .final, "the write is not signed, as its counter can't be kept: \(error)")
  }
}
