import ATT
import GAP
import HCI
import HaloBluetoothCore
import HaloGATT
import HaloSecurityManager
import HaloSystem
import TestLoop
import Testing

@testable import HaloSimulation

/// Two hosts of this package that pair in one air: a central, and a peripheral with values that need encryption.
@BluetoothActor
@Suite(.onTheLoop, .enabled(if: LibcryptoCryptography.shared != nil, "libcrypto is not installed"))
struct PairedHostsTests {
  private let medium = RadioMedium(timers: testTimers)

  private static let address: UInt64 = 0x001A_7DDA_7199

  private func device(_ capability: IOCapability, _ policy: PairingPolicy = .ask) async throws
    -> PairingDevice
  {
    let device = try await PairingDevice(medium, Self.address, capability, policy)
    try device.advertise()
    return device
  }

  private func phone(_ capability: IOCapability, _ policy: PairingPolicy = .ask) async throws -> (
    PairingDevice, Central
  ) {
    let phone = try await PairingDevice(medium, 0x001A_7DDA_7113, capability, policy)
    return (phone, Central(phone.adapter))
  }

  private func connect(_ central: Central) async throws(StackError) -> GATTLink {
    try await central.connect(ConnectionRequest(peer: BluetoothAddress(Self.address, .public)))
  }

  private func value(_ type: BluetoothUUID, over link: GATTLink) async throws(StackError) -> [UInt8]? {
    try await link.gatt.readFirst(uuid: type)
  }

  // MARK: Errands

  /// A read is refused, the two pair, and the read is repeated: once. The next link is encrypted before it is used.
  @Test func encryptedReadPairsOnceForEver() async throws {
    let device = try await device(.noInputNoOutput, .justWorks)
    let (phone, central) = try await phone(.noInputNoOutput, .justWorks)
    let link = try await connect(central)
    #expect(try await value(PairingDevice.encryptedType, over: link) == [42])
    #expect(link.security.isEncrypted && !link.security.isAuthenticated)
    #expect(phone.bonds.bonds.count == 1 && device.bonds.bonds.count == 1)
    #expect(phone.bonds.bonds.first?.keyAsCentral == device.bonds.bonds.first?.keyAsPeripheral)
    await link.disconnect()
    phone.restart()
    device.restart()
    let again = try await connect(central)
    #expect(again.security.isEncrypted)
    #expect(try await value(PairingDevice.encryptedType, over: again) == [42])
    #expect(phone.bonds.bonds.count == 1)
    await central.stop()
  }

  /// Each method, as the capabilities of both sides choose it.
  @Test(arguments: [
    (IOCapability.displayYesNo, IOCapability.displayYesNo, PairingMethod.numericComparison),
    (.keyboardOnly, .displayOnly, .passkeyEntry(typedBy: .initiator)),
    (.displayOnly, .keyboardOnly, .passkeyEntry(typedBy: .responder)),
    (.keyboardOnly, .keyboardOnly, .passkeyEntry(typedBy: .both)),
  ])
  func authenticatedReadAsksPeople(
    _ ofCentral: IOCapability, _ ofPeripheral: IOCapability, _ method: PairingMethod
  ) async throws {
    let device = try await device(ofPeripheral)
    let (phone, central) = try await phone(ofCentral)
    phone.user.passkey = { device.user.shownPasskey }
    device.user.passkey = { phone.user.shownPasskey }
    let link = try await connect(central)
    #expect(try await value(PairingDevice.authenticatedType, over: link) == [43])
    #expect(link.security.isAuthenticated)
    let strength = PairingStrength(isAuthenticated: true, isSecureConnections: true, keySize: 16)
    #expect(device.events.contains(.paired(method, strength, isKept: true)))
    if method == .numericComparison { #expect(phone.user.questions == device.user.questions) }
    #expect(phone.user.ends == [nil] && device.user.ends == [nil])
    await central.stop()
  }

  /// A Just Works bond does not satisfy an attribute that wants a person: the two pair again over the encrypted link.
  @Test func bondIsRaisedOverTheEncryptedLink() async throws {
    let device = try await device(.displayYesNo, .justWorks)
    let (phone, central) = try await phone(.displayYesNo, .justWorks)
    let link = try await connect(central)
    #expect(try await value(PairingDevice.encryptedType, over: link) == [42])
    #expect(phone.bonds.bonds.first?.strength.isAuthenticated == false)
    device.security.settings.policy = .ask
    phone.security.settings.policy = .ask
    #expect(try await value(PairingDevice.authenticatedType, over: link) == [43])
    #expect(phone.bonds.bonds.map(\.strength.isAuthenticated) == [true])
    await central.stop()
  }

  // MARK: Refusals

  @Test func withoutPermissionTheRefusalSaysWhatToDo() async throws {
    let device = try await device(.noInputNoOutput, .justWorks)
    let (_, central) = try await phone(.noInputNoOutput, .encryptOnly)
    let link = try await connect(central)
    do throws(StackError) {
      _ = try await value(PairingDevice.encryptedType, over: link)
      Issue.record("a value came in clear")
    } catch {
      #expect(error.attCode == .insufficientAuthentication)
      #expect("\(error)".contains("00:1A:7D:DA:71:99 wants pairing, which is not allowed here"))
    }
    #expect(link.isConnected && device.bonds.bonds == [])
    await central.stop()
  }

  @Test func userWhoRefusesEndsPairing() async throws {
    let device = try await device(.displayYesNo)
    let (phone, central) = try await phone(.displayYesNo)
    device.user.refuses = true
    let link = try await connect(central)
    await #expect(throws: StackError.self) { try await value(PairingDevice.authenticatedType, over: link) }
    #expect(phone.bonds.bonds == [] && device.bonds.bonds == [])
    #expect(phone.user.ends.count == 1 && phone.user.ends.first??.code == .pairingFailed)
    #expect(!link.security.isEncrypted)
    await central.stop()
  }

  /// Programs that ask at once get one pairing.
  @Test func concurrentRequestsShareOnePairing() async throws {
    let device = try await device(.noInputNoOutput, .justWorks)
    let (_, central) = try await phone(.noInputNoOutput, .justWorks)
    let link = try await connect(central)
    async let first: Void = link.secure(to: .encrypted)
    async let second = value(PairingDevice.encryptedType, over: link)
    async let third: Void = link.secure(to: .encrypted)
    _ = try await (first, second, third)
    #expect(device.events.count { if case .paired = $0 { true } else { false } } == 1)
    await central.stop()
  }

  // MARK: Bonds that do not fit

  /// The device was reset: the link is never used in clear, and the error says what to do.
  @Test func deviceThatForgotItsBondIsAnError() async throws {
    let device = try await device(.noInputNoOutput, .justWorks)
    let (phone, central) = try await phone(.noInputNoOutput, .justWorks)
    let link = try await connect(central)
    try await link.secure(to: .encrypted)
    await link.disconnect()
    device.bonds.bonds = []
    do throws(StackError) {
      _ = try await connect(central)
      Issue.record("a link in clear to a bonded peer")
    } catch {
      #expect(error.code == .keyMissing)
      #expect("\(error)".contains("00:1A:7D:DA:71:99 does not have the key of its bond"))
    }
    #expect(phone.bonds.bonds.count == 1)
    phone.bonds.bonds = []
    let again = try await connect(central)
    #expect(try await value(PairingDevice.encryptedType, over: again) == [42])
    await central.stop()
  }

  @Test func anotherKeyAtThePeerIsAnError() async throws {
    let device = try await device(.noInputNoOutput, .justWorks)
    let (_, central) = try await phone(.noInputNoOutput, .justWorks)
    let link = try await connect(central)
    try await link.secure(to: .encrypted)
    await link.disconnect()
    device.bonds.bonds[0].keyAsPeripheral?.value = [UInt8](repeating: 9, count: 16)
    await #expect(throws: StackError.keyMissing(at: BluetoothAddress(Self.address, .public))) {
      try await connect(central)
    }
    await central.stop()
  }

  /// A phone that has forgotten this device would evict its bond by pairing anew; it may do so when the owner says so.
  @Test func bondedCentralPairsAnewOnlyIfAllowed() async throws {
    let device = try await device(.noInputNoOutput, .justWorks)
    let (phone, central) = try await phone(.noInputNoOutput, .justWorks)
    let link = try await connect(central)
    try await link.secure(to: .encrypted)
    await link.disconnect()
    let bond = device.bonds.bonds
    phone.bonds.bonds = []
    let second = try await connect(central)
    await #expect(throws: StackError.self) { try await second.secure(to: .encrypted) }
    #expect(device.bonds.bonds == bond)
    #expect(device.events.contains(.repairingRefused))
    await second.disconnect()
    device.security.settings.allowsRepairing = true
    phone.restart()
    let third = try await connect(central)
    try await third.secure(to: .encrypted)
    // The last key is on its way to the device.
    await testTimers.sleep(for: .seconds(1))
    #expect(device.bonds.bonds != bond && device.bonds.bonds.count == 1)
    await central.stop()
  }

  @Test func bondThatCannotBeStoredIsSaid() async throws {
    let device = try await device(.noInputNoOutput, .justWorks)
    let (_, central) = try await phone(.noInputNoOutput, .justWorks)
    device.bonds.failure = BondStoreError("the disk is full")
    let link = try await connect(central)
    try await link.secure(to: .encrypted)
    await testTimers.sleep(for: .seconds(1))
    #expect(device.unkept == [BondStoreError("the disk is full")])
    #expect(device.bonds.bonds == [])
    await central.stop()
  }

  // MARK: The peripheral's wish

  /// A peripheral asks for security, and the central pairs or encrypts.
  @Test func securityRequestPairs() async throws {
    let device = try await device(.noInputNoOutput, .justWorks)
    let (phone, central) = try await phone(.noInputNoOutput, .justWorks)
    let link = try await connect(central)
    await testTimers.sleep(for: .seconds(1))
    try await device.link.secure(to: .encrypted)
    #expect(link.security.isEncrypted)
    await testTimers.sleep(for: .seconds(1))
    #expect(phone.bonds.bonds.count == 1)
    await central.stop()
  }

  @Test func securityRequestOfUnwantedPeerIsRefused() async throws {
    let device = try await device(.noInputNoOutput, .justWorks)
    let (_, central) = try await phone(.noInputNoOutput, .encryptOnly)
    _ = try await connect(central)
    await testTimers.sleep(for: .seconds(1))
    let phone = BluetoothAddress(0x001A_7DDA_7113, .public)
    await #expect(throws: StackError.pairingFailed(.peer(.pairingNotSupported), with: phone)) {
      try await device.link.secure(to: .encrypted)
    }
    await central.stop()
  }

  // MARK: What a server keeps of a bonded client

  /// A phone writes its configurations once: they hold over links and restarts, and not before the link is encrypted.
  @Test func bondedClientKeepsItsSubscriptions() async throws {
    let device = try await device(.noInputNoOutput, .justWorks)
    let (_, central) = try await phone(.noInputNoOutput, .justWorks)
    let link = try await connect(central)
    try await link.secure(to: .encrypted)
    let service = try #require(try await link.gatt.firstService(PairingDevice.service))
    let all = try await link.gatt.discoverCharacteristics(of: service)
    let characteristic = try #require(all.first { $0.uuid == PairingDevice.encryptedType })
    _ = try await link.gatt.subscribe(to: characteristic) { _, _ in }
    await link.disconnect()
    #expect(device.bonds.bonds.first?.client?.configurations.map(\.handle) == [device.encrypted])
    device.restart()
    let again = try await connect(central)
    await testTimers.sleep(for: .seconds(1))
    let server = try #require(try device.link.server)
    #expect(server.configuration(of: device.encrypted) == .notify)
    #expect(server.notify([7], of: device.encrypted) == .sent)
    // The end of a link is not the end of a subscription of a bonded client.
    await again.disconnect()
    #expect(device.bonds.bonds.first?.client?.configurations.map(\.value) == [.notify])
    await central.stop()
  }

  /// Without the bond, somebody with the address of the phone gets nothing.
  @Test func strangerAtTheClientsAddressGetsNothing() async throws {
    let device = try await device(.noInputNoOutput, .justWorks)
    device.bonds.bonds = [
      {
        var bond = Bond(
          peer: BluetoothAddress(0x001A_7DDA_7113, .public), own: BluetoothAddress(Self.address, .public),
          isSecureConnections: true)
        bond.keyAsPeripheral = LongTermKey([UInt8](repeating: 1, count: 16))
        bond.client = ClientRecord(
          configurations: [
            .init(handle: device.encrypted, type: PairingDevice.encryptedType, value: .notify)
          ], table: device.database.fingerprint)
        return bond
      }()
    ]
    let (_, central) = try await phone(.noInputNoOutput, .encryptOnly)
    _ = try await connect(central)
    await testTimers.sleep(for: .seconds(1))
    let server = try #require(try device.link.server)
    #expect(server.configuration(of: device.encrypted) == [])
    #expect(server.notify([7], of: device.encrypted) == .notSubscribed)
    await central.stop()
  }
}
