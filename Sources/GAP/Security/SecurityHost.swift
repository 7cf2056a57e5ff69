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
  private var resolvers: (central: AddressResolver, peripheral: AddressResolver)?
  /// The bonds that the resolvers were made of.
  private var resolved: [Bond] = []

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

  /// The bond with a peer; nil if there is none, or none for this role.
  ///
  /// - Parameters:
  ///   - peer: its address on the air, or the one that stays
  ///   - own: the address of this side, by which the peer knows it
  ///   - role: the role of this side; see ``Bond/isOfChosenPeer``
  package func bond(with peer: BluetoothAddress, as own: BluetoothAddress, role: LERole) -> Bond? {
    let identity = identity(of: peer, role)
    let bond = bonds?.bonds.last { $0.peer.isSameDevice(as: identity) && $0.own.isSameDevice(as: own) }
    return role == .peripheral || bond?.isOfChosenPeer == true ? bond : nil
  }

  /// The address that stays of a bonded device, for one that changes; the same address for all others.
  ///
  /// - Parameter role: the role of this side; see ``Bond/isOfChosenPeer``
  package func identity(of address: BluetoothAddress, _ role: LERole) -> BluetoothAddress {
    guard address.isResolvable, settings.policy != .never, let bonds = bonds?.bonds else { return address }
    return identity(of: address, bonds, role)
  }

  /// Recognizes a device that was heard.
  ///
  /// - Returns: its address that stays, and whether there is a key to resolve others
  func recognize(_ address: BluetoothAddress) -> (identity: BluetoothAddress, mayHide: Bool) {
    guard settings.policy != .never, let bonds = bonds?.bonds else { return (address, false) }
    let identity = identity(of: address, bonds, .central)
    return (identity, Self.mayHide(identity, bonds, .central))
  }

  private func identity(
    of address: BluetoothAddress, _ bonds: [Bond], _ role: LERole
  ) -> BluetoothAddress {
    guard address.isResolvable, bonds.contains(where: { $0.identityResolvingKey != nil }) else {
      return address
    }
    if resolvers == nil || resolved != bonds {
      resolved = bonds
      resolvers = cryptography.flatMap {
        try? (AddressResolver($0, bonds.filter(\.isOfChosenPeer)), AddressResolver($0, bonds))
      }
    }
    let resolver = role == .central ? resolvers?.central : resolvers?.peripheral
    return resolver?.identity(of: address) ?? address
  }

  /// Whether there is a key to resolve the addresses of this device.
  ///
  /// - Parameter role: the role of this side; see ``Bond/isOfChosenPeer``
  package func mayHide(_ identity: BluetoothAddress, _ role: LERole) -> Bool {
    guard settings.policy != .never, let bonds = bonds?.bonds else { return false }
    return Self.mayHide(identity, bonds, role)
  }

  private static func mayHide(_ identity: BluetoothAddress, _ bonds: [Bond], _ role: LERole) -> Bool {
    bonds.contains {
      $0.peer.isSameDevice(as: identity) && $0.identityResolvingKey != nil
        && (role == .peripheral || $0.isOfChosenPeer)
    }
  }

  /// The bonded devices that change their addresses, the newest first: each device, and each key, once.
  ///
  /// - Parameters:
  ///   - own: the address of this side that stays
  ///   - role: the role of this side; see ``Bond/isOfChosenPeer``
  func resolvableDevices(as own: BluetoothAddress, _ role: LERole) -> [ResolvableDevice] {
    guard settings.policy != .never, let bonds = bonds?.bonds else { return [] }
    var devices: [ResolvableDevice] = []
    for bond in bonds.reversed() where bond.own.isSameDevice(as: own) {
      guard let key = bond.identityResolvingKey, role == .peripheral || bond.isOfChosenPeer,
        !devices.contains(where: { $0.key == key || $0.identity == bond.peer.plain })
      else { continue }
      devices.append(
        ResolvableDevice(
          bond.peer, key: key, ownKey: usesPrivateAddresses ? bond.ownIdentityResolvingKey : nil))
    }
    return devices
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
    nameOf(peer) ?? knownNameOf(peer) ?? bond(with: peer, as: own, role: .peripheral)?.name
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
