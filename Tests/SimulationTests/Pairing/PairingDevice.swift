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

/// Bonds that last as long as a test.
@BluetoothActor final class MemoryBonds: BondStore {
  var bonds: [Bond] = []
  var failure: BondStoreError?
  /// How often a bond was stored or changed.
  private(set) var count = 0

  func check() throws(BondStoreError) { if let failure { throw failure } }

  func make(_ change: BondChange, completion: @escaping (Result<Bond?, BondStoreError>) -> Void) {
    if let failure { return completion(.failure(failure)) }
    count += 1
    completion(Result { () throws(BondStoreError) in try change.make(in: &bonds) })
  }

  func finish() async {}
}

/// A user who answers at once.
@BluetoothActor final class TestUser: PairingAgent {
  var ioCapability: IOCapability
  var questions: [PairingQuestion] = []
  var ends: [StackError?] = []
  /// The passkey that the other user reads out.
  var passkey: () -> UInt32 = { 0 }
  var refuses = false
  /// Whether this user has gone away.
  var isAway = false
  private let timers = testTimers

  init(_ ioCapability: IOCapability) { self.ioCapability = ioCapability }

  func ask(
    _ question: PairingQuestion, about peer: BluetoothAddress, answer: @escaping (PairingAnswer) -> Void
  ) {
    questions.append(question)
    if isAway { return }
    if refuses { return answer(.refuse) }
    switch question {
    case .allow, .compare: answer(.accept)
    // The other side shows it in the same moment.
    case .enterPasskey:
      timers.schedule(after: .milliseconds(500)) { [self] in answer(.passkey(passkey())) }
    case .showPasskey: break
    }
  }

  func pairingEnded(with peer: BluetoothAddress, _ error: StackError?) { ends.append(error) }

  var shownPasskey: UInt32 {
    for case .showPasskey(let number) in questions.reversed() { return number }
    return 0
  }
}

/// A host that pairs in either role, and serves values that need encryption.
@BluetoothActor final class PairingDevice {
  let transport: TappedTransport
  let adapter: HCIAdapter
  let bonds = MemoryBonds()
  let user: TestUser
  var security: SecurityHost
  let database = AttributeDatabase()
  let encrypted: AttributeHandle
  let authenticated: AttributeHandle
  /// Takes writes with a signature, or over an encrypted link: commands, and the second one also requests.
  let signed: AttributeHandle
  let signedOrEncrypted: AttributeHandle
  let peripheral: Peripheral
  let address: BluetoothAddress
  var links: [GATTLink] = []
  var events: [LinkEvent] = []
  var unkept: [BondStoreError] = []

  static let service = BluetoothUUID(0x1809 as UInt16)
  static let encryptedType = BluetoothUUID(0x2A1C as UInt16)
  static let authenticatedType = BluetoothUUID(0x2A1D as UInt16)

  /// - Parameters:
  ///   - privateAddress: the address on the air; nil for the public one
  ///   - hides: whether it uses private addresses of its own
  init(
    _ medium: RadioMedium, _ address: UInt64, _ ioCapability: IOCapability, _ policy: PairingPolicy,
    privateAddress: BluetoothAddress? = nil, hides: Bool = false, bluetooth5: Bool = true
  ) async throws {
    var options = ControllerOptions()
    options.bluetooth5 = bluetooth5
    options.address = BluetoothAddress(address, .public)
    self.address = privateAddress ?? options.address
    transport = TappedTransport(medium, options)
    adapter = HCIAdapter(
      transport, randomAddress: privateAddress ?? BluetoothAddress(0xC000_0000_0000 | address, .random),
      prefersRandomAddress: privateAddress != nil)
    user = TestUser(ioCapability)
    security = SecurityHost(
      LibcryptoCryptography.shared, bonds: bonds, settings: PairingSettings(policy: policy), agent: user)
    security.usesPrivateAddresses = hides
    adapter.security = security
    database.addService(Self.service)
    encrypted = database.addCharacteristic(
      Self.encryptedType, [.read, .notify], value: [42], security: .encrypted)
    authenticated = database.addCharacteristic(
      Self.authenticatedType, .read, value: [43], security: .authenticated)
    signed = database.addCharacteristic(0x2A3F, .authenticatedSignedWrites, value: [0], capacity: 1)
    signedOrEncrypted = database.addCharacteristic(
      0x2A40, [.write, .writeWithoutResponse, .authenticatedSignedWrites], value: [0], capacity: 1,
      security: .encryptedOrSigned)
    peripheral = Peripheral(adapter, serving: database)
    security.onBondNotKept = { [weak self] in self?.unkept.append($0) }
    _ = try await adapter.start()
    peripheral.onConnection = { [unowned self] link in add(link) }
  }

  func add(_ link: GATTLink) {
    links.append(link)
    link.whenChanged { [weak self] in self?.events.append($0) }
  }

  func advertise() throws {
    try peripheral.startAdvertising(
      try Advertising(AdvertisingData([.flags([.generalDiscoverable, .brEDRNotSupported])])))
  }

  /// The same device after a restart: what it has in memory is gone, its bonds are not.
  func restart() {
    let hides = security.usesPrivateAddresses
    security = SecurityHost(
      LibcryptoCryptography.shared, bonds: bonds, settings: security.settings, agent: user)
    security.usesPrivateAddresses = hides
    security.onBondNotKept = { [weak self] in self?.unkept.append($0) }
    adapter.security = security
  }

  var link: GATTLink { get throws { try #require(links.last) } }
}
