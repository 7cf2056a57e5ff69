import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import TestLoop
import Testing

@testable import HaloSimulation

/// Advertisements of all kinds between two hosts of this package in one air.
@BluetoothActor
@Suite(.onTheLoop) struct AdvertisingOnAirTests {
  private let medium = RadioMedium(timers: testTimers)
  private static let address = BluetoothAddress(0x001A_7DDA_7120, .public)

  private func adapter(_ address: UInt64, bluetooth5: Bool = true) async throws -> HCIAdapter {
    var options = ControllerOptions()
    options.address = BluetoothAddress(address, .public)
    options.bluetooth5 = bluetooth5
    let adapter = HCIAdapter(SimulatedTransport(medium, options))
    _ = try await adapter.start()
    return adapter
  }

  private func advertiser(bluetooth5: Bool = true) async throws -> HCIAdapter {
    try await adapter(Self.address.value, bluetooth5: bluetooth5)
  }

  private func central(_ address: UInt64, bluetooth5: Bool = true) async throws -> Central {
    let central = Central(try await adapter(address, bluetooth5: bluetooth5))
    try await central.start()
    return central
  }

  /// What a central hears within a second.
  private func heard(by central: Central) async -> [Advertisement] {
    var all: [Advertisement] = []
    let scan = central.scan { all.append($0) }
    await testTimers.sleep(for: .seconds(1))
    scan.cancel()
    return all
  }

  private static func data(_ byte: UInt8, _ count: Int) -> AdvertisingData {
    AdvertisingData([
      .manufacturerData(CompanyIdentifier(rawValue: 0xFFFF), Array(repeating: byte, count: count))
    ])
  }

  /// Only the central that is called may connect, and hears it.
  @Test(arguments: [(true, false), (true, true), (false, false), (false, true)])
  func directedAdvertisingReachesOnlyItsCentral(_ bluetooth5: Bool, _ isHighDuty: Bool) async throws {
    let (called, other) = (try await central(0x001A_7DDA_7121), try await central(0x001A_7DDA_7122))
    let adapter = try await advertiser(bluetooth5: bluetooth5)
    let peripheral = Peripheral(adapter, serving: AttributeDatabase())
    let kind = Advertising.Kind.directed(BluetoothAddress(0x001A_7DDA_7121, .public), isHighDuty: isHighDuty)
    try peripheral.startAdvertising(try Advertising(AdvertisingData(), kind: kind))
    // The high duty is over.
    await testTimers.sleep(for: .seconds(2))
    #expect(await heard(by: other).isEmpty)
    await #expect(throws: StackError.self) {
      try await other.connect(ConnectionRequest(peer: Self.address, deadline: .seconds(2)))
    }
    let connection = try await called.connect(ConnectionRequest(peer: Self.address, deadline: .seconds(2)))
    #expect(connection.isConnected && peripheral.connections.count == 1)
    #expect(peripheral.status.refusal == nil)
  }

  @Test func aBeaconIsSentBesideAServer() async throws {
    let adapter = try await advertiser()
    let peripheral = Peripheral(adapter, serving: AttributeDatabase())
    try peripheral.startAdvertising(try Advertising(Self.data(1, 8)))
    let beacon = AdvertisingSet()
    try adapter.setAdvertising(try Advertising(Self.data(2, 8), kind: .nonConnectable), in: beacon)
    let listener = try await central(0x001A_7DDA_7121)
    let contents = Set(
      await heard(by: listener).compactMap { $0.advertisingData?.manufacturerData.first?.data.first })
    #expect(contents == [1, 2])
    // A link ends the connectable one, and not the beacon.
    let connection = try await listener.connect(ConnectionRequest(peer: Self.address))
    #expect(connection.isConnected && peripheral.connections.count == 1)
    let witness = try await central(0x001A_7DDA_7122)
    #expect(
      Set(await heard(by: witness).compactMap { $0.advertisingData?.manufacturerData.first?.data.first }) == [
        2
      ])
    try adapter.setAdvertising(nil, in: beacon)
    await testTimers.sleep(for: .milliseconds(100))
    #expect(await heard(by: witness).isEmpty)
  }

  /// Three commands; scanners before Bluetooth 5 hear nothing of it.
  @Test func longDataArriveWhole() async throws {
    let adapter = try await advertiser()
    let data = AdvertisingData((0..<3 as Range<UInt8>).flatMap { Self.data($0, 196).structures })
    #expect(data.bytes.count == 600)
    try adapter.setAdvertising(
      try Advertising(data, kind: .nonConnectable, phys: .le1M), in: AdvertisingSet())
    let new = await heard(by: try await central(0x001A_7DDA_7121))
    #expect(!new.isEmpty && new.allSatisfy { $0.advertisingData?.bytes == data.bytes })
    #expect(await heard(by: try await central(0x001A_7DDA_7122, bluetooth5: false)).isEmpty)
  }
}
