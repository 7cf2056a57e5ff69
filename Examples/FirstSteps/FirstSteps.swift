import HaloRaw

@main
enum FirstSteps {
  static func main() async {
    await exitOnError {
      // "hci0" is a real adapter.
      let opened = try await AdapterSpecification("virtual").open()
      let central = Central(opened.adapter)
      try await central.start()
      guard let device = try await central.find(named: "R02_BEEF", within: .seconds(10)) else {
        return print("R02_BEEF did not advertise")
      }
      print(device)
      let gatt = try await central.connect(to: device).gatt

      let firmware = try await gatt.readFirst(uuid: "2A26")
      print("firmware", String(printable: firmware ?? []))

      // The ring answers the command 3 with its battery level. The last of the 16 bytes is the sum of the others.
      let service: BluetoothUUID = "6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E"
      let commands = try await gatt.firstCharacteristic("6E400002-B5A3-F393-E0A9-E50E24DCCA9E", of: service)
      let answers = try await gatt.firstCharacteristic("6E400003-B5A3-F393-E0A9-E50E24DCCA9E", of: service)
      let (notifications, _) = try await gatt.notifications(of: answers)
      try await gatt.write([3] + Array(repeating: 0, count: 14) + [3], to: commands)
      for await notification in notifications where notification.value.starts(with: [3]) {
        print("battery", notification.value.dropFirst().first ?? 0)
        break
      }
      await central.stop()
    }
  }
}
