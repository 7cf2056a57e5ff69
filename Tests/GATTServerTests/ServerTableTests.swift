import ATT
import BluetoothCore
import GATTClient
import GATTServer
import HaloGATT
import TestSupport
import Testing

/// A table that is built, and what a server answers from it.
@Suite struct ServerTableTests {
  private static let battery = BluetoothUUID(UInt16(0x180F))
  private static let level = BluetoothUUID(UInt16(0x2A19))

  private func server() -> AttributeServer {
    var table = ServerTable()
    table.addService(Self.battery, at: 0x0010)
    table.addCharacteristic(Self.level, [.read, .notify], value: [99])
    return AttributeServer(attributes: table.attributes, mtu: 64)
  }

  @Test func aTableIsDiscoveredAndRead() {
    var server = server()
    func answer(_ request: ATTPDU) -> ATTPDU? { server.receive(request.bytes.span.bytes).answer }
    #expect(
      answer(.readByGroupTypeRequest(.all, type: GATTUUID.primaryService))
        == .readByGroupTypeResponse([
          ATTGroupAndValue(group: HandleRange(0x0010, 0x0013), value: [0x0F, 0x18])
        ]))
    #expect(
      answer(.findInformationRequest(HandleRange(0x0013, 0xFFFF)))
        == .findInformationResponse([
          ATTHandleAndType(handle: 0x0013, type: GATTUUID.clientCharacteristicConfiguration)
        ]))
    #expect(answer(.readRequest(0x0012)) == .readResponse([99]))
  }

  @Test func aWriteIsReportedAndASubscriptionStored() {
    var server = server()
    #expect(server.configuration(of: 0x0012) == 0)
    let outcome = server.receive(ATTPDU.writeRequest(0x0013, value: [1, 0]).bytes.span.bytes)
    #expect(outcome.answer == .writeResponse)
    #expect(outcome.writes.map(\.handle) == [0x0013])
    #expect(server.configuration(of: 0x0012) == 1)
  }
}
