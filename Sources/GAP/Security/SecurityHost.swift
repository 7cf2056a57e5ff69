import HCI
import HaloBluetoothCore
import HaloSecurityManager

/// How the links of a radio are secured: what is shared by all of them.
@BluetoothActor
package final class SecurityHost {
  /// The functions of cryptography, which are loaded when a pairing needs them; nil where the library is not installed, which
  /// pairs with nobody.
  package private(set) lazy var cryptography = loadCryptography()
  /// The bonds; nil if none are kept.
  package var bonds: (any BondStore)?
  package var settings: PairingSettings
  /// Whether the adapter has to be ready to pair when it is started, although the settings do not allow it yet.
  package var mayPairLater = false
  /// Asks the user; nil if there is none, who can see and type nothing then.
  package var agent: (any PairingAgent)?
  /// When peers with which a pairing has failed may try again.
  var attempts = RepeatedAttempts()
  /// Whether this side uses private addresses on the air, and tells peers that it pairs with the key by which they know it. Set
  /// it before the radio is started.
  package var usesPrivateAddresses = false
  /// This side's Identity Resolving Key as long as no bond has one.
  private lazy var newIdentityResolvingKey = randomBytes(16)
  private let loadCryptography: () -> (any Cryptography)?
  private var random: any RandomNumberGenerator
  /// The name of a device that was heard, by the address that stays.
  var nameOf: (BluetoothAddress) -> String? = { _ in nil }
  /// The name of a device that the program knows from earlier.
  package var knownNameOf: (BluetoothAddress) -> String? = { _ in nil }
  /// Called when a bond can't be stored: the device will be a stranger to the next program.
  package var onBondNotKept: (BondStoreError) -> Void = { _ in }
  /// What was made of the bonds when they were asked for.
  private var devices: (bonds: [Bond], central: BondedDevices, peripheral: BondedDevices)?

  /// - Parameters:
  ///   - cryptography: the functions; nil if they are not installed
  ///   - bonds: where bonds are kept; nil for nowhere
  ///   - settings: which pairings this side agrees to
  ///   - agent: asks the user
  ///   - random: what the keys and passkeys are made of; not the keys of P-256, which the library makes
  package init(
    _ cryptography: @autoclosure @escaping () -> (any Cryptography)?, bonds: (any BondStore)? = nil,
    settings: PairingSettings = PairingSettings(), agent: (any PairingAgent)? = nil,
    random: any RandomNumberGenerator = SystemRandomNumberGenerator()
  ) {
    loadCryptography = cryptography
    self.bonds = bonds
    self.settings = settings
    self.agent = agent
    self.random = random
  }

  /// What the user can see and type.
  package var ioCapability: IOCapability {
    settings.policy == .ask ? agent?.ioCapability ?? .noInputNoOutput : .noInputNoOutput
  }

  /// Whether the adapter has to be ready to pair.
  package var mayPair: Bool { settings.policy.pairs || mayPairLater }

  /// Whether this side pairs at all.
  var pairs: Bool { settings.policy.pairs && cryptography != nil }

  /// Reads the bonds, if they are used: without them, links to their devices would be in clear.
  package func checkBonds() throws(BondStoreError) {
    if settings.policy != .never { try bonds?.check() }
  }

  /// The bonded devices, as this side knows them in a role; none if bonds are not used.
  package func bonded(_ role: LERole) -> BondedDevices {
    let all = settings.policy == .never ? [] : bonds?.bonds ?? []
    if let devices, devices.bonds == all { return role == .peripheral ? devices.peripheral : devices.central }
    devices = (all, BondedDevices(all, .central, cryptography), BondedDevices(all, .peripheral, cryptography))
    return bonded(role)
  }

  /// This side's Identity Resolving Key: that of the newest bond, as all peers know this side by one address.
  ///
  /// - Parameter own: the address of this side that stays
  private func identityResolvingKey(of own: BluetoothAddress) -> [UInt8] {
    let newest = bonds?.bonds.last { $0.own.isSameDevice(as: own) && $0.ownIdentityResolvingKey != nil }
    return newest?.ownIdentityResolvingKey ?? newIdentityResolvingKey
  }

  /// A new private address of this side, which those resolve that have its key; nil if it can't be made.
  func makePrivateAddress(of own: BluetoothAddress) -> BluetoothAddress? {
    guard let cryptography else { return nil }
    do throws(CryptographyError) {
      let cipher = try cryptography.blockCipher(key: identityResolvingKey(of: own).reversed())
      // Two of four million random parts are not allowed.
      for _ in 0..<100 {
        let bits = UInt32.random(in: .min ... .max, using: &random)
        if let address = try ResolvableAddress(random: bits, cipher) { return address.address }
      }
    } catch {}
    return nil
  }

  /// Whether this side knows devices with which there is a bond at their private addresses.
  package var resolvesAddresses: Bool { settings.policy != .never && cryptography != nil }

  /// The name of a device, as it was heard or is kept with its bond; nil if unknown.
  func name(_ peer: BluetoothAddress, as own: BluetoothAddress) -> String? {
    nameOf(peer) ?? knownNameOf(peer) ?? bonded(.peripheral).bond(with: peer, as: own)?.name
  }

  /// New random values for one pairing.
  ///
  /// - Parameter identity: the address of this side that stays
  func makeSecrets(identity: BluetoothAddress) throws(CryptographyError) -> PairingSecrets {
    guard let cryptography else { throw .failed }
    return PairingSecrets(
      keyPair: try cryptography.makeKeyPair(),
      nonces: (0..<PairingSecrets.rounds).map { _ in randomBytes(16) },
      passkey: UInt32.random(in: 0..<1_000_000, using: &random),
      longTermKey: LongTermKey(
        randomBytes(16), random: UInt64.random(in: 1 ... .max, using: &random),
        diversifier: UInt16.random(in: 1 ... .max, using: &random)),
      identityResolvingKey: usesPrivateAddresses ? identityResolvingKey(of: identity) : [],
      identity: identity, signatureResolvingKey: randomBytes(16))
  }

  private func randomBytes(_ count: Int) -> [UInt8] {
    (0..<count).map { _ in UInt8.random(in: .min ... .max, using: &random) }
  }
}
