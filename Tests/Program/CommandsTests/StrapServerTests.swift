import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import RingLink
import TestLoop
import Testing
import HaloSimulation

@testable import HaloCommands

/// A strap, met by watches on the same radio, each with a host of its own.
@Suite(.onTheLoop, .serialized) @BluetoothActor struct StrapServerTests {
  private let medium = RadioMedium(timers: testTimers)

  private func adapter(_ number: UInt64) -> HCIAdapter {
    var options = ControllerOptions()
    options.address = BluetoothAddress(0x001A_7DDA_7100 + number, .public)
    return HCIAdapter(SimulatedTransport(medium, options))
  }

  @BluetoothActor private final class Strap {
    let host: Central
    let server: StrapServer
    var wanted: [Bool] = []

    init(_ adapter: HCIAdapter, name: String) async throws {
      host = Central(adapter)
      try await host.start()
      server = StrapServer(adapter, name: name)
      server.onWanted = { [unowned self] in wanted.append($0) }
      try server.start(telling: "advertises")
    }

    func reads(_ beats: Int) {
      let reading = MeasurementReading(kind: .continuousHeartRate, value: .heartRate(beats))
      server.state.take(.reading(reading), at: server.now)
    }
  }

  @BluetoothActor private final class Watch {
    let link: GATTLink
    let characteristics: [Characteristic]
    var values: [[UInt8]] = []

    init(_ adapter: HCIAdapter) async throws {
      let central = Central(adapter)
      try await central.start()
      let found = try #require(
        try await central.find(within: .seconds(1), where: { $0.serviceUUIDs.contains("180D") }))
      link = try await central.connect(ConnectionRequest(peer: found.address))
      var all: [Characteristic] = []
      for service in try await link.gatt.discoverServices() {
        all += try await link.gatt.discoverCharacteristics(of: service)
      }
      characteristics = all
    }

    func characteristic(_ uuid: BluetoothUUID) throws -> Characteristic {
      try #require(characteristics.first { $0.uuid == uuid })
    }

    func subscribe(_ uuid: BluetoothUUID = "2A37") async throws {
      _ = try await link.gatt.subscribe(to: characteristic(uuid)) { [weak self] value, _ in
        self?.values.append(Array(value))
      }
    }
  }

  @Test func notifiesOncePerSecond() async throws {
    let strap = try await Strap(adapter(1), name: "Ring HR")
    let watch = try await Watch(adapter(2))
    try await watch.subscribe()
    await testTimers.sleep(for: .milliseconds(3500))
    #expect(watch.values == Array(repeating: [4, 0], count: 3))
    strap.reads(70)
    await testTimers.sleep(for: .seconds(2))
    strap.reads(71)
    await testTimers.sleep(for: .seconds(8))
    // Five seconds after the last reading it is none.
    var expected: [[UInt8]] = [[6, 70], [6, 70]]
    expected += Array(repeating: [6, 71], count: 5)
    expected += Array(repeating: [4, 0], count: 3)
    #expect(Array(watch.values.dropFirst(3)) == expected)
  }

  @Test func isWantedUntilThirtySecondsAfterLastSubscriber() async throws {
    let strap = try await Strap(adapter(1), name: "Ring HR")
    let first = try await Watch(adapter(2))
    #expect(strap.wanted == [])
    try await first.subscribe()
    let second = try await Watch(adapter(3))
    try await second.subscribe()
    #expect(strap.wanted == [true])
    await first.link.disconnect()
    await testTimers.sleep(for: .seconds(60))
    #expect(strap.wanted == [true] && second.values.count >= 60)
    await second.link.disconnect()
    await testTimers.sleep(for: .seconds(29))
    #expect(strap.wanted == [true])
    await testTimers.sleep(for: .seconds(2))
    #expect(strap.wanted == [true, false])
    let third = try await Watch(adapter(4))
    try await third.subscribe()
    #expect(strap.wanted == [true, false, true])
  }

  /// A number that is not known is refused.
  @Test func theBatteryIsThatOfTheRing() async throws {
    let strap = try await Strap(adapter(1), name: "Ring HR")
    let watch = try await Watch(adapter(2))
    let battery = try watch.characteristic("2A19")
    await #expect(throws: StackError.self) { try await watch.link.gatt.read(battery) }
    try await watch.subscribe("2A19")
    strap.server.set(battery: 87)
    strap.server.set(battery: 87)
    strap.server.set(battery: 86)
    await testTimers.sleep(for: .seconds(1))
    #expect(watch.values == [[87], [86]])
    #expect(try await watch.link.gatt.read(battery) == [86])
    #expect(strap.wanted == [])
  }

  @Test func advertisesUntilConnectionLimit() async throws {
    let strap = try await Strap(adapter(1), name: "Ring HR")
    var watches: [Watch] = []
    for number in 2..<2 + UInt64(StrapServer.maximumConnections) {
      watches.append(try await Watch(adapter(number)))
      try await watches.last?.subscribe()
    }
    let another = Central(adapter(20))
    try await another.start()
    #expect(try await another.find(within: .seconds(1), where: { _ in true }) == nil)
    await watches[0].link.disconnect()
    #expect(try await another.find(within: .seconds(1), where: { _ in true }) != nil)
    strap.reads(64)
    await testTimers.sleep(for: .seconds(1))
    #expect(watches.dropFirst().allSatisfy { $0.values.last == [6, 64] })
    await strap.server.stop()
    await testTimers.sleep(for: .seconds(1))
    #expect(watches.allSatisfy { !$0.link.isConnected })
    #expect(try await another.find(within: .seconds(1), where: { _ in true }) == nil)
  }
}
