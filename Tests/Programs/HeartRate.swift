import HaloRaw

/// The program that docs/library.md begins with, for a strap of any maker.
@main
enum HeartRate {
  static func main() async throws {
    try await withRadio("hci0") { radio in
      let strap = try await radio.connect(to: .service("180D"))
      print("battery", try await strap.read(.batteryLevel))
      for try await beat in strap.values(of: .heartRateMeasurement) {
        print(beat.value.beatsPerMinute, "bpm")
      }
    }
  }
}
