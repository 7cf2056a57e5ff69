import HaloRaw

@main
enum Beats {
  static func main() async throws {
    let adapter = CommandLine.arguments.dropFirst().first ?? "hci0"
    try await withRadio(RadioSelector(adapter)) { radio in
      let strap = try await radio.connect(to: .service("180D"), reconnect: .forever)
      print("battery", try await strap.read(.batteryLevel))
      for try await beat in strap.values(of: .heartRateMeasurement) {
        if let gap = beat.gap { print("nothing for", gap) }
        print(beat.value.beatsPerMinute, "bpm")
      }
    }
  }
}
