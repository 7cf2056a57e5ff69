import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import L2CAP
import RingLink
import TestLink
import TestLoop
import Testing
import HaloSimulation

/// The ring on an adapter, met by centrals on the same radio, each with a host of its own.
@Suite(.onTheLoop, .serialized) @BluetoothActor struct RingOnAdapterTests {
  private static let address = BluetoothAddress(0x001A_7DDA_71CA, .public)
  private let medium = RadioMedium(timers: testTimers)

  /// The ring, and its radio.
  @BluetoothActor private final class Served {
    let transport: SimulatedTransport
    let host: Central
    let ring: RingOnAdapter
    var events: [RingOnAdapter.Event] = []

    init(_ medium: RadioMedium, _ text: String, randomAddress: BluetoothAddress?) async throws {
      var controller = ControllerOptions()
      controller.address = RingOnAdapterTests.address
      transport = SimulatedTransport(medium, controller)
      let adapter = HCIAdapter(
        transport, randomAddress: randomAddress, prefersRandomAddress: randomAddress != nil)
      host = Central(adapter)
      let information = try await host.start()
      ring = RingOnAdapter(try VirtualRingOptions(parsing: text), on: adapter, at: information.address)
      ring.onEvent = { [unowned self] in events.append($0) }
      try ring.start()
    }
  }

  private func serve(_ text: String = "", randomAddress: BluetoothAddress? = nil) async throws -> Served {
    try await Served(medium, text, randomAddress: randomAddress)
  }

  private func central(_ number: UInt64 = 1) async throws -> (host: Central, transport: SimulatedTransport) {
    var options = ControllerOptions()
    options.address = BluetoothAddress(0x001A_7DDA_7200 + number, .public)
    let transport = SimulatedTransport(medium, options)
    let central = Central(HCIAdapter(transport))
    try await central.start()
    return (central, transport)
  }

  private func find(_ central: Central, within time: Duration = .seconds(1)) async throws -> Advertisement? {
    try await central.find(
      within: time,
      where: {
        $0.localName?.hasPrefix("R02_") == true && !$0.manufacturerData.isEmpty
      })
  }

  private func meet(_ central: Central) async throws -> GATTLink {
    let found = try #require(try await find(central))
    return try await central.connect(ConnectionRequest(peer: found.address))
  }

  @Test func nameEndsWithAdapterAddress() async throws {
    let served = try await serve()
    let (phone, _) = try await central()
    let found = try #require(try await find(phone))
    #expect(found.address == Self.address && found.localName == "R02_71CA")
    #expect(Set(found.serviceUUIDs) == [BluetoothUUID(0x3802 as UInt16), RingGATT.commandService])
    #expect(found.manufacturerData.map(\.data) == [[0xCA, 0x71, 0xDA, 0x7D, 0x1A, 0x00]])
    await served.ring.stop()
    #expect(try await find(phone) == nil)
  }

  @Test func usesConfiguredNameAndAddress() async throws {
    let address = BluetoothAddress(0xC011_2233_4455, .random)
    let served = try await serve("name=R02_MINE", randomAddress: address)
    let found = try #require(try await find(try await central().host))
    #expect(found.address == address && found.localName == "R02_MINE")
    #expect(served.ring.options.address == address)
  }

  /// What a client of rings does, on a radio that both share.
  @Test func aClientOfRingsUsesIt() async throws {
    let served = try await serve("rate=25,battery=41")
    let ring = try await RingClient.open(try await meet(try await central().host))
    #expect(try await ring.battery().percent == 41)
    var samples = 0
    try await ring.startRawStream { _, _ in samples += 1 }
    await testTimers.sleep(for: .seconds(2))
    await ring.stopRawStream()
    // Three sensors.
    #expect((130...160).contains(samples))
    #expect(served.ring.peripheral.mtu == 247)
    await ring.connection.disconnect()
    #expect(served.ring.peripheral.log.disconnections == 1)
  }

  @Test func advertisesWhenDisconnectedAndKeepsState() async throws {
    let served = try await serve()
    let (phone, _) = try await central()
    let (other, _) = try await central(2)
    let first = try await RingClient.open(try await meet(phone))
    try await first.change(CommandTable.heartRateSchedule, ["interval": 25])
    #expect(try await find(other) == nil)
    await first.connection.disconnect()
    let second = try await RingClient.open(try await meet(other))
    #expect(try await second.numbers(of: CommandTable.heartRateSchedule)["interval"] == 25)
    #expect(
      served.events.map(\.kind) == ["advertises", "connected", "disconnected", "connected"])
  }

  /// A phone that is switched off says nothing.
  @Test func aCentralThatVanishesIsMissed() async throws {
    let served = try await serve()
    let (phone, transport) = try await central()
    _ = try await meet(phone)
    transport.close()
    await testTimers.sleep(for: .seconds(6))
    #expect(served.events.map(\.kind) == ["advertises", "connected", "disconnected"])
    #expect(try await find(try await central(2).host) != nil)
  }

  @Test(arguments: [185, 247, 517]) func bothEndsExchangeTheMTU(_ mtu: Int) async throws {
    let served = try await serve()
    let (phone, _) = try await central()
    let found = try #require(try await find(phone))
    var request = ConnectionRequest(peer: found.address)
    request.mtu = mtu
    let link = try await phone.connect(request)
    #expect(try await link.gatt.exchangeMTU() == min(mtu, 247))
    await testTimers.sleep(for: .seconds(1))
    #expect(served.ring.peripheral.mtu == min(mtu, 247))
    // Generic Access and Generic Attribute are read as any other.
    let services = try await link.gatt.discoverServices()
    #expect(services.map(\.uuid).prefix(2) == [GATTUUID.genericAttribute, GATTUUID.genericAccess])
    #expect(try await link.gatt.read(AttributeHandle(0x0007)) == Array("R02_71CA".utf8))
  }

  /// It asks for a short interval, and later for one that saves power. A central that never says anything keeps its link.
  @Test func requestsParametersAndKeepsSilentCentral() async throws {
    let served = try await serve()
    let link = try await meet(try await central().host)
    await testTimers.sleep(for: .seconds(120))
    #expect(link.isConnected)
    let intervals = served.ring.peripheral.log.intervals
    #expect(intervals.count > 1 && intervals.last == ConnectionInterval(rawValue: 100))
  }

  /// A ring that is out of reach ends the link; the others of its faults are the same.
  @Test(arguments: ["drop-after=20", "mute-after=20", "stop-after=20"])
  func theFaultsOfAStreamAreThoseOfTheRadioInMemory(_ fault: String) async throws {
    let served = try await serve("rate=25,\(fault)")
    let (phone, _) = try await central()
    let ring = try await RingClient.open(try await meet(phone))
    var samples = 0
    try await ring.startRawStream { _, _ in samples += 1 }
    await testTimers.sleep(for: .seconds(2))
    #expect(samples == 60)
    #expect(ring.connection.isConnected == (fault != "drop-after=20"))
    let answers = (try? await ring.battery()) != nil
    #expect(answers == (fault == "stop-after=20"))
    #expect(served.events.map(\.kind).prefix(2) == ["advertises", "connected"])
  }

  @Test func aRingThatIsLostEarlyIsThereAgain() async throws {
    let served = try await serve("early=1")
    let (phone, _) = try await central()
    let first = try await meet(phone)
    await #expect(throws: RingError.self) { try await RingClient.open(first) }
    #expect(try await RingClient.open(try await meet(phone)).battery().percent == 87)
    #expect(served.ring.peripheral.log.connections == 2)
  }

  @Test func aRingThatIsSwitchedOffIsGone() async throws {
    let served = try await serve()
    let (phone, _) = try await central()
    let ring = try await RingClient.open(try await meet(phone))
    try await ring.powerOff()
    await testTimers.sleep(for: .seconds(2))
    #expect(served.events.map(\.kind) == ["advertises", "connected", "switched off", "disconnected"])
    #expect(try await find(phone) == nil)
  }

  /// It says that it advertises when the radio does, and not before.
  @Test func reportsAdvertisingWhenItStarts() throws {
    let adapter = FakeAdapter()
    let ring = RingOnAdapter(VirtualRingOptions(), on: adapter, at: Self.address)
    var kinds: [String] = []
    ring.onEvent = { kinds.append($0.kind) }
    try ring.start()
    #expect(kinds.isEmpty)
    for _ in 0..<3 { adapter.advertise(.commandFailed(LESetAdvertisingEnable.opcode, .commandDisallowed)) }
    #expect(kinds == ["refused"])
    for _ in 0..<2 { adapter.advertise(nil) }
    #expect(kinds == ["refused", "advertises"])
  }

  /// It advertises again when its radio has been reset.
  @Test func aRadioThatFailsIsUsedAgain() async throws {
    let served = try await serve()
    let (phone, _) = try await central()
    _ = try await meet(phone)
    served.transport.onClose?("unplugged")
    #expect(served.events.map(\.kind) == ["advertises", "connected", "disconnected"])
    try await served.host.recover(within: .seconds(10))
    #expect(try await find(phone, within: .seconds(10)) != nil)
  }

  @Test(arguments: ["rings=2", "address=C0:11:22:33:44:55", "acl=27", "rssi=-60", "faults=1", "silent"])
  func identifiesOptionsThatNeedVirtualRadio(_ text: String) throws {
    #expect(try VirtualRingOptions(parsing: text).needRadioInMemory)
    #expect(try !VirtualRingOptions(parsing: "seed=9,rate=50,name=R02_MINE,early=1").needRadioInMemory)
    let name = text.split(separator: "=").first.map(String.init) ?? text
    #expect(VirtualRingOptions.optionsOfMemory.contains(name))
  }
}

extension RingOnAdapter.Event {
  fileprivate var kind: String {
    switch self {
    case .radio(.connected): "connected"
    case .radio(.disconnected): "disconnected"
    case .radio(.advertising(let error)): error == nil ? "advertises" : "refused"
    case .switchedOff: "switched off"
    }
  }
}
