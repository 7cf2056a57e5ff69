import HaloRaw
import HeartRateMonitor

/// `heart-rate ADAPTER [FILE]`: prints the battery level and five heart rates of the first sensor that advertises, and
/// records the session to FILE.
@main
enum HeartRate {
  static func main() async {
    await exitOnError {
      let arguments = CommandLine.arguments.dropFirst()
      let adapter = RadioSelector(arguments.first ?? "hci0")
      try await withRadio(adapter, recordingTo: arguments.dropFirst().first) { radio in
        let sensor = DeviceSelector.service(HeartRateMonitor.service)
        let monitor = HeartRateMonitor(try await radio.connect(to: sensor, reconnect: .within(.seconds(60))))
        print("battery", try await monitor.battery() ?? 0)
        try await monitor.resetEnergy()
        print("heart rates", try await monitor.heartRates(5))
      }
    }
  }
}
