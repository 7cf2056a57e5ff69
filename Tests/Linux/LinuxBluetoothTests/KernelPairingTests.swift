import GAP
import Glibc
import HCI
import HaloBluetoothCore
import HaloSecurityManager
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// Pairing by a kernel that the test plays: what the management is told, and how raises of the security of a link end.
@BluetoothActor
@Suite(.onTheLoop) struct KernelPairingTests {
  private let stage = KernelStage()
  private let world = World()
  private let store = Store()
  private let host: SecurityHost
  private static let peer = KernelStage.peer
  private static let key = "000102030405060708090a0b0c0d0e0f"
  private static let address = "b2a1332211c0" + "02"

  @BluetoothActor private final class World {
    var runsBluetoothd = false
    var sent: [String] = []
    var option: KernelSecurityOption? = KernelSecurityOption(level: .none, keySize: 0)
    var raises: [LESecurityLevel] = []
    var raiseError: Int32?
    var results: [String] = []
    var questions: [PairingQuestion] = []
  }

  @BluetoothActor private final class Store: BondStore {
    var bonds: [Bond] = []

    func check() {}

    func make(_ change: BondChange, completion: @escaping (Result<Bond?, BondStoreError>) -> Void) {
      completion(Result { () throws(BondStoreError) in try change.make(in: &bonds) })
    }

    func finish() async {}
  }

  init() {
    host = SecurityHost(
      LibcryptoCryptography.shared, bonds: store, settings: PairingSettings(policy: .justWorks))
  }

  /// Its management answers all commands with success.
  private func begin(isPrivileged: Bool = true, _ settings: ManagementSettings = [.powered, .lowEnergy]) {
    let (world, timers) = (self.world, stage.timers)
    var queue: ManagementQueue?
    queue = ManagementQueue(timers: stage.timers) { packet in
      let bytes = Array(packet)
      world.sent.append(Hex.string(bytes))
      timers.schedule(after: .zero) {
        // Command Complete, and settings for those that return them.
        let answer = hex("010000000700") + bytes[0..<2] + [0, 0, 0, 0, 0]
        queue?.receive(answer.span.bytes)
      }
    }
    guard let queue else { return }
    let pairing = KernelPairing(
      host, stage.adapter.links, queue, AdapterIndex(rawValue: 0), timers: stage.timers,
      isPrivileged: isPrivileged
    ) { world.runsBluetoothd }
    pairing.onNote = { [stage] in stage.machine.notes.append($0) }
    stage.adapter.pairing = pairing
    pairing.begin(AdapterIndex(rawValue: 0), own: .zero, settings)
  }

  private func makeLink() throws -> StagedLink {
    let staged = try StagedLink(stage)
    let world = self.world
    staged.socket.securityOption.read = { _ in world.option }
    staged.socket.securityOption.raise = { (_, level) throws(SystemError) in
      world.raises.append(level)
      if let errno = world.raiseError { throw SystemError("setsockopt", errno: errno) }
    }
    return staged
  }

  private func secure(_ staged: StagedLink, to level: LESecurityLevel = .encrypted) {
    staged.link.secure(to: level) { [world] result in
      switch result {
      case .success: world.results.append("secured")
      case .failure(let error): world.results.append("\(error.code)")
      }
    }
  }

  private func receive(_ code: UInt16, _ parameters: String) throws {
    var reader = ByteReader(hex(parameters).span.bytes)
    if let event = try ManagementSecurityEvent(code, parsing: &reader) {
      stage.adapter.pairing?.receive(event)
    }
  }

  /// Encryption Change.
  private func encrypted(status: String = "00", isOn: String = "01") {
    stage.receive("040804" + status + "4000" + isOn)
  }

  /// A link whose security is raised, with what the kernel makes of it.
  private func encryptedLink(keySize: Int) async throws -> StagedLink {
    begin()
    let staged = try makeLink()
    secure(staged)
    await settle()
    world.option = KernelSecurityOption(level: .encrypted, keySize: keySize)
    encrypted()
    return staged
  }

  private func takeSent(_ opcodes: String...) -> [String] {
    defer { world.sent = [] }
    return world.sent.filter { opcodes.contains(String($0.prefix(4))) }
  }

  private func bond(isAuthenticated: Bool = false, size: Int = 16) -> Bond {
    var bond = Bond(peer: Self.peer, own: .zero, isSecureConnections: true)
    let key = LongTermKey(hex(Self.key), isAuthenticated: isAuthenticated, size: size)
    (bond.keyAsCentral, bond.keyAsPeripheral) = (key, key)
    return bond
  }

  /// New Long Term Key.
  private func newKey(kind: String = "02", size: String = "10", isKept: String = "01") throws {
    try receive(
      0x0A, isKept + Self.address + kind + "00" + size + "0000" + "0000000000000000" + Self.key)
  }

  // MARK: The adapter

  @Test func theBondsAreLoadedWhenTheAdapterIsOpened() async {
    store.bonds = [bond()]
    begin()
    await settle()
    #expect(
      takeSent("1300", "3000", "2d00", "1800", "0900").map { String($0.prefix(4)) } == [
        "1300", "3000", "2d00", "1800", "0900",
      ])
    stage.adapter.pairing?.end()
    #expect(takeSent("0900") == ["090000000100" + "00"])
  }

  /// Load would take bluetoothd's keys away.
  @Test func nothingIsSetWhereBluetoothdRuns() async {
    store.bonds = [bond()]
    world.runsBluetoothd = true
    begin()
    await settle()
    stage.adapter.pairing?.end()
    #expect(world.sent == [])
  }

  @Test(arguments: [PairingPolicy.never, .encryptOnly])
  func aPolicyWithoutPairingSetsNothing(_ policy: PairingPolicy) async {
    host.settings.policy = policy
    begin()
    await settle()
    #expect(world.sent == [])
  }

  // MARK: Raising

  @Test func severalCallsShareAnAttempt() async throws {
    begin()
    let staged = try makeLink()
    for _ in 0..<3 { secure(staged) }
    await settle()
    #expect(world.raises == [.encrypted] && world.results == [])
    world.option = KernelSecurityOption(level: .encrypted, keySize: 16)
    encrypted()
    // A link that ended now would leave no bond.
    #expect(world.results == [])
    try newKey()
    await settle()
    #expect(world.results == ["secured", "secured", "secured"])
    #expect(staged.link.security.isEncrypted && !staged.link.security.isAuthenticated)
    // Nothing has to be done for what the link has.
    secure(staged)
    #expect(world.raises == [.encrypted] && world.results.count == 4)
    staged.link.lose(.local)
  }

  /// The socket takes nothing before the kernel has handled the controller's report, which has no key size until then.
  @Test func pdusWaitUntilTheKernelIsReady() async throws {
    begin()
    let staged = try makeLink()
    secure(staged)
    await settle()
    staged.link.send(hex("0a0300").span.bytes)
    #expect(staged.pair.read() == [])
    world.option = KernelSecurityOption(level: .encrypted, keySize: 0)
    encrypted()
    #expect(world.results == [])
    world.option = KernelSecurityOption(level: .encrypted, keySize: 16)
    await settle()
    try newKey()
    await settle()
    #expect(world.results == ["secured"] && staged.pair.read() == [0x0A, 3, 0])
    staged.link.lose(.local)
  }

  @Test func keysOfAPeerThatDoesNotBondAreWaitedForShortly() async throws {
    let staged = try await encryptedLink(keySize: 16)
    await testTimers.sleep(for: KernelLinkSecurity.keyDeadline + .milliseconds(1))
    #expect(world.results == ["secured"] && staged.losses == [])
    staged.link.lose(.local)
  }

  /// A kernel that says nothing, as after a refusal on this side: the link is ended.
  @Test func anAttemptHasADeadline() async throws {
    begin()
    let staged = try makeLink()
    secure(staged)
    await testTimers.sleep(for: KernelLinkSecurity.deadline - .milliseconds(1))
    #expect(world.results == [])
    await testTimers.sleep(for: .milliseconds(2))
    #expect(world.results == ["encryptionTimedOut"])
    #expect(staged.losses == [.remote(.authenticationFailure)])
  }

  @Test func aFailureEndsTheAttemptAndTheLink() async throws {
    begin()
    let staged = try makeLink()
    secure(staged)
    await settle()
    try receive(0x11, Self.address + "05")
    #expect(world.results == ["pairingFailed"])
    #expect(staged.losses == [.remote(.authenticationFailure)])
    // Events that come late, and of others, do no harm.
    try receive(0x11, Self.address + "05")
    try receive(0x11, "010203040506" + "01" + "05")
    encrypted()
    #expect(world.results == ["pairingFailed"])
  }

  @Test func aPeerWithoutTheKeyIsNamed() async throws {
    store.bonds = [bond()]
    begin()
    let staged = try makeLink()
    secure(staged)
    await settle()
    encrypted(status: "06", isOn: "00")
    #expect(world.results == ["keyMissing"])
    stage.receive("01060403" + "4000" + "05")
    #expect(staged.losses == [.remote(.pinOrKeyMissing)])
  }

  @Test func aShortKeyIsRefused() async throws {
    let staged = try await encryptedLink(keySize: 15)
    #expect(world.results == ["pairingFailed"] && staged.losses == [.remote(.authenticationFailure)])
  }

  /// The bond gives less than is wanted: the link is encrypted with it, and the pairing is made over that link.
  @Test func aBondIsUsedBeforeABetterOneIsMade() async throws {
    store.bonds = [bond()]
    begin()
    let staged = try makeLink()
    secure(staged, to: .authenticated)
    await settle()
    #expect(world.raises == [.encrypted])
    world.option = KernelSecurityOption(level: .encrypted, keySize: 16)
    encrypted()
    await settle()
    #expect(world.raises == [.encrypted, .authenticated] && world.results == [])
    world.option = KernelSecurityOption(level: .authenticated, keySize: 16)
    stage.receive("043003" + "00" + "4000")
    try newKey(kind: "03")
    await settle()
    #expect(world.results == ["secured"] && staged.link.security.isAuthenticated)
    staged.link.lose(.local)
  }

  @Test func withoutABondAPolicyThatDoesNotPairRefuses() async throws {
    host.settings.policy = .encryptOnly
    begin()
    let staged = try makeLink()
    secure(staged)
    await settle()
    #expect(world.results == ["pairingFailed"] && world.raises == [] && staged.losses == [])
    staged.link.lose(.local)
  }

  @Test func withoutThePrivilegeNothingIsPairedWith() async throws {
    begin(isPrivileged: false)
    let staged = try makeLink()
    secure(staged)
    await settle()
    #expect(world.results == ["missingPrivilege"] && world.sent == [] && staged.losses == [])
    staged.link.lose(.local)
  }

  /// A key of a bond that was forgotten would encrypt the link.
  @Test func theKernelForgetsAPeerWithoutABond() async throws {
    begin()
    let staged = try makeLink()
    secure(staged)
    await settle()
    #expect(takeSent("1b00") == ["1b0000000800" + Self.address + "00"])
    staged.link.lose(.local)
    #expect(world.results == ["pairingFailed"])
  }

  @Test func besideBluetoothdAQuestionOfOursIsRefused() async throws {
    begin()
    world.runsBluetoothd = true
    let staged = try makeLink()
    await settle()
    world.sent = []
    // The pairing of bluetoothd itself.
    try receive(0x0F, Self.address + "01" + "00000000")
    #expect(world.sent == [])
    secure(staged)
    try receive(0x0F, Self.address + "01" + "00000000")
    #expect(world.sent == ["1d0000000700" + Self.address])
    try receive(0x11, Self.address + "05")
    #expect(world.results == ["notOffered"])
  }

  /// Controllers exist that stay in clear after a pause (CVE-2025-52435).
  @Test func encryptionThatIsSwitchedOffEndsTheLink() throws {
    begin()
    world.option = KernelSecurityOption(level: .encrypted, keySize: 16)
    let staged = try makeLink()
    #expect(staged.link.security.isEncrypted)
    encrypted(isOn: "00")
    #expect(staged.losses == [.remote(.authenticationFailure)])
  }

  // MARK: Questions and bonds

  @Test func questionsAboutOtherLinksAreLeftToTheirPrograms() async throws {
    begin()
    await settle()
    world.sent = []
    for code in [0x0F, 0x10] as [UInt16] { try receive(code, Self.address + "0000000000") }
    #expect(world.sent == [])
  }

  /// Just Works is allowed by the policy, and nothing that a user would have to see.
  @Test func thePolicyAnswers() async throws {
    begin()
    let staged = try makeLink()
    await settle()
    world.sent = []
    try receive(0x0F, Self.address + "01" + "00000000")
    try receive(0x0F, Self.address + "00" + "40e20100")
    try receive(0x10, Self.address)
    try receive(0x17, Self.address + "40e20100" + "00")
    let (yes, no, none) = ("1c0000000700", "1d0000000700", "1f0000000700")
    #expect(world.sent == [yes, no, none, none].map { $0 + Self.address })
    staged.link.lose(.local)
  }

  @Test func aBondedPeerThatPairsAnewIsRefused() async throws {
    store.bonds = [bond()]
    begin()
    let staged = try makeLink()
    await settle()
    world.sent = []
    try receive(0x0F, Self.address + "01" + "00000000")
    #expect(world.sent == ["1d0000000700" + Self.address])
    #expect(stage.machine.notes.last?.contains("asks to pair anew") == true)
    host.settings.allowsRepairing = true
    try receive(0x0F, Self.address + "01" + "00000000")
    #expect(world.sent.last == "1c0000000700" + Self.address)
    staged.link.lose(.local)
  }

  @Test func newKeysAreABond() async throws {
    begin()
    let staged = try makeLink()
    let identity = "010203040506" + "01"
    try receive(0x18, "01" + "b2a133221140" + identity + Self.key)
    try newKey()
    try newKey(kind: "04")
    try newKey(isKept: "00")
    await settle()
    #expect(store.bonds == [bond()])
    staged.link.lose(.local)
    // Keys of links of other programs are theirs.
    store.bonds = []
    try newKey()
    await settle()
    #expect(store.bonds == [])
  }

  /// The keys of LE legacy pairing come one by one, and are loaded as they came.
  @Test func aKeyForEachRole() async throws {
    begin()
    let staged = try makeLink()
    let (central, peripheral) = (
      "0001" + "10" + "0100" + "0200000000000000", "0000" + "10" + "0300" + "0400000000000000"
    )
    for part in [central, peripheral] {
      try receive(0x0A, "01" + Self.address + part + Self.key)
      await settle()
    }
    let bond = try #require(store.bonds.first)
    #expect(bond.keyAsCentral == LongTermKey(hex(Self.key), random: 2, diversifier: 1))
    #expect(bond.keyAsPeripheral == LongTermKey(hex(Self.key), random: 4, diversifier: 3))
    staged.link.lose(.local)
    world.sent = []
    stage.adapter.pairing?.begin(AdapterIndex(rawValue: 0), own: .zero, [.powered, .lowEnergy])
    let loaded = [central, peripheral].map { Self.address + $0 + Self.key }.joined()
    #expect(takeSent("1300") == ["130000004a00" + "0200" + loaded])
  }

  @Test(arguments: [("02", "10"), ("00", "10"), ("01", "10")])
  func aStrongerBondStays(_ kind: String, _ size: String) async throws {
    store.bonds = [bond(isAuthenticated: true)]
    begin()
    let staged = try makeLink()
    await settle()
    world.sent = []
    try newKey(kind: kind, size: size)
    await settle()
    #expect(store.bonds == [bond(isAuthenticated: true)])
    // The kernel has taken the new key, and gets the old one back.
    #expect(takeSent("1300").count == 1)
    #expect(staged.losses == [.remote(.authenticationFailure)])
  }

  /// A peer says that it is a device with a bond, which it was not known as when it came.
  @Test(arguments: [false, true])
  func claimedIdentityReplacesNoBond(_ isAllowed: Bool) async throws {
    let (text, identity) = ("010203040506" + "01", BluetoothAddress(0x0605_0403_0201, .public))
    var old = Bond(peer: identity, own: .zero, isSecureConnections: true)
    old.keyAsCentral = LongTermKey([UInt8](repeating: 9, count: 16))
    store.bonds = [old]
    host.settings.allowsRepairing = isAllowed
    begin()
    let staged = try makeLink()
    await settle()
    world.sent = []
    try receive(0x18, "01" + Self.address.prefix(12) + text + Self.key)
    try receive(0x0A, "01" + text + "02" + "00" + "10" + "0000" + "0000000000000000" + Self.key)
    await settle()
    #expect((store.bonds.last == old) == !isAllowed && store.bonds.count == 1)
    #expect(takeSent("1300").count == (isAllowed ? 0 : 1))
    #expect(staged.losses == (isAllowed ? [] : [.remote(.authenticationFailure)]))
    if isAllowed { staged.link.lose(.local) }
  }

  /// The kernel makes the keys of signatures, and signs nothing. Where bluetoothd runs, it has the counters.
  @Test(.enabled(if: LibcryptoCryptography.shared != nil, "libcrypto is not installed"))
  func writesAreSignedWithTheKeysOfTheKernel() async throws {
    var bond = bond()
    bond.own = stage.adapter.address
    bond.ownSigning = Bond.SigningKey(key: hex(Self.key), counter: 7)
    store.bonds = [bond]
    begin()
    let staged = try makeLink()
    let signing = try #require(staged.link.signing)
    #expect(signing.prepare())
    let counters = try [1, 2].map { _ in try signing.sign([0xD2, 1, 0, 9]).counter }
    #expect(counters == [7, 8] && store.bonds.first?.ownSigning?.counter == 107)
    staged.link.lose(.remote(.connectionTimeout))
    #expect(store.bonds.first?.ownSigning?.counter == 9)
    world.runsBluetoothd = true
    #expect(staged.link.signing == nil)
  }

  @Test func aBondWithAShortKeyIsNotKept() async throws {
    begin()
    let staged = try makeLink()
    try newKey(size: "0f")
    await settle()
    #expect(store.bonds == [] && staged.losses == [.remote(.authenticationFailure)])
  }
}
