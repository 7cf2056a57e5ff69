import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import TestLoop
import Testing

@testable import HaloSimulation

/// Two hosts of this package in one air: a central, and a peripheral with a database.
@BluetoothActor
@Suite(.onTheLoop) struct TwoHostsTests {
  private let medium = RadioMedium(timers: testTimers)

  /// The device that is found: a thermometer.
  @BluetoothActor private final class Thermometer {
    let transport: SimulatedTransport
    let adapter: HCIAdapter
    let database = AttributeDatabase()
    let value: AttributeHandle
    let setting: AttributeHandle
    let peripheral: Peripheral
    var connections: [GATTLink] = []
    var written: [[UInt8]] = []

    static let service = BluetoothUUID(0x1809 as UInt16)
    static let temperature = BluetoothUUID(0x2A6E as UInt16)
    static let settingType = BluetoothUUID(0x2A21 as UInt16)

    init(_ medium: RadioMedium, _ options: ControllerOptions, maximumConnections: Int = 1) async throws {
      transport = SimulatedTransport(medium, options)
      adapter = HCIAdapter(transport, randomAddress: BluetoothAddress(0xC000_0000_0002, .random))
      database.addService(Self.service)
      value = database.addCharacteristic(Self.temperature, [.read, .notify, .indicate], value: [0xC4, 0x09])
      setting = database.addCharacteristic(Self.settingType, [.read, .write], value: [1])
      peripheral = Peripheral(adapter, serving: database, maximumConnections: maximumConnections)
      _ = try await adapter.start()
      peripheral.onConnection = { [unowned self] connection in
        connections.append(connection)
        connection.server?.onEvent = { [weak self] event in
          if case .written(_, let value) = event { self?.written.append(value) }
        }
      }
    }

    func advertise() throws {
      let data = AdvertisingData([
        .flags([.generalDiscoverable, .brEDRNotSupported]),
        .serviceUUIDs([Self.service], width: .two, isComplete: true),
      ])
      let response = AdvertisingData([.localName(Array("Thermometer".utf8), isComplete: true)])
      try peripheral.startAdvertising(try Advertising(data, scanResponse: response))
    }
  }

  private func thermometer(
    bluetooth5: Bool = true, address: UInt64 = 0x001A_7DDA_7199, maximumConnections: Int = 1
  ) async throws -> Thermometer {
    var options = ControllerOptions()
    options.address = BluetoothAddress(address, .public)
    options.bluetooth5 = bluetooth5
    return try await Thermometer(medium, options, maximumConnections: maximumConnections)
  }

  private func central(
    bluetooth5: Bool = true, address: UInt64 = 0x001A_7DDA_7113
  ) async throws -> (Central, SimulatedTransport) {
    var options = ControllerOptions()
    options.address = BluetoothAddress(address, .public)
    options.bluetooth5 = bluetooth5
    options.aclLength = bluetooth5 ? 251 : 27
    let transport = SimulatedTransport(medium, options)
    let central = Central(HCIAdapter(transport, randomAddress: BluetoothAddress(0xC000_0000_0001, .random)))
    try await central.start()
    return (central, transport)
  }

  /// A link between two hosts, and the characteristics that the central has found.
  @BluetoothActor private struct Meeting {
    let thermometer: Thermometer
    let central: Central
    let connection: GATTLink
    let characteristics: [BluetoothUUID: Characteristic]

    func characteristic(_ uuid: BluetoothUUID) throws -> Characteristic {
      try #require(characteristics[uuid])
    }
    var served: GATTLink { get throws { try #require(thermometer.connections.last) } }
  }

  private func meet(
    _ thermometer: Thermometer, bluetooth5: Bool = true
  ) async throws -> Meeting {
    let (central, _) = try await central(bluetooth5: bluetooth5)
    try thermometer.advertise()
    let found = try #require(
      try await central.find(within: .seconds(2), where: { $0.isNamed("thermometer") }))
    let connection = try await central.connect(ConnectionRequest(peer: found.address))
    let service = try #require(try await connection.gatt.firstService(Thermometer.service))
    let all = try await connection.gatt.discoverCharacteristics(of: service)
    return Meeting(
      thermometer: thermometer, central: central, connection: connection,
      characteristics: Dictionary(uniqueKeysWithValues: all.map { ($0.uuid, $0) }))
  }

  // MARK: Attributes

  @Test(arguments: [(true, true), (true, false), (false, true), (false, false)])
  func aCentralReadsWritesAndSubscribes(_ ofPeripheral: Bool, _ ofCentral: Bool) async throws {
    let thermometer = try await thermometer(bluetooth5: ofPeripheral)
    let meeting = try await meet(thermometer, bluetooth5: ofCentral)
    let gatt = meeting.connection.gatt
    let temperature = try meeting.characteristic(Thermometer.temperature)
    try await gatt.exchangeMTU()
    #expect(try await gatt.read(temperature) == [0xC4, 0x09])

    let setting = try meeting.characteristic(Thermometer.settingType)
    let long = (0..<100).map { UInt8($0) }
    try await gatt.write(long, to: setting)
    #expect(thermometer.written == [long])
    #expect(try await gatt.read(setting) == long)

    var heard: [[UInt8]] = []
    let subscription = try await gatt.subscribe(to: temperature) { value, _ in heard.append(Array(value)) }
    let server = try #require(try meeting.served.server)
    for value in 0..<20 as Range<UInt8> { #expect(server.notify([value], of: thermometer.value) == .sent) }
    await testTimers.sleep(for: .milliseconds(500))
    #expect(heard == (0..<20).map { [$0] })
    try await gatt.unsubscribe(subscription)
    #expect(server.notify([20], of: thermometer.value) == .notSubscribed)

    #expect(try meeting.served.role == .peripheral && meeting.connection.role == .central)
    #expect(try meeting.served.peer == meeting.connection.localAddress)
    #expect(try meeting.served.localAddress == meeting.connection.peer)
    #expect(try meeting.served.mtu == 517 && meeting.connection.mtu == 517)
  }

  /// The peripheral is a client on the same link: the central has no attributes, and says so.
  @Test func bothEndsAreClients() async throws {
    let meeting = try await meet(try await thermometer())
    #expect(try await meeting.served.gatt.discoverServices() == [])
    let database = AttributeDatabase()
    database.addService(Thermometer.service)
    meeting.connection.serve(database)
    #expect(try await meeting.served.gatt.discoverServices().map(\.uuid) == [Thermometer.service])
  }

  // MARK: Advertising and links

  @Test(arguments: [true, false]) func resumesAdvertisingAfterDisconnection(_ bluetooth5: Bool) async throws {
    let thermometer = try await thermometer(bluetooth5: bluetooth5)
    let meeting = try await meet(thermometer)
    #expect(try await meeting.central.find(within: .seconds(1), where: { $0.isNamed("Thermometer") }) == nil)
    await meeting.connection.disconnect()
    await testTimers.sleep(for: .milliseconds(100))
    #expect(thermometer.connections.map(\.loss) == [.remote(.remoteUserTerminatedConnection)])
    let found = try #require(
      try await meeting.central.find(within: .seconds(1), where: { $0.isNamed("Thermometer") }))
    let second = try await meeting.central.connect(ConnectionRequest(peer: found.address))
    #expect(thermometer.connections.count == 2 && second.isConnected)
  }

  @Test func severalCentralsAreServed() async throws {
    let thermometer = try await thermometer(maximumConnections: 2)
    let meeting = try await meet(thermometer)
    let (second, _) = try await central(address: 0x001A_7DDA_7114)
    let found = try #require(try await second.find(within: .seconds(1), where: { $0.isNamed("Thermometer") }))
    let connection = try await second.connect(ConnectionRequest(peer: found.address))
    // Each has configurations of its own.
    let temperature = try meeting.characteristic(Thermometer.temperature)
    var heard = 0
    _ = try await meeting.connection.gatt.subscribe(to: temperature) { _, _ in heard += 1 }
    let deliveries = thermometer.connections.map { $0.server?.notify([1], of: thermometer.value) }
    #expect(deliveries == [.sent, .notSubscribed])
    await testTimers.sleep(for: .milliseconds(100))
    #expect(heard == 1 && connection.isConnected)
    // No more than two.
    let (third, _) = try await central(address: 0x001A_7DDA_7115)
    #expect(try await third.find(within: .seconds(1), where: { $0.isNamed("Thermometer") }) == nil)
  }

  /// A central connects to the thermometer, and sends nothing.
  private func silentLink(_ thermometer: Thermometer, address: UInt64 = 0x001A_7DDA_7113) async throws
    -> GATTLink
  {
    let (central, _) = try await central(address: address)
    let found = try #require(
      try await central.find(within: .seconds(2), where: { $0.isNamed("Thermometer") }))
    return try await central.connect(ConnectionRequest(peer: found.address))
  }

  /// Silent centrals would keep the others away for ever.
  @Test func aSilentCentralLosesItsLinkAtTheIdleLimit() async throws {
    let thermometer = try await thermometer()
    var refusals: [LinkAdmission.Refusal] = []
    thermometer.peripheral.admission.idleLimit = .seconds(60)
    thermometer.peripheral.onRefusal = { refusals.append($1) }
    try thermometer.advertise()
    let link = try await silentLink(thermometer)
    await testTimers.sleep(for: .seconds(58))
    #expect(link.isConnected && refusals.isEmpty)
    await testTimers.sleep(for: .seconds(3))
    #expect(link.loss == .remote(.remoteUserTerminatedConnection))
    #expect(thermometer.connections.map(\.loss) == [.local] && refusals == [.idle(.seconds(60))])
    // The next one has its place.
    #expect(try await silentLink(thermometer, address: 0x001A_7DDA_7114).isConnected)
  }

  @Test func keepsSilentCentralWithoutIdleLimit() async throws {
    let thermometer = try await thermometer()
    try thermometer.advertise()
    let link = try await silentLink(thermometer)
    await testTimers.sleep(for: .seconds(3600))
    #expect(link.isConnected)
  }

  /// Each PDU begins the limit anew; one that has subscribed to a value may be silent, until it unsubscribes.
  @Test func aCentralThatReadsOrListensKeepsItsLink() async throws {
    let thermometer = try await thermometer()
    thermometer.peripheral.admission.idleLimit = .seconds(60)
    let meeting = try await meet(thermometer)
    let (link, temperature) = (meeting.connection, try meeting.characteristic(Thermometer.temperature))
    for _ in 0..<4 {
      await testTimers.sleep(for: .seconds(50))
      #expect(try await link.gatt.read(temperature) == [0xC4, 0x09])
    }
    let subscription = try await link.gatt.subscribe(to: temperature) { _, _ in }
    await testTimers.sleep(for: .seconds(1000))
    #expect(link.isConnected)
    try await link.gatt.unsubscribe(subscription)
    await testTimers.sleep(for: .seconds(58))
    #expect(link.isConnected)
    await testTimers.sleep(for: .seconds(3))
    #expect(!link.isConnected)
  }

  /// Most centrals have it, and it says nothing for years.
  @Test func serviceChangedSubscriptionDoesNotResetIdleLimit() async throws {
    let thermometer = try await thermometer()
    thermometer.database.addGenericAttribute { _ in [UInt8](repeating: 0, count: 16) }
    thermometer.peripheral.admission.idleLimit = .seconds(60)
    try thermometer.advertise()
    let link = try await silentLink(thermometer)
    let service = try #require(try await link.gatt.firstService(GATTUUID.genericAttribute))
    let characteristics = try await link.gatt.discoverCharacteristics(of: service)
    let changed = try #require(characteristics.first { $0.uuid == GATTUUID.serviceChanged })
    _ = try await link.gatt.subscribe(to: changed) { _, _ in }
    await testTimers.sleep(for: .seconds(61))
    #expect(!link.isConnected)
  }

  @Test func onlyAllowedCentralsKeepTheirLinks() async throws {
    let thermometer = try await thermometer()
    var refused: [BluetoothAddress] = []
    let (own, other) = (0x001A_7DDA_7113 as UInt64, 0x001A_7DDA_7114 as UInt64)
    // Whether it is random does not count.
    thermometer.peripheral.admission.allowed = [BluetoothAddress(own, .random)]
    thermometer.peripheral.onRefusal = { central, refusal in
      if refusal == .notAllowed { refused.append(central) }
    }
    try thermometer.advertise()
    for _ in 0..<3 {
      let stranger = try? await silentLink(thermometer, address: other)
      await testTimers.sleep(for: .seconds(1))
      #expect(stranger?.isConnected != true)
    }
    #expect(refused == Array(repeating: BluetoothAddress(other, .public), count: 3))
    #expect(thermometer.connections.isEmpty)
    let link = try await silentLink(thermometer, address: own)
    await testTimers.sleep(for: .seconds(100))
    #expect(link.isConnected)
  }

  @Test func thePeripheralEndsALink() async throws {
    let meeting = try await meet(try await thermometer())
    await meeting.thermometer.peripheral.stop()
    await testTimers.sleep(for: .milliseconds(100))
    #expect(meeting.connection.loss == .remote(.remoteUserTerminatedConnection))
    #expect(try meeting.served.loss == .local)
    #expect(try await meeting.central.find(within: .seconds(1), where: { $0.isNamed("Thermometer") }) == nil)
  }

  /// The adapter of the central is unplugged: the peripheral notices it when the supervision timeout is over.
  @Test func aCentralThatVanishesIsMissed() async throws {
    let thermometer = try await thermometer()
    let (central, transport) = try await central()
    try thermometer.advertise()
    let found = try #require(
      try await central.find(within: .seconds(1), where: { $0.isNamed("Thermometer") }))
    _ = try await central.connect(ConnectionRequest(peer: found.address))
    transport.close()
    await testTimers.sleep(for: .seconds(3))
    #expect(thermometer.connections.map(\.loss) == [nil])
    await testTimers.sleep(for: .seconds(2))
    #expect(thermometer.connections.map(\.loss) == [.remote(.connectionTimeout)])
  }

  @Test func eitherEndChangesTheParameters() async throws {
    let meeting = try await meet(try await thermometer())
    func parameters(_ interval: Int64) -> ConnectionParameters {
      let interval = ConnectionInterval(.milliseconds(interval))
      return ConnectionParameters(
        intervalMin: interval, intervalMax: interval, supervisionTimeout: SupervisionTimeout(.seconds(5)))
    }
    let served = try meeting.served
    #expect(
      try await meeting.connection.updateParameters(parameters(30)).interval.duration == .milliseconds(30))
    #expect(served.parameters?.interval.duration == .milliseconds(30))
    #expect(try await served.updateParameters(parameters(60)).interval.duration == .milliseconds(60))
    #expect(meeting.connection.parameters?.interval.duration == .milliseconds(60))
  }

  /// A connection that keeps its parameters refuses the peripheral's wish, which is told.
  @Test func centralRejectsParameterUpdate() async throws {
    let thermometer = try await thermometer()
    let (central, _) = try await central()
    try thermometer.advertise()
    let found = try #require(
      try await central.find(within: .seconds(1), where: { $0.isNamed("Thermometer") }))
    let connection = try await central.connect(
      ConnectionRequest(peer: found.address, parameterPolicy: .keep))
    let before = connection.parameters
    let served = try #require(thermometer.connections.last)
    let interval = ConnectionInterval(.milliseconds(60))
    await #expect(
      throws: StackError.commandFailed(LEConnectionUpdate.opcode, .unacceptableConnectionParameters)
    ) {
      try await served.updateParameters(
        ConnectionParameters(
          intervalMin: interval, intervalMax: interval, supervisionTimeout: SupervisionTimeout(.seconds(5))))
    }
    #expect(connection.parameters == before)
  }
}
