import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

/// A machine that sleeps: either the loop's clock stands still, as CLOCK_MONOTONIC does, and all that the controller has
/// kept comes at once afterwards, or it leaps, as it does for a process that was stopped.
@BluetoothActor
@Suite(.onTheLoop) struct SuspendTests {
  /// How the loop's clock behaves while the machine sleeps for an hour.
  enum Sleep: CaseIterable {
    case clockStands, clockLeaps
  }

  /// Sleeps for an hour with a link of which the controller forgets what comes, and wakes up.
  private func sleep(_ stage: Stage, _ kind: Sleep) async {
    if kind == .clockLeaps { await stage.sleep(.seconds(3600)) }
  }

  @Test(arguments: Sleep.allCases) func deliversNotificationsThenLossAfterSuspend(_ kind: Sleep) async throws
  {
    let (stage, connection) = try await Stage.connected()
    var heard: [(value: UInt8, time: Instant)] = []
    var losses: [LinkLoss] = []
    var ends: [StackError] = []
    let service = try #require(try await connection.gatt.firstService(Server.heartRateService))
    let characteristic = try #require(try await connection.gatt.discoverCharacteristics(of: service).first)
    _ = try await connection.gatt.subscribe(to: characteristic, onEnd: { ends.append($0) }) { value, time in
      heard.append((value.byte(at: 0) ?? 0, time))
    }
    connection.whenDisconnected { losses.append($0) }
    for number in 0..<50 { stage.peer.notify(0x0012, [UInt8(number)], after: .milliseconds(20 * number)) }
    await stage.sleep(.seconds(2))
    await sleep(stage, kind)
    // What the controller has kept comes at once, and then that the link is lost.
    for number in 50..<60 { stage.peer.notify(0x0012, [UInt8(number)]) }
    stage.radio.end(stage.peer, .connectionTimeout)
    await stage.sleep(.milliseconds(10))
    #expect(heard.map(\.value) == Array(0..<60))
    #expect(zip(heard, heard.dropFirst()).allSatisfy { $0.time <= $1.time })
    #expect(losses == [.remote(.connectionTimeout)])
    #expect(ends == [.closed(LinkLoss.remote(.connectionTimeout).description)])
    #expect(!connection.isConnected)
    let again = try await stage.within(.seconds(5)) { try await stage.connect() }
    #expect(try await again.gatt.read(Server.nameHandle) == Array("honest".utf8))
    await again.disconnect()
    try await stage.checkHealth()
  }

  /// The controller says nothing of the link that it has lost: the next request ends it.
  @Test(arguments: Sleep.allCases) func requestTimesOutWhenControllerForgetsLink(_ kind: Sleep) async throws {
    let (stage, connection) = try await Stage.connected()
    await sleep(stage, kind)
    stage.peer.react = { _ in .silent }
    let error = await stage.within(.seconds(31)) {
      await failure { () async throws(StackError) in try await connection.gatt.read(Server.nameHandle) }
    }
    #expect(error == .timedOut(.readRequest))
    await stage.sleep(.seconds(3))
    #expect(!connection.isConnected)
    stage.peer.react = { _ in .honest }
    try await stage.checkHealth()
  }

  /// The hour passes between LE Create Connection and its end.
  @Test(arguments: Sleep.allCases, [false, true])
  func suspendDuringConnectionAttempt(_ kind: Sleep, succeeds: Bool) async throws {
    let stage = Stage()
    try await stage.central.start()
    stage.peer.isThere = false
    let attempt = spawn { try await stage.connect(deadline: .seconds(5)) }
    await stage.sleep(.seconds(1))
    await sleep(stage, kind)
    stage.peer.isThere = true
    if succeeds { stage.radio.complete(stage.peer.address) }
    let start = stage.now
    let result = await attempt.result
    #expect(stage.now - start <= .seconds(6))
    switch result {
    case .success(let connection):
      #expect(succeeds && kind == .clockStands)
      await connection.disconnect()
    case .failure(let error):
      #expect(!succeeds || kind == .clockLeaps, "\(error)")
    }
    // A link that came too late is ended, and not left behind.
    await stage.sleep(.seconds(3))
    #expect(stage.radio.links.isEmpty)
    try await stage.checkHealth()
  }

  /// A USB controller is powered off with the machine: the way to it breaks.
  @Test(arguments: Sleep.allCases) func transportFailureAfterSuspendEndsLink(_ kind: Sleep) async throws {
    let (stage, connection) = try await Stage.connected()
    var losses = 0
    connection.whenDisconnected { _ in losses += 1 }
    let read = spawn { try await connection.gatt.read(Server.nameHandle) }
    stage.peer.react = { _ in .silent }
    await stage.sleep(.seconds(1))
    await sleep(stage, kind)
    stage.radio.fail("no such device")
    await stage.sleep(.milliseconds(1))
    await #expect(throws: StackError.self) {
      try await stage.within(.milliseconds(10)) { try await read.value }
    }
    #expect(losses == 1 && !connection.isConnected)
    #expect(stage.failures.count == 1)
  }
}
