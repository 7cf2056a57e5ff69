import HaloRaw
import RingLink
import TestLoop
import Testing

/// What a newcomer's program does, on the virtual ring: find, connect, read, write and subscribe by UUID.
@Suite(.onTheLoop) @BluetoothActor struct FirstStepsTests {
  private func central(_ options: String) async throws -> Central {
    let central = Central(try await AdapterSpecification("virtual:fast,\(options)").open().adapter)
    try await central.start()
    return central
  }

  /// The program of Examples/FirstSteps.
  @Test func aProgramNeedsNoDiscovery() async throws {
    let central = try await central("battery=64")
    let device = try #require(try await central.find(named: "r02_beef", within: .seconds(10)))
    #expect(device.description.hasPrefix("30:35:38:41:BE:EF public"))
    #expect(device.description.contains("dBm  R02_BEEF  "))
    let connection = try await central.connect(to: device)
    let firmware = try #require(try await connection.gatt.readFirst(uuid: "2A26"))
    #expect(firmware == (try await connection.gatt.read(connection.gatt.firstCharacteristic("2A26"))))
    let commands = try await connection.gatt.firstCharacteristic(
      RingGATT.commandWrite, of: RingGATT.commandService)
    let answers = try await connection.gatt.firstCharacteristic(RingGATT.commandNotify)
    let (values, _) = try await connection.gatt.notifications(of: answers)
    try await connection.gatt.write([3] + Array(repeating: 0, count: 14) + [3], to: commands)
    var battery: UInt8?
    for await answer in values where answer.value.first == 3 {
      battery = answer.value.dropFirst().first
      break
    }
    #expect(battery == 64)
    await #expect(throws: GATTError.notFound("service 180D (Heart Rate)")) {
      try await connection.gatt.firstCharacteristic("2A37", of: "180D")
    }
    #expect(connection.isConnected)
    await central.stop()
  }

  /// The same characteristic as a complete discovery finds, with its end, and with fewer requests.
  @Test func itFindsWhatADiscoveryFinds() async throws {
    let central = try await central("battery=64")
    let device = try #require(try await central.find(named: "R02_BEEF", within: .seconds(10)))
    let connection = try await central.connect(to: device)
    var all: [Characteristic] = []
    for service in try await connection.gatt.discoverServices() {
      for characteristic in try await connection.gatt.discoverCharacteristics(of: service) {
        #expect(
          try await connection.gatt.firstCharacteristic(characteristic.uuid, of: service.uuid)
            == characteristic)
        all.append(characteristic)
      }
    }
    #expect(all.count > 6)
    for characteristic in all {
      let first = try #require(all.first { $0.uuid == characteristic.uuid })
      #expect(try await connection.gatt.firstCharacteristic(characteristic.uuid) == first)
    }
    await central.stop()
  }

  @Test func severalRingsAreAListWithoutDuplicates() async throws {
    let central = try await central("rings=3")
    let devices = try await central.devices(within: .seconds(10))
    #expect(Set(devices.map(\.localName)) == ["R02_BEEF", "R02_BEF0", "R02_BEF1"])
    #expect(devices.count == 3)
    #expect(devices.compactMap(\.lastRSSI) == devices.compactMap(\.lastRSSI).sorted(by: >))
    #expect(try await central.find(named: "R02_BEF9", within: .seconds(2)) == nil)
    await central.stop()
  }
}
