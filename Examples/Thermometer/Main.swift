import GAP
import GATTServer
import HCI
import HaloRaw

/// A thermometer that phones find, read and subscribe to: `swift run thermometer user:hci0`.
@main
enum Thermometer {
  static func main() async {
    await exitOnError {
      // The adapter is this program's alone: that of the kernel does not advertise for programs yet.
      let opened = try await AdapterSpecification(CommandLine.arguments.dropFirst().first ?? "user:hci0")
        .open()
      let temperature = CharacteristicID<Celsius>.temperature
      let database = AttributeDatabase()
      database.addService(temperature.service)
      let value = database.addCharacteristic(temperature.uuid, [.read, .notify], value: Celsius(20).encoded)

      let peripheral = Peripheral(opened.adapter, serving: database, maximumConnections: 3)
      print(try await opened.adapter.start().address)
      let advertising = Advertising(
        [
          .flags([.generalDiscoverable, .brEDRNotSupported]),
          .serviceUUIDs([temperature.service], width: .two, isComplete: true),
        ], scanResponse: [.localName(Array("Thermometer".utf8), isComplete: true)])
      guard let advertising else { return print("the advertisement is too long") }
      try peripheral.startAdvertising(advertising)

      for step in 0... {
        let now = Celsius(20 + Double(step % 50) / 10).encoded
        database.setValue(now, of: value)
        for connection in peripheral.connections { connection.server?.notify(now, of: value) }
        await opened.adapter.timers.sleep(for: .seconds(1))
      }
    }
  }
}
