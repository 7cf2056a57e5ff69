import HaloRaw
import Testing

/// All that a ring sends, as one sequence.
@Suite struct SignalTests {
  private struct Heard {
    var samples: [(time: Instant, gap: Duration?)] = []
    var beats: [Beat] = []
    var seconds: [PulseSecond] = []
    var events: [RingEvent] = []
    /// The places of the signals that have a gap, by what they are.
    var gaps: [String] = []
    /// The times of all signals.
    var times: [Instant] = []
  }

  private func heard(_ options: String, beats: Int) async throws -> Heard {
    try await withRadio(RadioSelector("virtual:fast,events=0.3" + options)) { radio in
      let ring = try await Ring(radio.connect(to: .anyRing, reconnect: .forever))
      var heard = Heard()
      for try await signal in ring.signals {
        heard.times.append(signal.time)
        if signal.gap != nil { heard.gaps.append("\(signal.value)".prefix { $0 != "(" }.description) }
        switch signal.value {
        case .sample: heard.samples.append((signal.time, signal.gap))
        case .beat(let beat): heard.beats.append(beat)
        case .quality(let second): heard.seconds.append(second)
        case .event(let event): heard.events.append(event)
        }
        if heard.beats.count == beats { break }
      }
      return heard
    }
  }

  private func seconds(_ time: Instant) -> Double { Double(time.nanoseconds) / 1e9 }

  /// The heart of the built-in ring beats 66 to 72 times a minute, and its hand moves every 20 seconds.
  @Test func allThatARingSendsComesInOrder() async throws {
    let heard = try await heard("", beats: 30)
    #expect(heard.times == heard.times.sorted())
    #expect(heard.beats.compactMap(\.interval).allSatisfy { (0.8...0.95).contains($0) })
    #expect(heard.beats.compactMap(\.interval).count > 15)
    // Each second of the light is said once, three seconds after its end.
    let starts = heard.seconds.map(\.start)
    #expect(starts.count > 20 && zip(starts, starts.dropFirst()).allSatisfy { abs($1 - $0 - 1) < 1e-6 })
    #expect(heard.seconds.contains { $0.reason == .motion } && heard.seconds.contains { $0.reason == .good })
    #expect(
      heard.events.contains(.button(.tap))
        && heard.events.contains { if case .battery = $0 { true } else { false } })
    #expect(heard.samples.count > 25 * 20 && heard.gaps.isEmpty)
  }

  /// The first sample on the new link has the gap, and the beats before the loss come before it.
  @Test func aGapIsThatOfASample() async throws {
    let heard = try await heard(",drop-after=600", beats: 60)
    #expect(!heard.gaps.isEmpty && heard.gaps.allSatisfy { $0 == "sample" })
    #expect(heard.gaps.count == heard.samples.count { $0.gap != nil })
    let loss = try #require(heard.samples.firstIndex { $0.gap != nil })
    let (before, after) = (seconds(heard.samples[loss - 1].time), seconds(heard.samples[loss].time))
    for (beat, next) in zip(heard.beats, heard.beats.dropFirst())
    where beat.time <= before && next.time >= after {
      #expect(next.interval == nil)
    }
  }

  @Test func aRingOnItsChargerIsRefused() async throws {
    let error = await #expect(throws: BluetoothError.self) {
      try await withRadio("virtual:fast,charging") { radio in
        let ring = try await Ring(radio.connect(to: .anyRing))
        for try await _ in ring.signals {}
      }
    }
    #expect(error?.code == .refused)
  }
}
