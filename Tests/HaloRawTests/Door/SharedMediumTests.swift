import HaloRaw
import Testing

/// Programs with both roles on an air of their process, as their tests have it: nothing but HaloRaw is imported.
///
/// Others ask for this: iotile/coretools 928 (an emulated central), nordicsemi/Kotlin-BLE-Library 247 (examples of mocks),
/// TheCellule/python-bleson 68 (a mock for machines without adapters), dotintent/react-native-ble-plx 722 and 879.
@Suite struct SharedMediumTests {
  private static let counter = CharacteristicID<[UInt8]>("FFF1", in: "FFF0")

  @Test func aProgramMeetsItsOwnPeripheral() async throws {
    try await withRadio("virtual:air=meeting") { here in
      try await withRadio("virtual:air=meeting") { there in
        let level = LocalCharacteristic(.batteryLevel, 81)
        try await there.serve([LocalService("180F", level)], as: "Lamp") { server in
          let heard = try await here.devices(within: .seconds(2))
          #expect(heard.map(\.localName) == ["Lamp"])
          #expect(heard.map(\.address) == [server.address])
          let lamp = try await here.connect(to: .name("Lamp"))
          #expect(try await lamp.read(.batteryLevel) == 81)
          #expect(await here.connectedDevices == [server.address])
          try await here.clock.sleep(for: .seconds(3600))
          #expect(try await lamp.read(.batteryLevel) == 81)
          await lamp.disconnect()
          #expect(await here.connectedDevices == [])
        }
      }
    }
  }

  /// As docs/library.md shows it.
  @Test func theLevelOfALampIsRead() async throws {
    try await withRadio("virtual:air=lamp") { there in
      let level = LocalCharacteristic(.batteryLevel, 81)
      try await there.serve([LocalService("180F", level)], as: "Lamp") { _ in
        try await withRadio("virtual:air=lamp") { here in
          let lamp = try await here.connect(to: .name("Lamp"))
          #expect(try await lamp.read(.batteryLevel) == 81)
          try await here.clock.sleep(for: .seconds(3600))
          #expect(try await lamp.read(.batteryLevel) == 81)
        }
      }
    }
  }

  @Test func radiosHaveAddressesOfTheirOwn() async throws {
    try await withRadio("virtual:air=addresses") { first in
      try await withRadio("virtual:air=addresses,address=C0:11:22:33:A1:B2") { second in
        #expect(await first.address != second.address)
        #expect(await second.address == BluetoothAddress("C0:11:22:33:A1:B2"))
        for taken in [first, second] {
          let address = await taken.address
          await #expect(throws: BluetoothError.self) {
            try await Radio.open(RadioSelector("virtual:air=addresses,address=\(address)"))
          }
        }
      }
    }
  }

  @Test func airsOfOtherNamesAreApart() async throws {
    try await withRadio("virtual:air=one") { one in
      try await withRadio("virtual:air=two") { two in
        try await two.serve([LocalService("180F", LocalCharacteristic(.batteryLevel, 81))], as: "Lamp") { _ in
          let heard = try await one.devices(within: .seconds(2))
          #expect(heard.isEmpty)
        }
      }
    }
  }

  /// The next program with the name begins with an empty air.
  @Test func anAirEndsWithItsLastRadio() async throws {
    for _ in 0..<2 {
      try await withRadio("virtual:air=again") { radio in
        #expect(await radio.address == BluetoothAddress("02:00:00:00:00:01"))
        let heard = try await radio.devices(within: .seconds(1))
        #expect(heard.isEmpty)
      }
    }
  }

  @Test func advertisingOnAnAdapterInMemoryIsRefused() async throws {
    try await withRadio("virtual:fast") { radio in
      let service = LocalService("180F", LocalCharacteristic(.batteryLevel, 81))
      await #expect(throws: BluetoothError.self) { try await radio.serve([service], as: "Lamp") { _ in } }
      var isAdvertised = false
      do {
        try await radio.advertise(AdvertisingData(localName: "Lamp")) { _ in isAdvertised = true }
      } catch BluetoothError.Code.notSupported {
      }
      #expect(!isAdvertised)
    }
  }

  @Test(arguments: [
    "virtual:air=", "virtual:air=lab,rate=25", "virtual:air=lab,address=12", "virtual:air=lab,",
    "virtual:air=lab,real-time=1",
  ])
  func wrongAirsAreRefused(_ text: String) async throws {
    do {
      try await withRadio(RadioSelector(text)) { _ -> Void in _ = Issue.record("it was opened") }
    } catch BluetoothError.Code.invalidValue {
    }
  }

  /// A program that passes the values of a device on, as it would be written for any device.
  @Test func aDeviceIsOfferedAgainByAProxy() async throws {
    try await withRadio("virtual:air=proxy") { there in
      let count = LocalCharacteristic(Self.counter, [1, 2, 3], properties: [.read, .write, .notify])
      let level = LocalCharacteristic(.batteryLevel, 81)
      try await there.serve([LocalService("180F", level), LocalService("FFF0", count)], as: "Device") { _ in
        try await withRadio("virtual:air=proxy") { proxy in
          let device = try await proxy.connect(to: .name("Device"))
          var services: [LocalService] = []
          var locals: [LocalCharacteristic<[UInt8]>] = []
          for found in try await device.services() where found.uuid != 0x1800 && found.uuid != 0x1801 {
            var service = LocalService(found.uuid)
            for characteristic in found.characteristics {
              let local = LocalCharacteristic(characteristic.id, properties: characteristic.properties) { _ in
                try await device.read(characteristic.id)
              } write: { bytes, _ in
                try await device.write(bytes, to: characteristic.id)
              }
              locals.append(local)
              service.add(local)
            }
            services.append(service)
          }
          try await proxy.serve(services, as: "Proxy") { _ in
            try await withThrowingTaskGroup(of: Void.self) { group in
              for local in locals where local.properties.contains(.notify) {
                group.addTask {
                  for try await value in device.values(of: local.id) { try await local.notify(value.value) }
                }
              }
              try await withRadio("virtual:air=proxy") { phone in
                let link = try await phone.connect(to: .name("Proxy"))
                #expect(try await link.read(.batteryLevel) == 81)
                try await link.write([4], to: Self.counter)
                #expect(try await link.read(Self.counter) == [4])
                try await link.withValues(of: Self.counter) { values in
                  try await count.notify([5])
                  for try await value in values {
                    #expect(value.value == [5])
                    break
                  }
                }
              }
              group.cancelAll()
            }
          }
        }
      }
    }
  }
}
