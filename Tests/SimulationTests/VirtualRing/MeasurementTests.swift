import ATT
import HaloBluetoothCore
@testable import RingLink
import Testing
import HaloSimulation

@Suite struct MeasurementTests {
  private func subscribed(_ text: String = "virtual") throws -> ScriptedHost {
    let host = ScriptedHost(try VirtualRingOptions(parsing: text))
    #expect(host.connect())
    #expect(host.subscribe())
    return host
  }

  private func start(_ host: ScriptedHost, _ kind: MeasurementKind, action: UInt8 = 1) {
    host.write(CommandTable.measurementStart.request(MeasurementStart(kind, action: action)))
  }

  /// What it told of its measurements, with the time since `origin` in seconds.
  private func updates(
    _ host: ScriptedHost, since origin: Instant = .zero
  ) -> [(time: Double, update: MeasurementUpdate)] {
    host.notifications.compactMap { notification in
      guard notification.handle == 0x0012,
        let frame = try? RingFrame(parsing: notification.value.span.bytes), frame.command == 0x69,
        let update = try? CommandTable.measurementStart.reply(frame)
      else { return nil }
      return ((notification.time - origin).inSeconds, update)
    }
  }

  /// Zeros for 15.5 seconds, then intervals, values from 25.5 to 30 seconds, then nothing (ring reference, 4.9).
  @Test func aSpotMeasurementTakesItsTime() throws {
    let host = try subscribed()
    let origin = host.timers.now
    start(host, .heartRate)
    host.run(.seconds(60))
    let all = updates(host, since: origin)
    #expect(all.count == 60)
    let firstInterval = try #require(all.first { $0.update.beatInterval > 0 })
    let firstValue = try #require(all.first { $0.update.value > 0 })
    let last = try #require(all.last)
    #expect((15.5...16.5).contains(firstInterval.time))
    #expect((25.5...25.7).contains(firstValue.time))
    #expect((30.0...30.2).contains(last.time))
    for (_, update) in all where update.value > 0 {
      #expect((60...80).contains(update.value))
      #expect(abs(60_000 / Int(update.beatInterval) - Int(update.value)) <= 1)
    }
    #expect(!host.radio.peripheral.ring.isLit)
  }

  @Test(arguments: [("RT02R_3.11.00", false), ("RT11CR_1.00.00", true)])
  func onlyRingsWithAThermometerMeasureTemperatures(firmware: String, isMeasured: Bool) throws {
    let host = try subscribed("virtual:firmware=\(firmware)")
    start(host, .bodyTemperature)
    host.run(.seconds(5))
    #expect(updates(host).isEmpty != isMeasured)
    #expect(host.notifications.contains { $0.value.first == 0x69 | 0x80 } != isMeasured)
  }

  @Test func oxygenIsFinalOnce() throws {
    let host = try subscribed("virtual:warm-up=1")
    start(host, .oxygen)
    host.run(.seconds(10))
    let final = updates(host).filter { $0.update.second == 1 }
    #expect(final.count == 1)
    #expect((90...100).contains(try #require(final.first).update.value))
  }

  @Test func theSameSeedMeasuresTheSame() throws {
    func course(_ seed: Int) throws -> [MeasurementUpdate] {
      let host = try subscribed("virtual:seed=\(seed)")
      start(host, .variability)
      host.run(.seconds(40))
      return updates(host).map(\.update)
    }
    #expect(try course(5) == course(5))
    #expect(try course(5).last?.value != course(7).last?.value)
  }

  @Test(arguments: ["virtual:worn=false", "virtual:charging"])
  func reportsNotWornStatus(options: String) throws {
    let host = try subscribed(options)
    start(host, .heartRate)
    host.run(.seconds(30))
    // Status 1 in the seventh tick, and no more.
    #expect(updates(host).map(\.update.status) == [0, 0, 0, 0, 0, 0, 1])
    start(host, .continuousHeartRate)
    host.run(.seconds(30))
    #expect(updates(host).dropFirst(7).map(\.update.status) == [0, 0, 2])
  }

  @Test func aContinuousMeasurementHasToBeKeptGoing() throws {
    let host = try subscribed()
    let origin = host.timers.now
    start(host, .continuousHeartRate)
    host.run(.seconds(100))
    let alone = updates(host, since: origin)
    #expect((15.5...17.5).contains(try #require(alone.first { $0.update.value > 0 }).time))
    #expect((38.0...40.5).contains(try #require(alone.last).time))
    start(host, .continuousHeartRate)
    for _ in 0..<5 {
      host.run(.seconds(25))
      start(host, .continuousHeartRate, action: 3)
    }
    #expect(updates(host).count > alone.count + 120)
    let count = updates(host).count
    start(host, .continuousHeartRate, action: 4)
    host.run(.seconds(30))
    #expect(updates(host).count <= count + 1)
  }

  @Test func onlyOneThingIsMeasuredAtATime() throws {
    let host = try subscribed("virtual:rate=1")
    start(host, .heartRate)
    host.run(.seconds(3))
    start(host, .oxygen)
    host.run(.seconds(3))
    #expect(updates(host).suffix(5).allSatisfy { $0.update.kind == .oxygen })
    // The raw stream takes the sensor, and is robbed of it in turn.
    host.write(RawControl.start)
    host.run(.seconds(1))
    let before = updates(host).count
    host.run(.seconds(5))
    #expect(updates(host).count == before)
    #expect(host.samples.count >= 15)
    start(host, .heartRate)
    host.run(.milliseconds(100))
    let samples = host.samples.count
    host.run(.seconds(5))
    #expect(host.samples.count == samples)
    #expect(!host.radio.peripheral.ring.isStreaming)
  }

  @Test func stoppingAnotherKindHasNoEffect() throws {
    let host = try subscribed()
    start(host, .heartRate)
    host.run(.seconds(2))
    host.write(CommandTable.measurementStop.request(MeasurementStop(.oxygen)))
    host.run(.seconds(2))
    #expect(updates(host).count >= 7)
    host.write(CommandTable.measurementStop.request(MeasurementStop(.heartRate)))
    host.run(.milliseconds(100))
    let count = updates(host).count
    host.run(.seconds(5))
    #expect(updates(host).count == count)
    #expect(host.frames.filter { $0.command == 0x6A }.count == 2)
  }

  // MARK: Families

  static let firmwares = [
    "R02_3.00.06_240523", "RY02_3.00.38_250403", "RT02R_3.11.00_250611", "RT11CR_1.00.08_250514",
  ]

  /// The sequence that this package sends puts the light out in every ring; half of it does not.
  @Test(arguments: firmwares)
  func theStopSequencePutsTheLightOut(firmware: String) throws {
    let host = try subscribed("virtual:firmware=\(firmware)")
    let ring = host.radio.peripheral.ring
    host.write(RawControl.start)
    host.run(.seconds(1))
    #expect(ring.isLit && ring.isStreaming)
    for frame in RawControl.stopSequence { host.write(frame) }
    host.run(.seconds(1))
    #expect(!ring.isLit && !ring.isStreaming)
    host.write(RawControl.start)
    host.run(.seconds(1))
    host.write(RawControl.stop.frame)
    host.run(.seconds(1))
    #expect(!ring.isStreaming)
    #expect(ring.isLit == !firmware.hasPrefix("R02"))
  }

  @Test(arguments: firmwares)
  func refusesCommandsUnsupportedByFamily(firmware: String) throws {
    let host = try subscribed("virtual:firmware=\(firmware)")
    let isOld = firmware.hasPrefix("R02")
    for (request, isKnown) in [
      (RingFrame(0x1E, 1), isOld), (RingFrame(0x3C), !isOld), (RingFrame(0x77, 4, 4), !isOld),
      (RingFrame(0x69, 8, 1), !isOld), (RingFrame(0x69, 1, 1), true), (RingFrame(0x03), true),
      (RingFrame(0x55), false),
    ] {
      let seen = host.frames.count
      host.write(request)
      host.run(.milliseconds(900))
      let isRefused = host.frames[seen...].contains {
        CommandTable.meaning(of: $0, isFromRing: true).refusal
          == DecodedFrame.Refusal(command: request.command, code: .notSupported)
      }
      #expect(isRefused == !isKnown, "\(request) to \(firmware)")
    }
  }

  @Test func theOldestRingsHaveNoBulkService() throws {
    let host = try subscribed("virtual:bulk=false,firmware=R02_3.00.06_240523")
    #expect(!(host.ask(ATTWriteRequest(0x0019, value: [1, 0])) is ATTWriteResponse))
    #expect(try subscribed().ask(ATTWriteRequest(0x0019, value: [1, 0])) is ATTWriteResponse)
  }

  // MARK: What goes on besides

  @Test func eventsComeByThemselves() throws {
    let host = try subscribed("virtual:events=1")
    host.run(.seconds(14))
    let events = host.frames.compactMap { RingEvent($0) }
    #expect(events.contains(.battery(RingBattery(percent: 87, isCharging: false))))
    #expect(events.contains(.stress(45)) && events.contains(.variability(31)))
    #expect(events.contains(.findsPhone(true)) && events.contains(.mediaKey(.next)))
    #expect(try subscribed().frames.isEmpty)
  }

  @Test func theCameraIsShaken() throws {
    let host = try subscribed()
    host.write(CommandTable.cameraEnter.frame)
    host.run(.seconds(5))
    host.write(CommandTable.cameraLeave.frame)
    host.run(.seconds(5))
    #expect(
      host.frames.compactMap { RingEvent($0) } == [
        .camera(.entered), .camera(.shake), .camera(.shake), .camera(.finished),
      ])
  }

  @Test func aSportSessionCounts() throws {
    let host = try subscribed()
    host.write(CommandTable.sport.request(SportControl(SportControl.startAction, .run)))
    host.run(.milliseconds(5500))
    host.write(CommandTable.sport.request(SportControl(SportControl.pauseAction, .run)))
    host.run(.seconds(2))
    host.write(CommandTable.sport.request(SportControl(SportControl.resumeAction, .run)))
    host.run(.milliseconds(1500))
    host.write(CommandTable.sport.request(SportControl(SportControl.endAction, .run)))
    host.run(.seconds(5))
    let updates = host.frames.compactMap { try? CommandTable.sportUpdate.value($0) }
    #expect(updates.map(\.seconds) == [0, 1, 2, 3, 4, 5, 5, 5, 6])
    #expect(updates.map(\.status) == [1, 1, 1, 1, 1, 1, 2, 2, 1])
    #expect(updates.allSatisfy { $0.sport == .run })
  }

  @Test(arguments: [(CommandTable.reboot, true), (CommandTable.powerOff, false)])
  func disconnectsOnRebootAndPowerOff(action: RingAction, comesBack: Bool) throws {
    let host = try subscribed()
    host.write(action.frame)
    host.run(.seconds(1))
    #expect(host.disconnections == [.remoteUserTerminatedConnection])
    _ = host.status(ScriptedHost.creation(host.radio.options.address))
    #expect(host.wait(.seconds(5)) { host.handle != nil } == comesBack)
  }
}
