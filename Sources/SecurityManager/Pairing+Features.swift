import HaloBluetoothCore

// The first phase: what both sides can do and want (Core Specification Vol 3, Part H, 2.3).

extension Pairing {
  mutating func take(request pdu: PairingRequest) throws(PairingFailure) {
    try check(pdu.features)
    request = pdu.features
    var answer = PairingResponse()
    answer.features = setup.features
    answer.features.initiatorKeys.formIntersection(request.initiatorKeys)
    answer.features.responderKeys.formIntersection(request.responderKeys)
    response = answer.features
    try agree()
    send(answer)
    if isSecureConnections { state = .publicKey } else { try beginLegacy() }
  }

  mutating func take(response pdu: PairingResponse) throws(PairingFailure) {
    try check(pdu.features)
    response = pdu.features
    guard request.initiatorKeys.isSuperset(of: response.initiatorKeys),
      request.responderKeys.isSuperset(of: response.responderKeys)
    else { throw .local(.invalidParameters) }
    try agree()
    guard isSecureConnections else { return try beginLegacy() }
    state = .publicKey
    sendPublicKey()
  }

  /// Checks the fields of the peer.
  private func check(_ features: PairingFeatures) throws(PairingFailure) {
    guard features.ioCapability.rawValue <= IOCapability.keyboardDisplay.rawValue,
      features.outOfBand.rawValue <= OutOfBandFlag.present.rawValue, 7...16 ~= features.maximumKeySize
    else { throw .local(.invalidParameters) }
    let size = min(features.maximumKeySize, setup.features.maximumKeySize)
    guard Int(size) >= setup.minimumKeySize else { throw .local(.encryptionKeySize) }
  }

  private mutating func agree() throws(PairingFailure) {
    (method, isSecureConnections) = PairingMethod.chosen(request, response)
    if setup.requiresAuthentication, !method.isAuthenticated { throw .local(.authenticationRequirements) }
    if setup.requiresSecureConnections, !isSecureConnections { throw .local(.authenticationRequirements) }
    guard method == .outOfBand else { return }
    // A peer that says it has data of this side, which has given none away, would pass for authenticated.
    let peer = isInitiator ? response : request
    let isMissing =
      isSecureConnections
      ? peer.outOfBand == .present && setup.outOfBand.ownRandom == nil : setup.outOfBand.temporaryKey == nil
    if isMissing { throw .local(.oobNotAvailable) }
  }

  /// The length of the key, in bytes.
  var keySize: Int { Int(min(request.maximumKeySize, response.maximumKeySize)) }

  /// Obtains the temporary key, or the passkey: with a question, if the user has a part in it.
  ///
  /// - Returns: whether it is there
  mutating func obtainTemporaryKey() -> Bool {
    switch method {
    case .justWorks, .numericComparison:
      temporaryKey = [UInt8](repeating: 0, count: 16)
      return true
    case .outOfBand:
      temporaryKey = setup.outOfBand.temporaryKey
      return true
    case .passkeyEntry(let input):
      guard input == .both || (input == .initiator) == isInitiator else {
        temporaryKey = Passkey.key(setup.secrets.passkey)
        outputs.append(.ask(.showPasskey(setup.secrets.passkey)))
        return true
      }
      ask(.enterPasskey)
      return false
    }
  }
}
