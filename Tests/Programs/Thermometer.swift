import HaloRaw

/// A thermometer whose closures belong to an object of the main actor.
@MainActor
final class Sensor {
  private var offset = 0.0

  func serve(on radio: Radio) async throws {
    let temperature = LocalCharacteristic(.temperature) { _ in Celsius(20 + self.offset) }
    let calibration = LocalCharacteristic(
      CharacteristicID<Celsius>(0x2A6E, in: 0xFF00), read: { _ in Celsius(self.offset) },
      write: { value, client in
        guard let degrees = value.degrees else { throw ATTErrorCode.valueNotAllowed }
        self.offset = degrees
        print(client.peer)
      })
    let services = [
      LocalService("181A", temperature), LocalService(0xFF00, isAdvertised: false, calibration),
    ]
    try await radio.serve(services, as: "Thermometer") { server in
      for try await count in temperature.subscriberCounts {
        if count > 0 { try await temperature.notify(Celsius(20 + self.offset)) }
      }
    }
  }
}

@main
enum Program {
  static func main() async throws {
    try await withRadio("user:hci0") { radio in
      try await Sensor().serve(on: radio)
    }
  }
}
