import HaloRaw
import HeartRateMonitor

/// `heart-rate ADAPTER [FILE]`: prints the battery level and five heart rates of the first sensor that advertises, and
/// records the session to FILE.
@main
enum HeartRate {
  static func main() async throws {
    let arguments = CommandLine.arguments.dropFirst()
    try await run(arguments.first ?? "hci0", recordingTo: arguments.dropFirst().first)
  }

  @BluetoothActor
  static func run(_ adapter: String, recordingTo path: String?) async throws {
    var opening = AdapterOpening()
    if let path {
      opening.makeTap = { timers, _, _ in TrafficTap(writer: try CaptureWriter(path: path), timers: timers) }
    }
    let opened = try await AdapterSpecification(adapter).open(opening)
    let central = Central(opened.adapter)
    try await central.start()
    let filter = Central.ScanFilter(services: [HeartRateMonitor.service])
    for await device in central.advertisements(filter: filter) {
      let monitor = try await HeartRateMonitor(device.address, on: central)
      print("battery", try await monitor.battery() ?? 0)
      try await monitor.resetEnergy()
      print("heart rates", try await monitor.heartRates(5))
      break
    }
    await central.stop()
    _ = opened.finish()
    opened.tap?.writer?.waitUntilWritten()
  }
}
