import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop

@testable import HaloRecording

/// The traffic of a connection as a capture has it, written down by a test.
struct ATTScript {
  private(set) var pdus: [RecordedConnection.PDU] = []
  /// In microseconds since 1970-01-01 UTC.
  private(set) var time: Int64 = 1_763_733_600_000_000

  static let peer = BluetoothAddress(0xC011_2233_A1B2, .random)

  private mutating func add(_ pdu: any ATTPDU, isFromServer: Bool) {
    pdus.append(
      .init(packet: pdus.count + 1, time: time, isFromServer: isFromServer, bytes: pdu.bytes))
  }

  mutating func wait(_ milliseconds: Int64) { time += milliseconds * 1000 }

  /// A request and its answer, 10 ms later.
  mutating func ask(_ request: any ATTPDU, _ response: any ATTPDU) {
    wait(10)
    add(request, isFromServer: false)
    wait(10)
    add(response, isFromServer: true)
  }

  mutating func command(_ command: any ATTPDU) {
    wait(10)
    add(command, isFromServer: false)
  }

  mutating func refuse(_ request: any ATTPDU, _ handle: AttributeHandle, _ code: ATTErrorCode) {
    ask(request, (ATTErrorResponse(request: request.opcode, handle: handle, code: code)))
  }

  /// What the server sends on its own, some time after the PDU before.
  mutating func push(_ pdu: any ATTPDU, after milliseconds: Int64 = 10) {
    wait(milliseconds)
    add(pdu, isFromServer: true)
  }

  mutating func notify(_ handle: AttributeHandle, _ value: [UInt8], after milliseconds: Int64 = 10) {
    push(ATTHandleValueNotification(handle, value: value), after: milliseconds)
  }

  func connection(reason: HCIErrorCode? = nil, endsAfter milliseconds: Int64 = 0) -> RecordedConnection {
    RecordedConnection(peer: Self.peer, pdus: pdus, reason: reason, end: time + milliseconds * 1000)
  }

  func traffic(reason: HCIErrorCode? = nil, endsAfter milliseconds: Int64 = 0) -> RecordedTraffic {
    RecordedTraffic(connections: [connection(reason: reason, endsAfter: milliseconds)])
  }

  /// The discovery of a heart rate service (0x0010...0x0016: measurement with subscription, control point, location) and
  /// of a battery service (0x0020...0x0022).
  mutating func discover() {
    let service = GATTUUID.primaryService
    ask(
      ATTReadByGroupTypeRequest(.all, type: service),
      ATTReadByGroupTypeResponse([
        .init(group: HandleRange(0x0010, 0x0016), value: [0x0D, 0x18]),
        .init(group: HandleRange(0x0020, 0x0022), value: [0x0F, 0x18]),
      ]))
    refuse(ATTReadByGroupTypeRequest(HandleRange(0x0023, 0xFFFF), type: service), 0x0023, .attributeNotFound)
    let heart = HandleRange(0x0010, 0x0016)
    ask(
      ATTReadByTypeRequest(heart, type: GATTUUID.characteristic),
      ATTReadByTypeResponse([
        .init(handle: 0x0011, value: [0x10, 0x12, 0, 0x37, 0x2A]),
        .init(handle: 0x0014, value: [0x0A, 0x15, 0, 0x39, 0x2A]),
      ]))
    refuse(
      ATTReadByTypeRequest(HandleRange(0x0016, 0x0016), type: GATTUUID.characteristic), 0x0016,
      .attributeNotFound)
    ask(
      ATTFindInformationRequest(HandleRange(0x0013, 0x0013)),
      ATTFindInformationResponse([.init(handle: 0x0013, type: GATTUUID.clientCharacteristicConfiguration)]))
    ask(
      ATTReadByTypeRequest(HandleRange(0x0020, 0x0022), type: GATTUUID.characteristic),
      ATTReadByTypeResponse([.init(handle: 0x0021, value: [0x02, 0x22, 0, 0x19, 0x2A])]))
  }
}

/// A client of a replayed peripheral, in the virtual time of the test.
@BluetoothActor
struct ReplayedClient {
  let peripheral: ReplayedPeripheral
  let adapter: ReplayAdapter
  let central: Central
  let connection: GATTLink

  init(
    _ traffic: RecordedTraffic, _ options: ReplayedPeripheral.Options = .init()
  ) async throws {
    peripheral = try ReplayedPeripheral(traffic, options)
    adapter = ReplayAdapter(peripheral, time: testTime)
    central = Central(adapter)
    try await central.start()
    connection = try await central.connect(ConnectionRequest(peer: peripheral.address))
    connection.gatt.watchesServiceChanges = false
  }

  /// The characteristic of a service of the script.
  func characteristic(_ uuid: BluetoothUUID) async throws -> Characteristic {
    for service in try await connection.gatt.discoverServices() {
      for found in try await connection.gatt.discoverCharacteristics(of: service) where found.uuid == uuid {
        return found
      }
    }
    throw StackError.notFound("\(uuid)")
  }
}
