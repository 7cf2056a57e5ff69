import HaloRaw

@main
enum Pulse {
  static func main() async {
    await exitOnError {
      // "hci0" is a real adapter.
      let adapter = CommandLine.arguments.dropFirst().first ?? "virtual:clock=2026-11-21T13:45:00,warm-up=1"
      let opened = try await AdapterSpecification(adapter).open()
      let central = Central(opened.adapter)
      try await central.start()
      let device = try await RingFinder.find(.anyRing, on: central, deadline: .seconds(30))
      let ring = try await Ring.open(try await central.connect(to: device))

      print("battery", try await ring.battery())
      print("steps", try await ring.today().steps, "of", try await ring.read(CommandTable.goals).steps)
      if let now = RingTime("2026-11-21T13:45:00"),
        let night = try await ring.sleep(now: now).last(where: { !$0.isNap })
      {
        print("slept from", night.start, "to", night.end)
      }
      for try await (event, _) in ring.heartRates() {
        guard case .reading(let reading) = event else { continue }
        print(reading)
        break
      }

      try await ring.startRawStream { sample, time in print(time, sample) }
      await central.timers.sleep(for: .seconds(5))
      await ring.stopRawStream()
      await central.stop()
    }
  }
}
