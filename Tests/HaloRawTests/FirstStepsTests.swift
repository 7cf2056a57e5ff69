import HaloRaw
import TestLoop
import Testing

/// What a newcomer's program does, on the virtual ring: find, connect, read, write and subscribe by UUID.
@Suite(.onTheLoop) @BluetoothActor struct FirstStepsTests {
  private let service: BluetoothUUID = "6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E"

  /// The program of Examples/FirstSteps.
  @Test func aProgramNeedsNoDiscovery() async throws {
    let battery = try await withRadio("virtual:fast,battery=64") { radio in
      let ring = try await radio.connect(to: .name("r02_beef"))
      #expect(try await ring.read(.firmwareRevision).isEmpty == false)
      let commands = CharacteristicID<[UInt8]>("6E400002-B5A3-F393-E0A9-E50E24DCCA9E", in: service)
      let answers = CharacteristicID<[UInt8]>("6E400003-B5A3-F393-E0A9-E50E24DCCA9E", in: service)
      return try await ring.withValues(of: answers) { values in
        try await ring.write([3] + Array(repeating: 0, count: 14) + [3], to: commands)
        for try await answer in values where answer.value.starts(with: [3]) {
          return answer.value.dropFirst().first
        }
        return nil
      }
    }
    #expect(battery == 64)
  }

  @Test func severalRingsAreHeard() async throws {
    let names = try await withRadio("virtual:fast,rings=3") { radio in
      var names: Set<String> = []
      for try await device in radio.advertisements() {
        if let name = device.localName { names.insert(name) }
        if names.count == 3 { break }
      }
      return names
    }
    #expect(names == ["R02_BEEF", "R02_BEF0", "R02_BEF1"])
  }
}
