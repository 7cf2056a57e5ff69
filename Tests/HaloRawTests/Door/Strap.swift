import ATT
import GAP
import HaloGATT
import HCI
import HaloRaw
import TestLoop
import Testing
import HaloSimulation

/// A heart-rate strap with a controller of its own, and the radio of a program, in one air.
@BluetoothActor
final class Strap {
  static let measurement = CharacteristicID<HeartRateMeasurement>.heartRateMeasurement
  static let controlPoint = CharacteristicID<[UInt8]>(0x2A39, in: 0x180D)
  static let address = BluetoothAddress(0xC000_0000_0001, .public)

  let medium = RadioMedium(timers: testTimers)
  let database = AttributeDatabase()
  let measurementHandle: AttributeHandle
  private let peripheral: Peripheral
  /// The values that were written to the control point.
  private(set) var writes: [[UInt8]] = []
  /// What the client has configured for the measurement, in order.
  private(set) var configurations: [ClientConfiguration] = []
  /// Answers writes late, or not at all.
  var answerTime = Duration.zero

  /// - Parameter tellsChanges: whether it has Service Changed
  init(tellsChanges: Bool = false) async throws {
    if tellsChanges { database.addGenericAttribute() }
    database.addService(0x180D)
    measurementHandle = database.addCharacteristic(0x2A37, .notify)
    let control = database.addCharacteristic(0x2A39, [.write, .writeWithoutResponse])
    for level: UInt8 in [81, 45] {
      database.addService(0x180F)
      database.addCharacteristic(0x2A19, .read, value: [level])
    }
    var options = ControllerOptions()
    options.address = Self.address
    let adapter = HCIAdapter(SimulatedTransport(medium, options))
    peripheral = Peripheral(adapter, serving: database)
    _ = try await adapter.start()
    let timers = testTimers
    database.setHandlers(
      of: control, read: nil,
      write: { [weak self] value, _, reply in
        self?.writes.append(value)
        timers.schedule(after: self?.answerTime ?? .zero) { reply(nil) }
      })
    peripheral.onConnection = { [weak self] connection in
      connection.server?.onEvent = { [weak self] event in
        if case .configured(let handle, let configuration) = event, handle == self?.measurementHandle {
          self?.configurations.append(configuration)
        }
      }
    }
    try advertise()
  }

  /// Whether it can be found and connected to.
  var isPresent = true {
    didSet { if isPresent { try? advertise() } else { peripheral.stopAdvertising() } }
  }

  private func advertise() throws {
    let data = AdvertisingData([
      .flags([.generalDiscoverable, .brEDRNotSupported]), .localName(Array("Strap".utf8), isComplete: true),
    ])
    let response = AdvertisingData([.serviceUUIDs([0x180D], width: .two, isComplete: true)])
    try peripheral.startAdvertising(try Advertising(data, scanResponse: response))
  }

  var isConnected: Bool { !peripheral.connections.isEmpty }

  func notify(_ value: [UInt8]) {
    for connection in peripheral.connections { connection.server?.notify(value, of: measurementHandle) }
  }

  /// Returns when a client has subscribed to the measurement.
  func untilConfigured() async {
    for _ in 0..<100 where configurations.isEmpty { await testTimers.sleep(for: .milliseconds(100)) }
  }

  /// Removes the battery services, and adds one with other handles.
  func moveBattery(to level: UInt8) {
    for declaration in database.handles(of: GATTUUID.primaryService)
    where database.value(of: declaration) == [0x0F, 0x18] {
      database.removeService(at: declaration)
    }
    database.addService(0x180F)
    database.addCharacteristic(0x2A19, .read, value: [0])
    database.addCharacteristic(0x2A19, .read, value: [level])
  }

  /// Asks the client for another connection interval, which changes the link.
  func askForAnotherInterval() async {
    let slower = ConnectionParameters(
      intervalMin: ConnectionInterval(.milliseconds(30)), intervalMax: ConnectionInterval(.milliseconds(30)),
      supervisionTimeout: SupervisionTimeout(.seconds(4)))
    for connection in peripheral.connections { _ = try? await connection.updateParameters(slower) }
  }

  /// Ends the link.
  func leave() async { for connection in peripheral.connections { await connection.disconnect() } }

  /// The radio of the program.
  func radio() async throws -> Radio {
    try await Radio.start(OpenedAdapter(HCIAdapter(SimulatedTransport(medium))))
  }

  /// A connection that nothing else keeps.
  func connection(reconnect: Reconnection = .never) async throws -> Connection {
    try await radio().connect(to: .service(0x180D), within: .seconds(10), reconnect: reconnect)
  }
}

/// What a call has thrown; nil if it has returned.
@BluetoothActor
func failure<Value>(_ work: @BluetoothActor () async throws -> Value) async -> BluetoothError? {
  do {
    _ = try await work()
    return nil
  } catch {
    return error as? BluetoothError
  }
}
