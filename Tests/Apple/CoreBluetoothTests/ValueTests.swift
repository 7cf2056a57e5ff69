import CoreBluetooth
import Testing

/// Values that need no adapter.
@Suite struct ValueTests {
  @Test func theFormsOfAUUIDAreEqual() {
    let short = CBUUID(string: "180D")
    let long = CBUUID(string: "0000180d-0000-1000-8000-00805f9b34fb")
    #expect(short == long)
    #expect(short.hash == long.hash)
    #expect(CBUUID(data: Data([0x18, 0x0D])) == short)
    #expect(CBUUID(data: Data([0, 0, 0x18, 0x0D])) == short)
    #expect(CBUUID(string: "0000180D") == short)
    #expect(short.data == Data([0x18, 0x0D]))
    #expect(short.uuidString == "180D")
    #expect(short.description == "Heart Rate")
    #expect([long: 1][short] == 1)
  }

  @Test func aUUIDOf128BitsKeepsItsOrder() throws {
    let text = "6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E"
    let uuid = CBUUID(string: text)
    #expect(uuid.uuidString == text)
    #expect(uuid.data.first == 0x6E)
    #expect(uuid.data.count == 16)
    #expect(CBUUID(data: uuid.data) == uuid)
    #expect(CBUUID(nsuuid: try #require(UUID(uuidString: text))) == uuid)
  }

  @Test func aUUIDIsAPatternOfASwitch() {
    let uuids = [CBUUID(string: "180F"), CBUUID(string: "2A37")]
    let found = uuids.map { uuid in
      switch uuid {
      case CBUUID(string: "180F"): "battery"
      case CBUUID(string: "2A37"): "measurement"
      default: "?"
      }
    }
    #expect(found == ["battery", "measurement"])
  }

  @Test func thePeripheralRoleOfAnUnknownAdapterIsUnsupported() async {
    let delegate = Role()
    let manager = CBPeripheralManager(
      delegate: delegate, queue: DispatchQueue(label: "role"),
      options: [CBPeripheralManagerOptionAdapterKey: "nonsense"])
    for await event in delegate.events.prefix(1) { #expect(event == "unsupported") }
    manager.add(CBMutableService(type: CBUUID(string: "180D"), primary: true))
  }
}

private final class Role: NSObject, CBPeripheralManagerDelegate, Sendable {
  let events: AsyncStream<String>
  private let continuation: AsyncStream<String>.Continuation

  override init() {
    (events, continuation) = AsyncStream.makeStream()
  }

  func peripheralManagerDidUpdateState(_ peripheral: CBPeripheralManager) {
    continuation.yield("\(peripheral.state)")
  }
}
