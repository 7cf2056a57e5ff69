import HaloRaw
import Testing

/// What a program is tested with: devices that the test makes, in a time that does not pass. Each test has all it needs, as
/// docs/replay.md shows it.
@Suite struct ProgramTests {
  /// A strap of some makers is found by its name alone.
  private static func isStrap(_ device: Advertisement) -> Bool {
    device.serviceUUIDs.contains("180D") || device.localName?.hasPrefix("HR-") == true
  }

  @Test func theProgramChoosesItsDevice() throws {
    let address = try #require(BluetoothAddress("C0:11:22:33:A1:B2"))
    let strap = Advertisement(
      address: address, advertisingData: AdvertisingData(localName: "Strap", serviceUUIDs: ["180D"]),
      rssi: -60)
    let quiet = Advertisement(
      address: address, advertisingData: AdvertisingData(localName: nil),
      scanResponse: AdvertisingData(
        localName: "HR-7", serviceUUIDs: ["180A", "6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E"]))
    let lamp = Advertisement(
      address: address,
      advertisingData: AdvertisingData(
        localName: "Lamp", serviceData: [.init(service: 0xFE95, data: [1])],
        manufacturerData: [.init(company: .init(rawValue: 0x004C), data: [2, 3])]), isConnectable: false)
    #expect([strap, quiet, lamp].map(Self.isStrap) == [true, true, false])
    #expect(strap.description == "C0:11:22:33:A1:B2 random  -60 dBm  Strap  180D")
    #expect(quiet.localName == "HR-7" && quiet.serviceUUIDs.count == 2 && quiet.isConnectable)
    #expect(lamp.serviceData.map(\.data) == [[1]] && lamp.manufacturerData.map(\.data) == [[2, 3]])
    #expect(!lamp.isConnectable && lamp.rssi == nil)
  }

  @Test func theProgramGoesOnAfterALoss() async throws {
    // A ring in memory, whose first link ends after 40 sets of samples. Its time is virtual.
    let samples = try await withRadio("virtual:fast,drop-after=40") { radio in
      let ring = try await Ring(radio.connect(to: .anyRing, reconnect: .forever))
      var samples: [Received<RawSample>] = []
      for try await sample in ring.samples {
        samples.append(sample)
        if samples.count == 300 { break }
      }
      return samples
    }
    #expect(samples.count { $0.gap != nil } > 0)
  }

  /// The beats of the built-in ring, whose heart is known: 66 to 72 a minute. None leads across a lost link.
  @Test func beatsAreThoseOfTheHeart() async throws {
    let beats = try await withRadio("virtual:fast,drop-after=1200") { radio in
      let ring = try await Ring(radio.connect(to: .anyRing, reconnect: .forever))
      var beats: [Received<Beat>] = []
      for try await beat in ring.beats {
        beats.append(beat)
        if beats.count == 40 { break }
      }
      return beats
    }
    let intervals = beats.compactMap(\.value.interval)
    #expect(intervals.count > 20 && intervals.allSatisfy { (0.8...0.95).contains($0) })
    let times = beats.map(\.value.time)
    #expect(times == times.sorted())
    for beat in beats { #expect((0.5...2.5).contains(Double(beat.time.nanoseconds) / 1e9 - beat.value.time)) }
  }

  @Test func listsNearbyDevices() async throws {
    let rings = try await withRadio("virtual:fast,rings=2") { radio in
      try await radio.devices(of: .anyRing, within: .seconds(5))
    }
    #expect(rings.map(\.localName) == ["R02_BEEF", "R02_BEF0"])
    let others = try await withRadio("virtual:fast") { radio in
      try await radio.devices(of: .name("Strap"), within: .seconds(5))
    }
    #expect(others.isEmpty)
  }

  /// An hour passes at once, for whoever waits in the time of the radio.
  @Test func virtualClockSkipsSleep() async throws {
    let waited = try await withRadio("virtual:fast") { radio in
      let begin = radio.clock.now
      try await radio.clock.sleep(for: .seconds(3600))
      return radio.clock.now - begin
    }
    #expect(waited == .seconds(3600))
  }

  @Test func aCancelledWaitEnds() async throws {
    try await withRadio("virtual") { radio in
      let wait = Task { try await radio.clock.sleep(for: .seconds(3600)) }
      wait.cancel()
      await #expect(throws: BluetoothError.self) { try await wait.value }
    }
  }
}
