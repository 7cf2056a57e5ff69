import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import TestLoop
import TestSupport
import Testing

@testable import RingLink

/// Actions, events and sport sessions of a ring: what is asked when, and how each ends (ring reference, 4.1, 4.5, 4.13, 4.14).
@BluetoothActor
@Suite(.onTheLoop) struct RingActivityTests {
  private let device = ScriptedRing()

  /// An echo is waited for; of what is not answered, the write.
  @Test func actionsAreAsked() async throws {
    let ring = try await device.open()
    device.answer = { $0.command == 0x10 || $0.command == 0x50 ? [RingFrame($0.command)] : [] }
    try await ring.perform(CommandTable.blink)
    try await ring.perform(CommandTable.find)
    try await ring.perform(CommandTable.factoryReset)
    #expect(device.takeAsked() == ["10", "5055aa", "ff6666"])
    device.answer = { _ in [] }
    let (error, time) = await failure { () throws(RingError) in try await ring.perform(CommandTable.blink) }
    #expect(error == .notAnswered(.frame(0x10), seconds: 2) && time >= .seconds(2))
  }

  /// Restarting and switching off end the link.
  @Test func disconnectCountsAsSuccess() async throws {
    let ring = try await device.open()
    device.answer = { [device] _ in
      device.link.timers.schedule(after: .milliseconds(300)) {
        device.link.lose(.remote(.remoteUserTerminatedConnection))
      }
      return []
    }
    let (error, time) = await failure { () throws(RingError) in try await ring.reboot() }
    #expect(error == nil && device.takeAsked() == ["08"])
    #expect(time >= .milliseconds(300) && time < .milliseconds(310))
  }

  /// Five seconds, and the supervision timeout of the link, or five for one that is not known.
  @Test(arguments: [(nil, 10.0), (200, 7)] as [(UInt16?, Double)])
  func reportsRingStillConnected(_ timeout: UInt16?, _ seconds: Double) async throws {
    let ring = try await device.open()
    device.link.parameters = timeout.map {
      LinkParameters(
        interval: ConnectionInterval(rawValue: 12), supervisionTimeout: SupervisionTimeout(rawValue: $0))
    }
    device.answer = { $0.command == 0x03 ? [RingFrame(0x03, 50, 1)] : [] }
    let battery = RingBattery(percent: 50, isCharging: true)
    let (error, time) = await failure { () throws(RingError) in try await ring.powerOff() }
    #expect(error == .stillConnected("switch itself off", seconds: seconds, battery: battery))
    #expect(device.takeAsked() == ["0801", "03"])
    #expect(time >= .seconds(seconds) && time < .seconds(seconds + 0.1))
    device.answer = { _ in [] }
    let (silent, _) = await failure { () throws(RingError) in try await ring.reboot() }
    #expect(silent == .stillConnected("restart", seconds: seconds, battery: nil))
  }

  @Test func leavingIsCancelled() async throws {
    let ring = try await device.open()
    let task = spawn { try await ring.reboot() }
    await settle()
    task.cancel()
    await #expect(throws: RingError.cancelled) { try await task.value }
  }

  // MARK: Events

  /// The camera mode is kept up every ten seconds, and left in the end, also by a task that is cancelled.
  @Test(arguments: [true, false]) func eventsAreListenedTo(_ camera: Bool) async throws {
    let ring = try await device.open()
    var events: [RingEvent] = []
    let task = spawn {
      try await ring.listen(camera: camera ? .seconds(10) : nil) { event, _ in
        events.append(event)
      }
    }
    await settle()
    #expect(device.takeAsked() == (camera ? ["0204"] : []))
    device.send(RingFrame(0x02, 2))
    await testTimers.sleep(for: .milliseconds(9998))
    #expect(events == [.camera(.shake)] && device.takeAsked() == [])
    await testTimers.sleep(for: .milliseconds(10_004))
    #expect(device.takeAsked() == (camera ? ["0205", "0205"] : []))
    task.cancel()
    await #expect(throws: RingError.cancelled) { try await task.value }
    #expect(device.takeAsked() == (camera ? ["0206"] : []))
    device.send(RingFrame(0x02, 2))
    await testTimers.sleep(for: .seconds(30))
    #expect(events.count == 1 && device.takeAsked() == [])
  }

  @Test func aLostLinkEndsTheListening() async throws {
    let ring = try await device.open()
    let task = spawn { try await ring.listen(camera: .seconds(10)) { _, _ in } }
    await settle()
    device.link.lose(.remote(.connectionTimeout))
    await #expect(throws: RingError.disconnected(LinkLoss.remote(.connectionTimeout).description)) {
      try await task.value
    }
    #expect(device.takeAsked() == ["0204"])
    await testTimers.sleep(for: .seconds(30))
    #expect(device.takeAsked() == [])
  }

  // MARK: Sport

  private func update(_ seconds: UInt8) -> RingFrame {
    var update = SportUpdate()
    (update.sport, update.seconds) = (.run, UInt16(seconds))
    return CommandTable.sportUpdate.frame(update)
  }

  /// Begun, reported on each second, and ended with the task.
  @Test func aSessionIsEndedWithItsTask() async throws {
    let ring = try await device.open()
    device.answer = { [$0] }
    var seconds: [UInt16] = []
    let task = spawn { try await ring.exercise(.run) { update, _ in seconds.append(update.seconds) } }
    await settle()
    for second: UInt8 in 1...12 {
      device.send(update(second), after: .seconds(second == 12 ? 21 : Int64(second)))
    }
    await testTimers.sleep(for: .milliseconds(20_990))
    #expect(seconds == Array(1...11) && device.takeAsked() == ["770107"])
    await testTimers.sleep(for: .seconds(9))
    #expect(seconds.last == 12)
    task.cancel()
    await #expect(throws: RingError.cancelled) { try await task.value }
    #expect(device.takeAsked() == ["770407"])
    device.send(update(13))
    await testTimers.sleep(for: .milliseconds(2))
    #expect(seconds.last == 12)
  }

  /// Ten seconds without a report: it is over. The command that ends it is sent, and its answer waited for.
  @Test func aSessionThatIsNotReportedOnHasEnded() async throws {
    let ring = try await device.open()
    device.answer = { $0.digits == "770109" ? [$0] : [] }
    let (error, time) = await failure { () throws(RingError) in try await ring.exercise(.cycle) { _, _ in } }
    #expect(error == .sportEnded(seconds: 10) && device.takeAsked() == ["770109", "770409"])
    #expect(time >= .seconds(12) && time < .milliseconds(12_010))
  }

  /// A paused session may be silent for as long as one likes; a resumed one may not.
  @Test func aPausedSessionMayBeSilent() async throws {
    let ring = try await device.open()
    device.answer = { [$0] }
    var session: SportSession?
    let task = spawn {
      try await ring.exercise(.hike) {
        session = $0
      } sink: { _, _ in
      }
    }
    await testTimers.sleep(for: .seconds(5))
    let running = try #require(session)
    try await running.resume()
    try await running.pause()
    try await running.pause()
    #expect(running.isPaused && device.takeAsked() == ["770108", "770208"])
    await testTimers.sleep(for: .seconds(60))
    try await running.resume()
    #expect(!running.isPaused && device.takeAsked() == ["770308"])
    await testTimers.sleep(for: .milliseconds(9990))
    #expect(device.takeAsked() == [])
    await #expect(throws: RingError.sportEnded(seconds: 10)) { try await task.value }
    #expect(device.takeAsked() == ["770408"])
  }

  @Test func refusedPauseKeepsSessionRunning() async throws {
    let ring = try await device.open()
    device.answer = { $0.digits == "770204" ? RingFrame.refusal(of: $0.command).map { [$0] } ?? [] : [$0] }
    var session: SportSession?
    let task = spawn {
      try await ring.exercise(.walk) {
        session = $0
      } sink: { _, _ in
      }
    }
    await testTimers.sleep(for: .seconds(1))
    let running = try #require(session)
    let (error, _) = await failure { () throws(RingError) in try await running.pause() }
    #expect(error == .refused(.frame(0x77), .notSupported) && !running.isPaused)
    await #expect(throws: RingError.sportEnded(seconds: 10)) { try await task.value }
  }

  @Test func aRingWithoutSessionsRefuses() async throws {
    let ring = try await device.open()
    device.answer = { RingFrame.refusal(of: $0.command).map { [$0] } ?? [] }
    let (error, _) = await failure { () throws(RingError) in try await ring.exercise(.walk) { _, _ in } }
    #expect(error == .refused(.frame(0x77), .notSupported) && device.takeAsked() == ["770104"])
  }

  @Test func aLostLinkEndsTheSession() async throws {
    let ring = try await device.open()
    device.answer = { [$0] }
    let task = spawn { try await ring.exercise(.hike) { _, _ in } }
    await testTimers.sleep(for: .seconds(1))
    device.link.lose(.remote(.connectionTimeout))
    await #expect(throws: RingError.disconnected(LinkLoss.remote(.connectionTimeout).description)) {
      try await task.value
    }
  }
}
