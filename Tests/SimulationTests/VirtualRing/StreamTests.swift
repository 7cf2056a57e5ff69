import ATT
import HCI
import HaloBluetoothCore
import RingLink
import TestSupport
import Testing
import HaloSimulation

@Suite struct StreamTests {
  private func subscribed(_ options: VirtualRingOptions = .init()) -> ScriptedHost {
    let host = ScriptedHost(options)
    #expect(host.connect())
    #expect(host.subscribe())
    return host
  }

  /// The frames of some sets: SpO2, PPG, accelerometer.
  private static let setsOfSeed7 = [
    0: [
      "a1010094009d00780025000000000070", "a1022ce42d602ae002800000000000cc",
      "a103e09704d103e000000000000000d3",
    ],
    1: [
      "a1010095009d00780025000000000071", "a1022ce32d602ae002800000000000cb",
      "a103e0a304bd03eb00000000000000d6",
    ],
    749: [
      "a101008a009d00780025000000000066", "a1022c1d2d602adf0281000000000005",
      "a103e09d048a041b00000000000000ce",
    ],
    1499: [
      "a101009300b40078003c00000000009d", "a1022ca72ef32ae304100000000000b8",
      "a103e0ad048d040600000000000000cc",
    ],
  ]

  @Test func fifteenHundredSamplesComeInOrder() {
    var options = VirtualRingOptions()
    options.seed = 7
    let host = subscribed(options)
    host.write(RawControl.start)
    host.run(.seconds(61))
    for frame in RawControl.stopSequence { host.write(frame) }
    host.run(.seconds(1))
    let samples = host.samples
    #expect(samples.count >= 4500)
    #expect(host.frames.count == host.notifications.count)
    let kinds = host.notifications.map { $0.value.prefix(2) }
    #expect((0..<4500).allSatisfy { kinds[$0] == [0xA1, UInt8($0 % 3 + 1)] })
    for (set, frames) in Self.setsOfSeed7 {
      #expect(host.notifications[set * 3..<set * 3 + 3].map { Hex.string($0.value) } == frames, "set \(set)")
    }
    // A set lies within one connection event, and the rate is what was asked for.
    let times = host.notifications.map(\.time)
    #expect(times[0] == times[2])
    let seconds = (times[4497] - times[0]).inSeconds
    #expect(abs(1499 / seconds - 25) < 0.1)
    host.run(.seconds(10))
    #expect(host.samples.count == samples.count)
    #expect(host.radio.peripheral.ring.counters.rawControls == [.stream, .release, .stop])
    #expect(!host.radio.peripheral.ring.isStreaming)
  }

  @Test func theSameOptionsGiveTheSameBytes() {
    func session(_ seed: UInt64) -> [[UInt8]] {
      var options = VirtualRingOptions()
      options.seed = seed
      let host = subscribed(options)
      host.write(RawControl.start)
      host.run(.seconds(20))
      return host.packets
    }
    #expect(session(3) == session(3))
    #expect(session(3) != session(4))
  }

  @Test(arguments: [1, 4, 100])
  func anyRateWorks(rate: Double) {
    var options = VirtualRingOptions()
    options.rate = rate
    let host = subscribed(options)
    host.write(RawControl.start)
    host.run(.seconds(30))
    // The first set comes at once.
    #expect(abs(host.samples.count - Int(rate * 30 + 1) * 3) <= 3 * (1 + Int(rate * 0.06)))
  }

  @Test func oldRingsEncodeTwelveBits() {
    var options = VirtualRingOptions()
    options.firmware = "R02_3.00.06_240523"
    let host = subscribed(options)
    host.write(RawControl.start)
    host.run(.seconds(10))
    var detector = AccelerometerEncodingDetector()
    for case .accelerometer(let sample) in host.samples { detector.observe(sample) }
    #expect(detector.encoding == .twelveBit)
  }

  @Test func aRingOnItsChargerRefuses() {
    var options = VirtualRingOptions()
    options.isCharging = true
    let host = subscribed(options)
    host.write(RawControl.start)
    host.run(.seconds(10))
    #expect(host.samples == [.refused])
    host.write(CommandTable.battery.request())
    host.run(.seconds(1))
    #expect(host.frames.last == CommandTable.battery.frame(of: RingBattery(percent: 87, isCharging: true)))
  }

  @Test func theChargerEndsAStream() {
    let host = subscribed()
    host.write(RawControl.start)
    host.run(.seconds(2))
    host.radio.peripheral.ring.setCharging(true)
    host.run(.milliseconds(200))
    let count = host.frames.count
    #expect(
      host.frames.last
        == CommandTable.batteryEvent.frame(RingBattery(percent: 87, isCharging: true)))
    host.run(.seconds(5))
    #expect(host.frames.count == count)
  }

  @Test func oneSetCanBeAskedFor() {
    let host = subscribed()
    host.write(RawControl.once.frame)
    host.write(RingFrame(.rawStream, 0x42))
    host.write(RingFrame(.rawStream, 8))
    host.run(.seconds(5))
    #expect(host.samples.count == 5)
    #expect(host.samples[3] == .refused)
    #expect(host.samples[4] == .wearCalibrationEnd(first: 0, second: 0))
  }

  @Test func faultsHappenWhereTheyWereAskedFor() {
    var options = VirtualRingOptions()
    options.faults.refusesRawStream = true
    var host = subscribed(options)
    host.write(RawControl.start)
    host.run(.seconds(5))
    #expect(host.samples == [.refused])

    options.faults = .init()
    options.faults.silentRawStream = true
    host = subscribed(options)
    host.write(RawControl.start)
    host.run(.seconds(5))
    #expect(host.samples.isEmpty)

    options.faults = .init()
    options.faults.badChecksumEvery = 10
    host = subscribed(options)
    host.write(RawControl.start)
    host.run(.seconds(10))
    let bad = host.notifications.count - host.frames.count
    #expect(bad == host.notifications.count / 10)

    options.faults = .init()
    options.faults.dropsAfter = 50
    host = subscribed(options)
    host.write(RawControl.start)
    host.run(.seconds(10))
    #expect(host.samples.count == 150)
    #expect(host.disconnections == [.connectionTimeout])
  }

  @Test func disconnectionEndsTheStream() {
    let host = subscribed()
    host.write(RawControl.start)
    host.run(.seconds(1))
    host.radio.disconnect()
    host.run(.seconds(1))
    #expect(!host.radio.peripheral.ring.isStreaming)
    #expect(host.timers.nextDeadline == nil)
    #expect(host.connect())
    #expect(host.subscribe())
    host.run(.seconds(2))
    #expect(host.notifications.last.map { $0.time < host.timers.now } ?? true)
    let count = host.samples.count
    host.run(.seconds(2))
    #expect(host.samples.count == count)
  }

  @Test func commandsAreAnswered() {
    let host = subscribed()
    host.run(.seconds(1))
    func answers(_ frame: String) -> [String] {
      let seen = host.frames.count
      host.send(ATTWriteCommand(0x0010, value: hex(frame)).bytes)
      host.run(.milliseconds(100))
      return host.frames[seen...].map { Hex.string($0.bytes) }
    }
    #expect(answers("03000000000000000000000000000003") == ["0357000000000000000000000000005a"])
    // The time is acknowledged by two frames: how much fits into a notification, and what the ring can do.
    #expect(
      answers("012504091234560100000000000000d0") == [
        "2ff40000000000000000000000000023", "010001002200000000010030210030a6",
      ])
    #expect(answers("5055aa0000000000000000000000004f") == ["5055aa0000000000000000000000004f"])
    #expect(answers("06010000000000000000000000000007") == ["86ee0000000000000000000000000074"])
    // No frame, and a number that has no form for a refusal.
    #expect(answers("03000000000000000000000000000004") == [])
    #expect(answers("0300") == [])
    #expect(answers("c60000000000000000000000000000c6") == [])
    #expect(host.radio.peripheral.ring.counters.badFrames == 2)
  }

  @Test func bulkRequestsAreAnswered() {
    let host = subscribed()
    #expect(host.ask(ATTWriteRequest(0x0019, value: [1, 0])) == ATTWriteResponse())
    for request in ["bc270200c0700001", "bc270200c0710001", "bc010000ffff", "27", "bc27"] {
      host.send(ATTWriteCommand(0x0016, value: hex(request)).bytes)
    }
    host.run(.seconds(1))
    // A day that has just begun has no naps and no night. Then a wrong CRC; nothing at all for a firmware update.
    #expect(
      host.notifications.map { Hex.string($0.value) }
        == ["bc3e0100bf4000", "bc270100bf4000", "bc2701003e8102"])
  }
}
