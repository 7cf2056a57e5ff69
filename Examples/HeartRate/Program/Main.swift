import HaloRaw
import HeartRateMonitor

/// `heart-rate ADAPTER [FILE]`: prints the battery level and five heart rates of the first sensor that advertises, and
/// records the session to FILE.
@main
enum HeartRate {
  static func main() async {
    await exitOnError {
      let arguments = CommandLine.arguments.dropFirst()
      let adapter = try AdapterSpecification(arguments.first ?? "hci0")
      let opened =
        if let path = arguments.dropFirst().first {
          try await adapter.open(recordingTo: path)
        } else {
          try await adapter.open()
        }
      let central = Central(opened.adapter)
      try await central.start()
      let filter = Central.ScanFilter(services: [HeartRateMonitor.service])
      guard let device = try await central.find(within: .seconds(30), filter: filter) else {
        throw NoSensor()
      }
      let monitor = try await HeartRateMonitor(device.address, on: central)
      print("battery", try await monitor.battery() ?? 0)
      try await monitor.resetEnergy()
      print("heart rates", try await monitor.heartRates(5))
      await central.stop()
      try await opened.end()
    }
  }
}

private struct NoSensor: Error, CustomStringConvertible {
  let description = "no heart rate sensor advertises; is one worn, and not connected to a phone?"
}
