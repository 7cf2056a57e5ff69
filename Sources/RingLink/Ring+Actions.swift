import BluetoothCore
import EventLoop

extension Ring {
  /// Lights the ring for about ten seconds (ring reference, 4.8).
  public func find() async throws(RingError) { try await perform(CommandTable.find) }

  /// Two short flashes.
  public func blink() async throws(RingError) { try await perform(CommandTable.blink) }

  /// Restarts the ring (ring reference, 4.5). Returns when the link is gone.
  ///
  /// - Throws: `.stillConnected` if it does not go
  public func reboot() async throws(RingError) { try await leave(by: CommandTable.reboot, to: "restart") }

  /// Switches the ring off; only its charger wakes it. Returns when the link is gone.
  ///
  /// - Throws: `.stillConnected` if it does not go: rings refuse while they are charging
  public func powerOff() async throws(RingError) {
    try await leave(by: CommandTable.powerOff, to: "switch itself off")
  }

  /// Erases all that the ring has stored. It says nothing to that.
  public func factoryReset() async throws(RingError) { try await perform(CommandTable.factoryReset) }

  /// How long a ring may take to be gone. Those that were watched took less than a second; one that does not say
  /// goodbye is missed after the supervision timeout.
  private var farewellTime: Duration {
    .seconds(5) + (client.parameters?.supervisionTimeout.duration ?? .seconds(5))
  }

  private func leave(by action: Action, to what: String) async throws(RingError) {
    try dispatcher.post(action.frame)
    let time = farewellTime
    let isGone = try await awaitCallback { (done: @escaping (Result<Bool, RingError>) -> Void) in
      let timers = EventLoop.shared.timers
      var done: ((Result<Bool, RingError>) -> Void)? = done
      let finish = { (result: Result<Bool, RingError>) in
        done?(result)
        done = nil
      }
      let timer = timers.schedule(after: time) { finish(.success(false)) }
      client.whenDisconnected { _ in
        timers.cancel(timer)
        finish(.success(true))
      }
      return {
        timers.cancel(timer)
        finish(.failure(.cancelled))
      }
    }
    guard !isGone else { return }
    let battery = try? await battery()
    if client.isConnected { throw .stillConnected(what, seconds: time.inSeconds, battery: battery) }
  }
}
