import HCI
import HaloBluetoothCore
import HaloSecurityManager

extension PairingSetup {
  /// What this side agrees to in a pairing.
  ///
  /// - Parameters:
  ///   - connection: the link
  ///   - level: what is wanted
  ///   - host: the settings of the radio
  ///   - secrets: the random values of the pairing
  ///   - bond: the bond that it may take the place of; nil if there is none
  @BluetoothActor
  init(
    _ connection: LEConnection, _ level: LESecurityLevel, _ host: SecurityHost, _ secrets: PairingSecrets,
    replacing bond: Bond?
  ) {
    let settings = host.settings
    var features = PairingFeatures()
    features.ioCapability = host.ioCapability
    features.authentication = .secureConnections
    if settings.bonds { features.authentication.insert(.bonding) }
    if features.ioCapability != .noInputNoOutput || settings.outOfBand != nil {
      features.authentication.insert(.mitm)
    }
    if settings.outOfBand != nil { features.outOfBand = .present }
    // Both sides give the key of LE legacy pairing and that of their signatures, if both want to; the peer gives its identity,
    // and this side if it hides it.
    let peerKeys: KeyDistribution = settings.bonds ? [.encryption, .identity, .signing] : []
    var ownKeys: KeyDistribution = settings.bonds ? [.encryption, .signing] : []
    if settings.bonds, host.usesPrivateAddresses { ownKeys.insert(.identity) }
    (features.initiatorKeys, features.responderKeys) =
      connection.role == .central ? (ownKeys, peerKeys) : (peerKeys, ownKeys)
    self.init(
      role: connection.role, ownAddress: connection.localAddress, peerAddress: connection.peerOnAir,
      features: features, secrets: secrets)
    outOfBand = settings.outOfBand ?? OutOfBandData()
    // A bond is not replaced by a weaker one.
    let old = bond?.strength
    minimumKeySize = max(
      settings.minimumKeySize, old?.keySize ?? 0, level == .secureConnections ? 16 : 0)
    requiresAuthentication =
      settings.requiresAuthentication || settings.outOfBand != nil || level >= .authenticated
      || old?.isAuthenticated == true
    requiresSecureConnections =
      settings.requiresSecureConnections || level == .secureConnections || old?.isSecureConnections == true
    allowsDebugKeys = settings.allowsDebugKeys
    asksAboutJustWorks = settings.policy == .ask
  }
}

extension Bond {
  init(_ result: PairingResult, with peer: BluetoothAddress, own: BluetoothAddress) {
    self.init(
      peer: result.peerIdentity ?? peer.plain, own: own.plain,
      isSecureConnections: result.strength.isSecureConnections)
    identityResolvingKey = result.peerIdentityResolvingKey
    ownIdentityResolvingKey = result.ownIdentityResolvingKey
    keyAsCentral = result.keyAsCentral
    keyAsPeripheral = result.keyAsPeripheral
    // Anybody could sign with a key of zeros, which stacks send that have none.
    peerSigning = result.peerSignatureResolvingKey.flatMap { key in
      key.contains { $0 != 0 } ? SigningKey(key: key) : nil
    }
    ownSigning = result.ownSignatureResolvingKey.map { SigningKey(key: $0) }
  }
}
