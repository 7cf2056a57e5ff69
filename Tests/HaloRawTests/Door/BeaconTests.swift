import GAP
import HCI
import HaloRaw
import TestLoop
import TestSupport
import Testing
import HaloSimulation

/// Advertisements that nobody can connect to, heard by programs on other radios in the same air.
@BluetoothActor
@Suite(.onTheLoop) struct BeaconTests {
  private let medium = RadioMedium(timers: testTimers)

  private func radio(_ number: UInt64, bluetooth5: Bool = true) async throws -> Radio {
    var options = ControllerOptions()
    options.address = BluetoothAddress(0xC000_0000_0000 + number, .public)
    options.bluetooth5 = bluetooth5
    return try await Radio.start(OpenedAdapter(HCIAdapter(SimulatedTransport(medium, options))))
  }

  /// BTHome (https://bthome.io/format): the battery in percent.
  private static func battery(_ percent: UInt8) -> AdvertisingData {
    AdvertisingData(localName: "Pi", serviceData: [.init(service: "FCD2", data: [0x40, 0x01, percent])])
  }

  private func battery(heardBy listener: Radio) async throws -> UInt8? {
    let devices = try await listener.devices(within: .seconds(1))
    return devices.first { $0.localName == "Pi" }?.serviceData.first?.data.last
  }

  @Test(arguments: [true, false]) func scannerReceivesBeaconServiceData(_ bluetooth5: Bool) async throws {
    let listener = try await radio(2)
    let sensor = try await radio(1, bluetooth5: bluetooth5)
    try await sensor.advertise(Self.battery(100)) { beacon in
      #expect(try await battery(heardBy: listener) == 100)
      try beacon.change(Self.battery(99))
      #expect(try await battery(heardBy: listener) == 99)
    }
    #expect(try await battery(heardBy: listener) == nil)
  }

  @Test func advertisesBeaconBesideServer() async throws {
    let listener = try await radio(2)
    let sensor = try await radio(1)
    try await sensor.serve([LocalService("181A", LocalCharacteristic(.temperature, 20))], as: "T") { _ in
      try await sensor.advertise(Self.battery(50)) { _ in
        let connection = try await listener.connect(to: .service("181A"), within: .seconds(5))
        #expect(try await connection.read(.temperature) == 20)
        // The server has the same address, so that it is the same device for others.
        for try await heard in try await radio(3).advertisements() where !heard.serviceData.isEmpty {
          #expect(heard.serviceData.first?.data.last == 50)
          break
        }
      }
    }
  }

  @Test func extendedPDUsHaveMore() async throws {
    let listener = try await radio(2)
    let text = Array("A text that needs more than the thirty-one bytes of a legacy advertisement".utf8)
    let data = AdvertisingData(localName: "Pi", serviceData: [.init(service: "FCD2", data: text)])
    try await radio(1).advertise(data, isExtended: true) { _ in
      let devices = try await listener.devices(within: .seconds(1))
      #expect(devices.first?.serviceData.first?.data == text)
    }
  }

  @Test func rejectsOversizedOrInvalidBeacon() async throws {
    let sensor = try await radio(1)
    let long = AdvertisingData(localName: String(repeating: "x", count: 30))
    await #expect(throws: BluetoothError.self) { try await sensor.advertise(long) { _ in } }
    await #expect(throws: BluetoothError.self) {
      try await sensor.advertise(Self.battery(1), every: .milliseconds(5)) { _ in }
    }
    var kept: Beacon?
    try await sensor.advertise(Self.battery(1)) { beacon in
      kept = beacon
      #expect(throws: BluetoothError.self) { try beacon.change(long) }
    }
    #expect(throws: BluetoothError.self) { try kept?.change(Self.battery(2)) }
  }
}
