import HaloBluetoothCore

package final class ActionCommands: CommandGroup {
  static let shared = ActionCommands()

  package let blink = RingAction(
    0x10, "blink", "Two short green flashes.", echoes: true, source: "4.8 [F]")
  package let find = RingAction(
    0x50, startingWith: [0x55, 0xAA], "find", "Green light for about ten seconds.", echoes: true,
    source: "4.8 [C]")
  package let cameraEnter = RingAction(
    0x02, startingWith: [4], "camera enter", "Starts camera mode: the ring reports when it is shaken.",
    source: "4.13 [F]")
  package let cameraKeep = RingAction(
    0x02, startingWith: [5], "camera keep", "Keeps it that way.", source: "4.13 [A]")
  package let cameraLeave = RingAction(
    0x02, startingWith: [6], "camera leave", "No longer.", source: "4.13 [A]")
  package let reboot = RingAction(
    0x08, startingWith: [0], "reboot", "Restarts the ring; the connection ends.", source: "4.5 [F]")
  package let powerOff = RingAction(
    0x08, startingWith: [1], "power off", "Switches the ring off; only its charger wakes it.",
    source: "4.5 [F]")
  package let radioOff = RingAction(
    0x54, startingWith: [1], "radio off", "Switches the ring's radio off; its charger switches it on again.",
    families: .newer, source: "4.16 [S]")
  package let factoryReset = RingAction(
    0xFF, startingWith: [0x66, 0x66], "factory reset", "Erases what the ring has stored.", source: "4.16 [F]")

  var actions: [RingAction] {
    [blink, find, cameraEnter, cameraKeep, cameraLeave, reboot, powerOff, radioOff, factoryReset]
  }
  var entries: [CommandEntry] { actions.map(\.entry) }
}

extension RingClient {
  /// Restarts the ring (ring reference, 4.5). Returns when the link is gone.
  ///
  /// - Throws: `.stillConnected` if it does not go
  package func reboot() async throws(RingError) { try await leave(by: CommandTable.reboot, to: "restart") }

  /// Switches the ring off; only its charger wakes it. Returns when the link is gone.
  ///
  /// - Throws: `.stillConnected` if it does not go: rings refuse while they are charging
  package func powerOff() async throws(RingError) {
    try await leave(by: CommandTable.powerOff, to: "switch itself off")
  }

  private func leave(by action: RingAction, to what: String) async throws(RingError) {
    try dispatcher.post(action.frame)
    // Rings that were tested disconnect within a second; one that does not is lost after the supervision timeout.
    let time = .seconds(5) + (connection.parameters?.supervisionTimeout.duration ?? .seconds(5))
    let isGone = try await awaitCallback { (done: @escaping (Result<Bool, RingError>) -> Void) in
      let end = OneShot(done)
      end.expire(after: time, in: timers, with: .success(false))
      connection.whenDisconnected { _ in end(.success(true)) }
      return { end(.failure(.cancelled)) }
    }
    guard !isGone else { return }
    let battery = try? await battery()
    if connection.isConnected { throw .stillConnected(what, seconds: time.inSeconds, battery: battery) }
  }

  /// Delivers the ring's unsolicited events until the task is cancelled or the link is lost. It replaces
  /// ``RingDispatcher/onEvent``. It has no deadline, as events may be rare.
  ///
  /// - Parameters:
  ///   - camera: how often the camera mode is renewed during this time, in which it reports gestures (ring reference, 4.13);
  ///     nil for no camera mode
  ///   - sink: called on the loop, with the receive time
  /// - Throws: `.cancelled` in the ordinary course, `.disconnected`
  package func listen(
    camera: Duration? = nil, sink: @escaping (RingEvent, Instant) -> Void
  ) async throws(RingError) {
    let timers = self.timers
    let dispatcher = self.dispatcher
    dispatcher.onEvent = { sink($0, timers.now.wholeMicroseconds) }
    defer { dispatcher.onEvent = nil }
    // Naps come there. The oldest rings have none, and other events come without it.
    do throws(RingError) {
      try await openBulk()
    } catch {
      guard error != .cancelled, connection.isConnected else { throw error }
    }
    var keep: Timers.Token?
    func keepGoing(_ interval: Duration) {
      keep = timers.schedule(after: interval) {
        try? dispatcher.post(CommandTable.cameraKeep.frame)
        keepGoing(interval)
      }
    }
    if let camera {
      try dispatcher.post(CommandTable.cameraEnter.frame)
      keepGoing(camera)
    }
    do throws(RingError) {
      try await awaitCallback(cancelled: RingError.cancelled) {
        (done: @escaping (Result<Void, RingError>) -> Void) in
        dispatcher.whenClosed { done(.failure($0)) }
      }
    } catch {
      timers.cancel(keep)
      if camera != nil, connection.isConnected {
        try? dispatcher.post(CommandTable.cameraLeave.frame)
        await written(within: .seconds(2))
      }
      throw error
    }
  }
}
