import HaloRaw

@main
enum Pulse {
  static func main() async {
    await exitOnError {
      // "hci0" is a real adapter.
      let adapter = CommandLine.arguments.dropFirst().first ?? "virtual:clock=2026-11-21T13:45:00,warm-up=1"
      try await withRadio(RadioSelector(adapter)) { radio in
        let ring = try await Ring(radio.connect(to: .anyRing))
        print("battery", try await ring.battery())
        print("steps", try await ring.today().steps)
        if let now = RingTime("2026-11-21T13:45:00"),
          case .sleep(let nights) = try await ring.history(.sleep, days: now.day...now.day, now: now),
          let night = nights.last(where: { !$0.isNap })
        {
          print("slept from", night.start, "to", night.end)
        }
        for try await beat in ring.heartRates {
          guard case .reading(let reading) = beat.value else { continue }
          print(reading)
          break
        }
        var count = 0
        for try await sample in ring.samples {
          print(sample.time, sample.value)
          count += 1
          if count == 500 { break }
        }
      }
    }
  }
}
