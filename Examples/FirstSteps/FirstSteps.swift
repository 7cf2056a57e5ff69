import HaloRaw

@main
enum FirstSteps {
  static func main() async {
    await exitOnError {
      // "hci0" is a real adapter, and "virtual" a ring in memory.
      let adapter = CommandLine.arguments.dropFirst().first ?? "virtual"
      try await withRadio(RadioSelector(adapter)) { radio in
        let ring = try await radio.connect(to: .name("R02_BEEF"))
        print("firmware", try await ring.read(.firmwareRevision))

        // The ring answers the command 3 with its battery level. The last of the 16 bytes is the sum of the others.
        let service: BluetoothUUID = "6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E"
        let commands = CharacteristicID<[UInt8]>("6E400002-B5A3-F393-E0A9-E50E24DCCA9E", in: service)
        let answers = CharacteristicID<[UInt8]>("6E400003-B5A3-F393-E0A9-E50E24DCCA9E", in: service)
        try await ring.withValues(of: answers) { values in
          try await ring.write([3] + Array(repeating: 0, count: 14) + [3], to: commands)
          for try await answer in values where answer.value.starts(with: [3]) {
            print("battery", answer.value.dropFirst().first ?? 0)
            break
          }
        }
      }
    }
  }
}
