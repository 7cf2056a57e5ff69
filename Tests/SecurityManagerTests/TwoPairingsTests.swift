import HCI
import HaloBluetoothCore
import HaloSecurityManager
import HaloSystem
import TestSupport
import Testing

/// Pairings with each other: whatever the two sides can do, want and know, and whatever their users do, both come to an
/// end, and to the same one.
@Suite(.enabled(if: LibcryptoCryptography.shared != nil, "libcrypto is not installed"))
struct TwoPairingsTests {
  /// What the sides have of each other by another way.
  private enum OutOfBand: CaseIterable {
    case nothing, both, onlyOfPeripheral, onlyOfCentral, wrong
    /// A side says that it has data of the other one, which has given none away.
    case claimed
  }

  private let library: any Cryptography
  private let pairs: [P256KeyPair]

  init() throws {
    library = try #require(LibcryptoCryptography.shared)
    pairs = [try library.makeKeyPair(), try library.makeKeyPair()]
  }

  private func setup(
    _ role: LERole, _ capability: IOCapability, _ random: inout SeededGenerator
  ) -> PairingSetup {
    var features = PairingFeatures()
    features.ioCapability = capability
    features.authentication.rawValue = UInt8(random.next() & 0x0C) | (random.next() & 1 == 0 ? 1 : 0)
    features.maximumKeySize = random.next() % 3 == 0 ? UInt8.random(in: 7...16, using: &random) : 16
    features.initiatorKeys.rawValue = UInt8(random.next() & 7)
    features.responderKeys.rawValue = UInt8(random.next() & 7)
    let index = role == .central ? 0 : 1
    let secrets = PairingSecrets(
      keyPair: pairs[index], nonces: (0..<PairingSecrets.rounds).map { _ in random.bytes(16) },
      passkey: UInt32.random(in: 0..<1_000_000, using: &random),
      longTermKey: LongTermKey(random.bytes(16), random: random.next(), diversifier: 7),
      identityResolvingKey: random.bytes(16),
      identity: BluetoothAddress(0xC000_0000_0010 + UInt64(index), .random),
      signatureResolvingKey: random.bytes(16))
    let addresses = [
      BluetoothAddress(0x4000_0000_0001, .random), BluetoothAddress(0x0012_3456_789A, .public),
    ]
    var setup = PairingSetup(
      role: role, ownAddress: addresses[index], peerAddress: addresses[1 - index], features: features,
      secrets: secrets)
    setup.minimumKeySize = random.next() % 4 == 0 ? 16 : 7
    setup.requiresAuthentication = random.next() % 4 == 0
    setup.requiresSecureConnections = random.next() % 4 == 0
    setup.asksAboutJustWorks = random.next() % 2 == 0
    return setup
  }

  private func give(
    _ data: OutOfBand, to setups: inout [PairingSetup], _ random: inout SeededGenerator
  ) throws {
    let key = random.bytes(16)
    for index in 0...1 {
      let hasPeer =
        switch data {
        case .nothing: false
        case .both, .wrong: true
        case .onlyOfPeripheral: index == 0
        case .onlyOfCentral, .claimed: index == 1
        }
      guard hasPeer else { continue }
      setups[index].features.outOfBand = .present
      let x = Array(pairs[1 - index].publicKey.x.reversed())
      let value = random.bytes(16)
      setups[index].outOfBand.peerRandom = value
      setups[index].outOfBand.peerConfirm = try SecurityFunctions(library).f4(x, x, value, 0)
      setups[index].outOfBand.temporaryKey = data == .claimed ? nil : key
      if data != .claimed { setups[1 - index].outOfBand.ownRandom = value }
      if data == .wrong {
        setups[index].outOfBand.peerRandom?[3] ^= 1
        setups[index].outOfBand.temporaryKey?[index] ^= 1
      }
    }
  }

  private static let capabilities: [IOCapability] = [
    .displayOnly, .displayYesNo, .keyboardOnly, .noInputNoOutput, .keyboardDisplay,
  ]

  /// All pairs of capabilities with all pairs of users; the rest is drawn.
  @Test(arguments: capabilities, capabilities)
  func bothEndAndAgree(_ ofCentral: IOCapability, _ ofPeripheral: IOCapability) throws {
    var random = SeededGenerator(
      seed: UInt64(ofCentral.rawValue) << 8 | UInt64(ofPeripheral.rawValue) + 1)
    var successes = 0
    for users in PairingUser.allCases.flatMap({ a in PairingUser.allCases.map { [a, $0] } }) {
      for data in OutOfBand.allCases + [.nothing, .nothing] {
        var setups = [
          setup(.central, ofCentral, &random), setup(.peripheral, ofPeripheral, &random),
        ]
        try give(data, to: &setups, &random)
        var run = TwoPairings(setups[0], setups[1], users: users, library: library)
        #expect(run.run() < 1000)
        check(run, setups, data)
        successes += run.sides[0].results.count
      }
    }
    #expect(successes > 0)
  }

  private func check(_ run: TwoPairings, _ setups: [PairingSetup], _ data: OutOfBand) {
    let (central, peripheral) = (run.sides[0], run.sides[1])
    #expect(run.sides.map(\.ends) == [1, 1])
    #expect(run.sides.allSatisfy { $0.sent < 60 && $0.questions.count <= 1 && $0.pairing.pendingKey == nil })
    #expect(central.results.count == peripheral.results.count)
    guard let first = central.results.first, let second = peripheral.results.first else { return }
    #expect(first.keyAsCentral == second.keyAsPeripheral && first.keyAsPeripheral == second.keyAsCentral)
    #expect(first.method == second.method && first.strength == second.strength)
    #expect(first.isBonding == second.isBonding)
    #expect(first.strength.isAuthenticated == first.method.isAuthenticated)
    let size = setups.map { Int($0.features.maximumKeySize) }.min() ?? 0
    #expect(first.strength.keySize == size && setups.allSatisfy { $0.minimumKeySize <= size })
    let isSecure = setups.allSatisfy { $0.features.authentication.contains(.secureConnections) }
    #expect(first.strength.isSecureConnections == isSecure)
    for (side, setup) in zip(run.sides, setups) {
      #expect(!setup.requiresAuthentication || first.method.isAuthenticated)
      #expect(!setup.requiresSecureConnections || isSecure)
      #expect(side.questions.isEmpty || side.user != .refuses)
      // A method with people in it has asked people.
      let isShown = side.questions.contains { if case .showPasskey = $0 { true } else { false } }
      #expect(side.questions.isEmpty || side.user != .absent || isShown)
      switch first.method {
      case .numericComparison: #expect(side.questions.count == 1)
      case .passkeyEntry:
        #expect(side.questions.count == 1 && (isShown || side.user != .wrong))
      case .outOfBand: #expect(side.questions == [] && data != .nothing && data != .wrong && data != .claimed)
      case .justWorks: #expect(side.questions.count == (setup.asksAboutJustWorks ? 1 : 0))
      }
    }
  }

  /// The flag says "I have your data". Without any that were given away, everybody could say so, and would pass for
  /// authenticated.
  @Test(arguments: [LERole.central, .peripheral])
  func dataThatWereNotGivenAwayAuthenticateNobody(_ victim: LERole) throws {
    var random = SeededGenerator(seed: 4)
    let capability = IOCapability.noInputNoOutput
    var setups = [setup(.central, capability, &random), setup(.peripheral, capability, &random)]
    for index in 0...1 {
      setups[index].features.authentication = .secureConnections
      (setups[index].minimumKeySize, setups[index].requiresAuthentication) = (7, false)
    }
    let attacker = victim == .central ? 1 : 0
    setups[attacker].features.outOfBand = .present
    var run = TwoPairings(setups[0], setups[1], users: [.right, .right], library: library)
    _ = run.run()
    #expect(run.sides[1 - attacker].failures == [.local(.oobNotAvailable)])
    #expect(run.sides[1 - attacker].results == [])
  }
}
