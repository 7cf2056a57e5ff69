import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloSystem
import RingLink
import HaloSimulation

/// Sessions with a virtual ring, one after the other, and what they came to.
@BluetoothActor
final class Simulation {
  private enum Wrong: Error {
    /// What was sent and what arrived do not agree.
    case sum(sent: Int, received: Int, rejected: Int)
    case notRefused
    case noSamples
  }

  private var randomNumbers: UInt64 = 0
  private var sessions = 0
  private var lostLinks = 0
  private var chargings = 0
  private var resets = 0
  private var samples = 0
  private let timers: Timers
  private var rejected = 0

  init(_ timers: Timers) {
    self.timers = timers
  }

  var report: String {
    "\(sessions) sessions, \(samples) samples, \(rejected) frames rejected, \(lostLinks) links lost, "
      + "\(chargings) times on the charger, \(resets) resets of the controller"
  }

  /// Whether all of what was to happen has happened; that the sums agree is checked with each session.
  var isRight: Bool { samples > 0 && rejected > 0 && lostLinks > 0 && chargings > 0 && resets > 0 }

  func runDay() async throws {
    let end = timers.now + .seconds(86_400)
    while timers.now < end {
      sessions += 1
      switch random() % 8 {
      case 0: try await charge()
      case 1: try await reset()
      default: try await stream()
      }
      await timers.sleep(for: .seconds(Int(random() % 600)))
    }
  }

  /// The same numbers in each run.
  private func random() -> UInt64 {
    randomNumbers += 1
    return SplitMix.mix(randomNumbers)
  }

  private func options() -> VirtualRingOptions {
    var options = VirtualRingOptions()
    options.rate = 1
    options.bluetooth5 = random() % 2 == 0
    options.aclLength = random() % 2 == 0 ? 27 : 251
    options.seed = random()
    options.clock = RingTime(seconds: Int(1_795_000_000 + random() % 10_000_000))
    return options
  }

  private func open(_ central: Central) async throws -> RingClient {
    try await central.start()
    return try await connect(central)
  }

  private func connect(_ central: Central) async throws -> RingClient {
    let device = try await RingFinder.find(.anyRing, on: central, deadline: .seconds(30))
    return try await RingClient.open(try await central.connect(ConnectionRequest(peer: device.address)))
  }

  /// A stream until the link is lost, with frames that are damaged on the way.
  private func stream() async throws {
    var options = options()
    let sets = Int(random() % 20_000) + 100
    options.faults.dropsAfter = sets
    options.faults.badChecksumEvery = 97
    let central = Central(HCIAdapter(VirtualTransport(options, timers: timers)))
    let ring = try await open(central)
    _ = try await ring.setClock(to: RingTime(seconds: Int(1_790_000_000 + random() % 20_000_000)))
    var count = 0
    try await ring.startRawStream { _, _ in count += 1 }
    _ = try await ring.connection.disconnection()
    lostLinks += 1
    samples += count
    rejected += ring.dispatcher.counters.rejectedFrames
    guard count + ring.dispatcher.counters.rejectedFrames == 3 * sets else {
      throw Wrong.sum(sent: 3 * sets, received: count, rejected: ring.dispatcher.counters.rejectedFrames)
    }
    await central.stop()
  }

  /// A ring on its charger refuses to stream, and answers all else.
  private func charge() async throws {
    var options = options()
    options.isCharging = true
    options.battery = 0
    let central = Central(HCIAdapter(VirtualTransport(options, timers: timers)))
    let ring = try await open(central)
    do {
      try await ring.startRawStream { _, _ in }
      throw Wrong.notRefused
    } catch RingError.streamRefused {
      chargings += 1
    }
    await timers.sleep(for: .seconds(3600))
    _ = try await ring.battery()
    await central.stop()
  }

  /// The controller reports a hardware error in the middle of a stream: it is set up again, and the stream goes on over
  /// a new link.
  private func reset() async throws {
    let transport = VirtualTransport(options(), timers: timers)
    let central = Central(HCIAdapter(transport))
    let ring = try await open(central)
    var count = 0
    try await ring.startRawStream { _, _ in count += 1 }
    await timers.sleep(for: .seconds(Int(random() % 100)))
    let hardwareError: [UInt8] = [0x04, 0x10, 0x01, 0x42]
    transport.onPacket?(hardwareError.span.bytes, Arrival(timers.now))
    _ = try await ring.connection.disconnection()
    resets += 1
    let again = try await connect(central)
    let before = count
    try await again.startRawStream { _, _ in count += 1 }
    await timers.sleep(for: .seconds(10))
    guard count >= before + 30 else { throw Wrong.noSamples }
    samples += count
    await central.stop()
  }
}
