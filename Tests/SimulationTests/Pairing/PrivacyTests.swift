import ATT
import GAP
import HCI
import HaloBluetoothCore
import HaloSecurityManager
import HaloSystem
import RingLink
import TestLoop
import Testing

@testable import HaloSimulation

/// Hosts with private addresses, which change, and what a person does with them.
@BluetoothActor
@Suite(.onTheLoop, .enabled(if: LibcryptoCryptography.shared != nil, "libcrypto is not installed"))
struct PrivacyTests {
  private var medium = RadioMedium(timers: testTimers)

  private static let device = BluetoothAddress(0x001A_7DDA_7199, .public)
  private static let phone = BluetoothAddress(0x001A_7DDA_7113, .public)
  private static let period = Duration.seconds(901)

  enum Controllers {
    /// Controllers of Bluetooth 4.
    case old
    case new
    /// The same, with a resolving list.
    case resolving
  }

  private static var resolvingMedium: RadioMedium {
    RadioMedium(timers: testTimers, cryptography: LibcryptoCryptography.shared)
  }

  private func device(
    hides: Bool, bluetooth5: Bool = true, address: BluetoothAddress = device
  ) async throws -> PairingDevice {
    let device = try await PairingDevice(
      medium, address.value, .noInputNoOutput, .justWorks, hides: hides, bluetooth5: bluetooth5)
    try device.advertise()
    return device
  }

  private func phone(
    hides: Bool, bluetooth5: Bool = true, address: BluetoothAddress = phone
  ) async throws -> (PairingDevice, Central) {
    let phone = try await PairingDevice(
      medium, address.value, .noInputNoOutput, .justWorks, hides: hides, bluetooth5: bluetooth5)
    return (phone, Central(phone.adapter))
  }

  /// The address on the air, as it is heard.
  private func heard(by central: Central) async throws -> BluetoothAddress {
    try #require(try await central.find(within: .seconds(5), where: { $0.isConnectable })).address
  }

  private func read(_ link: GATTLink) async throws -> [UInt8]? {
    try await link.gatt.readFirst(uuid: PairingDevice.encryptedType)
  }

  private func isPrivate(_ address: BluetoothAddress?) -> Bool {
    address.flatMap(ResolvableAddress.init) != nil
  }

  // MARK: The errand of an owner

  /// Whoever hides pairs once; later links, at other addresses, are those of the same device. Two that hide have to agree on
  /// the addresses on the air (apache/mynewt-nimble 323).
  @Test(arguments: [(true, false), (false, true), (true, true)], [Controllers.old, .new, .resolving])
  mutating func pairingOnceIsEnoughAtAnyAddress(
    _ hides: (phone: Bool, device: Bool), _ controllers: Controllers
  ) async throws {
    if controllers == .resolving { medium = Self.resolvingMedium }
    let bluetooth5 = controllers != .old
    let device = try await device(hides: hides.device, bluetooth5: bluetooth5)
    let (phone, central) = try await phone(hides: hides.phone, bluetooth5: bluetooth5)
    let first = try await heard(by: central)
    #expect(isPrivate(first) == hides.device)
    let link = try await central.connect(ConnectionRequest(peer: first))
    #expect(try await read(link) == [42])
    let ownAddresses = (link.localAddress, try device.link.localAddress)
    #expect(isPrivate(ownAddresses.0) == hides.phone && isPrivate(ownAddresses.1) == hides.device)
    let (bond, other) = (try #require(phone.bonds.bonds.first), try #require(device.bonds.bonds.first))
    #expect(bond.peer == Self.device && other.peer == Self.phone)
    #expect(bond.identityResolvingKey == other.ownIdentityResolvingKey)
    #expect(bond.ownIdentityResolvingKey == other.identityResolvingKey)
    #expect((bond.identityResolvingKey != nil) == hides.device)
    #expect((bond.ownIdentityResolvingKey != nil) == hides.phone)
    await link.disconnect()
    phone.restart()
    device.restart()
    for _ in 0..<2 {
      await testTimers.sleep(for: Self.period)
      let again = try await central.connect(ConnectionRequest(peer: Self.device))
      #expect(again.peer == Self.device && again.security.isEncrypted)
      #expect(phone.adapter.resolves(Self.device) == (hides.device && controllers == .resolving))
      #expect(try await read(again) == [42])
      #expect(try device.link.peer == Self.phone)
      #expect((again.localAddress != ownAddresses.0) == hides.phone)
      #expect((try device.link.localAddress != ownAddresses.1) == hides.device)
      await again.disconnect()
    }
    #expect(phone.bonds.bonds.count == 1 && device.bonds.bonds.count == 1)
    await central.stop()
  }

  /// The device has another address at once after a link has ended (zephyrproject-rtos/zephyr 18150), and who knows it connects
  /// again at once, too (espressif/esp-nimble 10).
  @Test func everyLinkHasAnAddressOfItsOwn() async throws {
    let device = try await device(hides: true)
    let (_, central) = try await phone(hides: false)
    var link = try await central.connect(ConnectionRequest(peer: try await heard(by: central)))
    try await link.secure(to: .encrypted)
    var addresses: Set<BluetoothAddress> = []
    for _ in 0..<5 {
      await link.disconnect()
      link = try await central.connect(ConnectionRequest(peer: Self.device))
      addresses.insert(try #require(try device.link.localAddress))
    }
    #expect(addresses.count == 5)
    await central.stop()
  }

  /// Who connected before pairing knows the device by the address that it had then.
  @Test func addressOfTheFirstLinkStandsForTheDevice() async throws {
    let device = try await device(hides: true)
    let (_, central) = try await phone(hides: false)
    let first = try await heard(by: central)
    let link = try await central.connect(ConnectionRequest(peer: first))
    try await link.secure(to: .encrypted)
    await link.disconnect()
    await testTimers.sleep(for: Self.period)
    try await central.untilHeard(PeerIdentity(first), eagerUntil: testTimers.now + .seconds(5))
    let named = RingSelector.address(first.value, nil)
    #expect(try await RingFinder.find(named, on: central, deadline: .seconds(5)).address == Self.device)
    let again = try await central.connect(ConnectionRequest(peer: first))
    #expect(again.security.isEncrypted && again.peer == Self.device)
    #expect(try device.link.localAddress != first)
    await central.stop()
  }

  /// All peers know this side by one key.
  @Test func eachPeerGetsTheSameKey() async throws {
    let device = try await device(hides: true)
    for number in 0..<3 as Range<UInt64> {
      let (phone, central) = try await phone(
        hides: false, address: BluetoothAddress(0x001A_7DDA_7113 + number, .public))
      let link = try await central.connect(ConnectionRequest(peer: try await heard(by: central)))
      try await link.secure(to: .encrypted)
      await link.disconnect()
      await central.stop()
      #expect(phone.bonds.bonds.count == 1)
      #expect(
        phone.bonds.bonds.first?.identityResolvingKey == device.bonds.bonds.first?.ownIdentityResolvingKey)
      device.restart()
    }
  }

  // MARK: Time

  /// While it advertises and scans, the address changes each quarter of an hour, and the controller never has a reason to refuse
  /// that (bluez/bluetooth-next 601, zephyrproject-rtos/zephyr 21714).
  @Test(arguments: [true, false], [true, false])
  func addressChangesWhileInUse(bluetooth5: Bool, scans: Bool) async throws {
    let device = try await PairingDevice(
      medium, Self.device.value, .noInputNoOutput, .justWorks, hides: true, bluetooth5: bluetooth5)
    // A scan that hears nothing is started again.
    let other = try await self.device(hides: false, address: Self.phone)
    var refusals = 0
    device.transport.editPacket = { packet in
      let settings = [LESetRandomAddress.opcode, LESetAdvertisingSetRandomAddress.opcode]
      if packet.count > 6, packet[1] == 0x0E, packet[6] != 0,
        settings.contains(where: { $0.rawValue == UInt16(packet[4]) | UInt16(packet[5]) << 8 })
      {
        refusals += 1
      }
      return [packet]
    }
    let scanner = Central(device.adapter)
    let scan = scans ? scanner.scan { _ in } : nil
    try device.advertise()
    let controller = try #require(device.transport.controller)
    var addresses: [BluetoothAddress] = []
    for _ in 0..<4 {
      await testTimers.sleep(for: .seconds(30))
      #expect(controller.isAdvertising && controller.isScanning == scans)
      addresses.append(controller.address)
      await testTimers.sleep(for: .seconds(840))
      #expect(controller.address == addresses.last)
      await testTimers.sleep(for: .seconds(31))
    }
    #expect(Set(addresses).count == 4 && addresses.allSatisfy(isPrivate))
    #expect(refusals == 0)
    scan?.cancel()
    await scanner.stop()
    await other.adapter.close()
  }

  /// A link is not touched by it.
  @Test func linkKeepsItsAddress() async throws {
    let device = try await device(hides: true)
    let (_, central) = try await phone(hides: true)
    let link = try await central.connect(ConnectionRequest(peer: try await heard(by: central)))
    let own = (link.localAddress, try device.link.localAddress)
    await testTimers.sleep(for: .seconds(2000))
    // c1, f5 and f6 use the addresses of the link.
    try await link.secure(to: .encrypted)
    #expect(own.0 == link.localAddress)
    #expect(try own.1 == device.link.localAddress)
    await central.stop()
  }

  /// The device was heard, and has another address a moment later: it is listened for again.
  @Test func changeBetweenHearingAndConnectingCostsSeconds() async throws {
    let device = try await device(hides: true)
    let (_, central) = try await phone(hides: false)
    let link = try await central.connect(ConnectionRequest(peer: try await heard(by: central)))
    try await link.secure(to: .encrypted)
    await link.disconnect()
    _ = try await heard(by: central)
    device.peripheral.stopAdvertising()
    try device.advertise()
    let begin = testTimers.now
    let again = try await central.connect(ConnectionRequest(peer: Self.device))
    #expect(again.security.isEncrypted && testTimers.now - begin < .seconds(15))
    await central.stop()
  }

  // MARK: What is not hidden, or was not

  /// A device that stops hiding is called at the address that it has (bluez/bluetooth-next 726).
  @Test(arguments: [false, true]) mutating func deviceThatStopsHidingIsReached(isResolved: Bool) async throws
  {
    if isResolved { medium = Self.resolvingMedium }
    let device = try await device(hides: true)
    let (_, central) = try await phone(hides: false)
    let link = try await central.connect(ConnectionRequest(peer: try await heard(by: central)))
    try await link.secure(to: .encrypted)
    await link.disconnect()
    await device.adapter.close()
    let open = try await self.device(hides: false)
    open.bonds.bonds = device.bonds.bonds
    let again = try await central.connect(ConnectionRequest(peer: Self.device))
    #expect(again.security.isEncrypted)
    #expect(try open.link.localAddress == Self.device)
    await central.stop()
  }

  /// A bond from before is of no use at a private address: the error says why, and what to do.
  @Test func bondWithoutTheKeyIsAnError() async throws {
    let device = try await device(hides: false)
    let (phone, central) = try await phone(hides: false)
    let link = try await central.connect(ConnectionRequest(peer: Self.device))
    try await link.secure(to: .encrypted)
    await central.stop()
    let (hidden, second) = try await self.phone(hides: true)
    hidden.bonds.bonds = phone.bonds.bonds
    do throws(StackError) {
      _ = try await second.connect(ConnectionRequest(peer: Self.device))
      Issue.record("the device knows a private address without its key")
    } catch {
      #expect(error.code == .keyMissing)
      #expect("\(error)".contains("does not know this machine at its private address"))
    }
    #expect(device.bonds.bonds.count == 1)
    await second.stop()
  }

  // MARK: The resolving list

  /// Both controllers know the other device: their event has the one that stays, and the addresses on the air.
  @Test mutating func eventOfAControllerWithAListHasAllAddresses() async throws {
    medium = Self.resolvingMedium
    let device = try await device(hides: true)
    let (phone, central) = try await phone(hides: true)
    let link = try await central.connect(ConnectionRequest(peer: try await heard(by: central)))
    try await link.secure(to: .encrypted)
    await link.disconnect()
    var events: [LEConnectionComplete] = []
    for each in [phone, device] {
      each.transport.editPacket = { packet in
        let event = try? Array(packet.dropFirst()).withReader { reader throws(DecodeError) in
          try HCIEvent(parsing: &reader)
        }
        if packet[0] == 4, case .leConnectionComplete(let complete)? = event { events.append(complete) }
        return [packet]
      }
    }
    let again = try await central.connect(ConnectionRequest(peer: Self.device))
    #expect(again.security.isEncrypted)
    let ofCentral = try #require(events.first { $0.role == .central })
    let ofPeripheral = try #require(events.first { $0.role == .peripheral })
    #expect(ofCentral.peerAddress == Self.device.resolved && ofPeripheral.peerAddress == Self.phone.resolved)
    #expect(isPrivate(ofCentral.localResolvableAddress) && isPrivate(ofCentral.peerResolvableAddress))
    #expect(ofCentral.localResolvableAddress == ofPeripheral.peerResolvableAddress)
    #expect(try again.localAddress == ofCentral.localResolvableAddress && device.link.peer == Self.phone)
    await central.stop()
  }

  /// A device calls a phone that hides, at an address that only the phone knows.
  @Test mutating func hiddenPhoneIsCalled() async throws {
    medium = Self.resolvingMedium
    let device = try await device(hides: true)
    let (_, central) = try await phone(hides: true)
    let link = try await central.connect(ConnectionRequest(peer: try await heard(by: central)))
    try await link.secure(to: .encrypted)
    await link.disconnect()
    let call = try Advertising(AdvertisingData(), kind: .directed(Self.phone, isHighDuty: false))
    try device.peripheral.startAdvertising(call)
    let again = try await central.connect(ConnectionRequest(peer: Self.device))
    #expect(again.security.isEncrypted)
    await again.disconnect()
    await testTimers.sleep(for: .seconds(1))
    let target = device.transport.controller?.advertisement?.target
    #expect(isPrivate(target) && target != Self.phone)
    await central.stop()
  }

  @Test func hiddenPhoneIsNotCalledWithoutAList() async throws {
    let device = try await device(hides: false)
    let (_, central) = try await phone(hides: true)
    let link = try await central.connect(ConnectionRequest(peer: Self.device))
    try await link.secure(to: .encrypted)
    await link.disconnect()
    let call = try Advertising(AdvertisingData(), kind: .directed(Self.phone, isHighDuty: false))
    do throws(StackError) {
      try device.peripheral.startAdvertising(call)
      Issue.record("nobody answers this")
    } catch {
      #expect("\(error)".contains("cannot call 00:1A:7D:DA:71:13: its address changes"))
    }
    await central.stop()
  }

  /// The list has room for the newest bonds; the host resolves the rest.
  @Test mutating func bondsWithoutRoomAreResolvedByTheHost() async throws {
    medium = Self.resolvingMedium
    let device = try await device(hides: true)
    let (phone, central) = try await phone(hides: false)
    let link = try await central.connect(ConnectionRequest(peer: try await heard(by: central)))
    try await link.secure(to: .encrypted)
    await link.disconnect()
    for number in 0..<8 as Range<UInt8> {
      var bond = Bond(
        peer: BluetoothAddress(0x00AA_0000_0000 | UInt64(number), .public), own: Self.phone,
        isSecureConnections: true)
      bond.identityResolvingKey = [UInt8](repeating: number + 1, count: 16)
      bond.keyAsCentral = LongTermKey([UInt8](repeating: number + 1, count: 16))
      phone.bonds.bonds.append(bond)
    }
    for isInList in [false, true] {
      if isInList { phone.bonds.bonds.removeLast() }
      await testTimers.sleep(for: Self.period)
      let again = try await central.connect(ConnectionRequest(peer: Self.device))
      #expect(again.security.isEncrypted && phone.adapter.resolves(Self.device) == isInList)
      await again.disconnect()
    }
    // A bond that is forgotten is not resolved.
    phone.bonds.bonds = []
    let stranger = try await heard(by: central)
    #expect(isPrivate(stranger) && !phone.adapter.resolves(Self.device))
    #expect(device.links.count == 3)
    await central.stop()
  }

  @Test func withoutTheLibraryNothingIsOnTheAir() async throws {
    let transport = SimulatedTransport(medium)
    let adapter = HCIAdapter(transport)
    let security = SecurityHost(nil)
    security.usesPrivateAddresses = true
    adapter.security = security
    await #expect(throws: StackError.noPrivateAddress) { try await adapter.start() }
    #expect(transport.controller == nil)
    await adapter.close()
  }
}
