import ATT
import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

/// The real stack, from the bytes of a ``Radio`` to ``GATTClient``, in virtual time: a test lets a peer do what it
/// should not, and then makes sure that everything is well.
@BluetoothActor
final class Stage {
  let radio: Radio
  let adapter: HCIAdapter
  let central: Central
  /// The peer that misbehaves.
  let peer: Peer
  /// A good one.
  let honest = Peer(0xFFFF)
  private(set) var failures: [StackError] = []

  init(_ peer: Peer = Peer()) {
    self.peer = peer
    radio = Radio(peer, honest)
    adapter = HCIAdapter(radio, randomAddress: BluetoothAddress(0xE0DE_ADBE_EF01, .random))
    central = Central(adapter)
    central.onFailure = { [weak self] in self?.failures.append($0) }
  }

  /// A stage on which the peer is connected.
  static func connected(_ peer: Peer = Peer()) async throws -> (stage: Stage, connection: GATTLink) {
    let stage = Stage(peer)
    try await stage.central.start()
    return (stage, try await stage.connect())
  }

  func connect(deadline: Duration = .seconds(5)) async throws(StackError) -> GATTLink {
    try await central.connect(ConnectionRequest(peer: peer.address, deadline: deadline))
  }

  var now: Instant { testTimers.now }

  /// Runs `work`, which has to end within a time.
  @discardableResult
  func within<Value: Sendable>(
    _ time: Duration, _ location: SourceLocation = #_sourceLocation,
    _ work: () async throws -> Value
  ) async rethrows -> Value {
    let start = now
    defer { #expect(now - start <= time, "took \(now - start)", sourceLocation: location) }
    return try await work()
  }

  func sleep(_ time: Duration) async { await testTimers.sleep(for: time) }

  /// The process is healthy: another peer can be connected to, discovered and read, and nothing is piled up.
  func checkHealth(_ location: SourceLocation = #_sourceLocation) async throws {
    #expect(failures == [], sourceLocation: location)
    #expect(adapter.waitingPackets <= 512, sourceLocation: location)
    let connection = try await central.connect(
      ConnectionRequest(peer: honest.address, deadline: .seconds(5)))
    #expect(try await connection.gatt.discoverServices().count == 4, sourceLocation: location)
    #expect(
      try await connection.gatt.read(Server.nameHandle) == Array("honest".utf8), sourceLocation: location)
    await connection.disconnect()
    #expect(honest.handle == nil, sourceLocation: location)
    await central.stop()
    #expect(radio.isClosed, sourceLocation: location)
  }
}

/// The error of something that must fail; nil, and an issue, if it does not.
@BluetoothActor
func failure<Value, Trouble: Error>(
  _ location: SourceLocation = #_sourceLocation, of work: () async throws(Trouble) -> Value
) async -> Trouble? {
  do throws(Trouble) {
    let value = try await work()
    Issue.record("it gave \(value)", sourceLocation: location)
    return nil
  } catch {
    return error
  }
}

func uuid(_ number: UInt16) -> BluetoothUUID { BluetoothUUID(number) }
