import ATT
import HaloGATT
import HaloBluetoothCore
import TestBearer
import TestLoop
import Testing

/// Service Changed is indicated while a request is open: its answer may be that of the attribute that is at the handle now
/// (hbldh/bleak, 882; nordicsemi/Flutter-nRF-Connect-Device-Manager, 90).
@BluetoothActor
@Suite(.onTheLoop) struct ChangedHandleTests {
  private let link = FakeBearer()
  private let client: GATTClient

  init() {
    client = link.client()
    link.offerServiceChanged()
    client.watchServiceChanges()
  }

  private func changed(_ range: String = "1000 ffff") -> String { "1d 0300 \(range)" }

  @Test func aValueThatComesAfterAChangeIsNotTaken() async throws {
    link.answer("0a 2000", changed(), "0b 01")
    await #expect(throws: StackError.servicesChanged) { try await client.read(AttributeHandle(0x20)) }
  }

  @Test func aRefusalAfterAChangeIsThatOfTheChange() async throws {
    link.answer("0a 2000", changed(), "01 0a 2000 01")
    await #expect(throws: StackError.servicesChanged) { try await client.read(AttributeHandle(0x20)) }
  }

  @Test func aRefusedWriteAfterAChangeIsThatOfTheChange() async throws {
    link.answer("12 2000 07", changed(), "01 12 2000 01")
    await #expect(throws: StackError.servicesChanged) {
      try await client.write([7], to: AttributeHandle(0x20))
    }
  }

  @Test func aWriteThatWasConfirmedIsNotRepeated() async throws {
    link.answer("12 2000 07", changed(), "13")
    try await client.write([7], to: AttributeHandle(0x20))
  }

  @Test func ignoresServiceChangedForOtherHandles() async throws {
    link.answer("0a 2000", changed("3000 ffff"), "0b 01")
    #expect(try await client.read(AttributeHandle(0x20)) == [1])
  }
}
