import GAP
import GATTServer
import HCI
import HaloBluetoothCore
import TestLink
import TestLoop
import Testing

/// What is said of advertising: what has happened, when it has happened.
@BluetoothActor
@Suite(.onTheLoop) struct PeripheralTests {
  private let adapter = FakeAdapter()

  private func advertising() throws -> (Peripheral, () -> [GAPError?]) {
    let peripheral = Peripheral(adapter, serving: AttributeDatabase())
    var results: [GAPError?] = []
    peripheral.onAdvertising = { results.append($0) }
    try peripheral.startAdvertising(Advertising(AdvertisingData([.flags(.generalDiscoverable)])))
    return (peripheral, { results })
  }

  @Test func itIsAdvertisedWhenTheRadioSaysSo() throws {
    let (peripheral, results) = try advertising()
    #expect(results() == [])
    adapter.advertise(nil)
    // Again, after a link.
    adapter.advertise(nil)
    #expect(results() == [nil] && peripheral.advertisingRefusal == nil)
  }

  /// Each reason once, however often it is tried again.
  @Test func aRefusalIsToldOnceAndItsEnd() throws {
    let (peripheral, results) = try advertising()
    let refusal = HCIError.commandFailed(LESetAdvertisingEnable.opcode, .connectionLimitExceeded)
    for _ in 0..<3 { adapter.advertise(refusal) }
    #expect(results() == [.hci(refusal)] && peripheral.advertisingRefusal == .hci(refusal))
    adapter.advertise(nil)
    #expect(results() == [.hci(refusal), nil])
  }

  /// A program that gives up says nothing that is not so: an adapter that has never advertised does not advertise at the end.
  @Test func theEndOfARefusedAdvertisementIsNoSuccess() async throws {
    let (peripheral, results) = try advertising()
    adapter.advertise(.commandFailed(LESetAdvertisingEnable.opcode, .connectionLimitExceeded))
    await peripheral.stop()
    #expect(results().count == 1 && peripheral.advertisingRefusal == nil && adapter.advertised == nil)
    adapter.advertise(nil)
    #expect(results().count == 1)
  }
}
