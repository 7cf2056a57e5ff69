import HaloBluetoothCore

/// How two devices show that they are the ones that their users mean (Core Specification Vol 3, Part H, 2.3.5).
package enum PairingMethod: Hashable, Sendable, CustomStringConvertible {
  case justWorks
  case numericComparison
  /// The passkey is typed at the sides named here, and shown by the other one.
  case passkeyEntry(typedBy: PasskeyInput)
  case outOfBand

  package enum PasskeyInput: Hashable, Sendable { case initiator, responder, both }

  /// Whether it protects against a man in the middle.
  package var isAuthenticated: Bool { self != .justWorks }

  package var description: String {
    switch self {
    case .justWorks: "Just Works"
    case .numericComparison: "numeric comparison"
    case .passkeyEntry: "passkey entry"
    case .outOfBand: "out of band"
    }
  }

  /// The method that follows from what both sides can do and want (tables 2.6 to 2.8).
  ///
  /// - Returns: the method, and whether it is one of LE Secure Connections
  package static func chosen(
    _ request: PairingFeatures, _ response: PairingFeatures
  ) -> (method: PairingMethod, isSecureConnections: Bool) {
    let isSecure = [request, response].allSatisfy { $0.authentication.contains(.secureConnections) }
    return (chosen(request, response, isSecure), isSecure)
  }

  private static func chosen(
    _ request: PairingFeatures, _ response: PairingFeatures, _ isSecure: Bool
  ) -> PairingMethod {
    let outOfBand = [request, response].map { $0.outOfBand == .present }
    if isSecure ? outOfBand.contains(true) : !outOfBand.contains(false) { return .outOfBand }
    guard [request, response].contains(where: { $0.authentication.contains(.mitm) }) else {
      return .justWorks
    }
    let (initiator, responder) = (request.ioCapability, response.ioCapability)
    if isSecure, initiator.canCompare, responder.canCompare { return .numericComparison }
    switch (initiator.hasKeyboard, responder.hasKeyboard) {
    case (true, true):
      if initiator == .keyboardOnly, responder == .keyboardOnly { return .passkeyEntry(typedBy: .both) }
      // Where both can show it, the initiator does.
      return .passkeyEntry(typedBy: initiator == .keyboardOnly ? .initiator : .responder)
    case (true, false) where responder.hasDisplay: return .passkeyEntry(typedBy: .initiator)
    case (false, true) where initiator.hasDisplay: return .passkeyEntry(typedBy: .responder)
    default: return .justWorks
    }
  }
}

extension IOCapability {
  fileprivate var hasKeyboard: Bool { self == .keyboardOnly || self == .keyboardDisplay }
  fileprivate var hasDisplay: Bool { self == .displayOnly || canCompare }
  /// Whether the user sees a number and says yes or no.
  fileprivate var canCompare: Bool { self == .displayYesNo || self == .keyboardDisplay }
}
