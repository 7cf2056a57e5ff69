import GAP
import HaloGATT
import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import HaloRecording
import RingLink
import HaloSimulation

/// A controller and a ring whose packets the input damages on their way to the host: bytes on purpose, as any may come.
@BluetoothActor
private final class DamagingTransport: HCITransport {
  var onPacket: ((RawSpan, Arrival) -> Void)?
  var onClose: ((String) -> Void)?
  private let ring: VirtualTransport
  private var input: FuzzInput

  var timers: Timers { ring.timers }

  init(_ input: FuzzInput, _ timers: Timers) {
    self.input = input
    var options = VirtualRingOptions()
    options.rate = 20
    ring = VirtualTransport(options, timers: timers)
  }

  func start() {
    ring.onPacket = { [weak self] packet, arrival in self?.damage(packet, arrival) }
    ring.start()
  }

  func send(_ packet: RawSpan) { ring.send(packet) }

  func close() {
    ring.close()
    onPacket = nil
  }

  /// A byte of the input decides what becomes of a packet; without one it passes.
  private func damage(_ packet: RawSpan, _ arrival: Arrival) {
    guard !input.isEmpty else {
      onPacket?(packet, arrival)
      return
    }
    var bytes = packet.withUnsafeBytes { Array($0) }
    switch input.byte() {
    case 0..<160: break
    case 160..<190:
      let place = Int(input.byte()) % bytes.count
      bytes[place] = input.byte()
    case 190..<200: bytes.removeLast(Int(input.byte()) % bytes.count)
    case 200..<210: bytes += input.piece()
    case 210..<220: return
    case 220..<230: onPacket?(bytes.span.bytes, arrival)
    case 230..<250:
      let other = input.piece()
      if !other.isEmpty { onPacket?(other.span.bytes, arrival) }
    default:
      onClose?("the input closes it")
      return
    }
    onPacket?(bytes.span.bytes, arrival)
  }
}

extension FuzzTarget {
  /// The whole client - scan, connect, discover, subscribe, ask, stream - against such a controller, in virtual time.
  static let client = FuzzTarget("client", largestInput: 2048) { bytes in
    onTheLoop { time in
      let transport = DamagingTransport(FuzzInput(bytes), time.timers)
      await useEverything(of: HCIAdapter(transport))
    }
  }

  @BluetoothActor
  static func useEverything(of adapter: HCIAdapter) async {
    let central = Central(adapter)
    // What fails is not the question here; that it ends is.
    try? await useEverything(of: central)
    await central.stop()
  }

  @BluetoothActor
  private static func useEverything(of central: Central) async throws {
    try await central.start()
    let device = try await RingFinder.find(.anyRing, on: central, deadline: .seconds(10))
    let connection = try await central.connect(
      ConnectionRequest(peer: device.address, deadline: .seconds(10)))
    let services = try? await connection.gatt.discoverServices()
    for service in (services ?? []).prefix(8) {
      let all = try? await connection.gatt.discoverCharacteristics(of: service)
      for characteristic in (all ?? []).prefix(4) where characteristic.properties.contains(.read) {
        _ = try? await connection.gatt.read(characteristic)
      }
    }
    let ring = try await RingClient.open(connection)
    _ = try? await ring.information()
    let today = RingDay("2026-11-20") ?? RingTime(seconds: 0).day
    for kind in [HistoryKind.steps, .heartRate, .sleep, .oxygen] {
      _ = try? await ring.history(
        kind, days: today...today, now: RingTime(seconds: 1_795_219_200))
    }
    var samples = 0
    try await ring.startRawStream { _, _ in samples += 1 }
    await central.timers.sleep(for: .seconds(3))
    await ring.stopRawStream()
  }

  /// Runs work on the event loop in virtual time, and waits for its end.
  static func onTheLoop(_ work: @escaping @Sendable @BluetoothActor (VirtualTime) async -> Void) {
    let isDone = UnsafeMutablePointer<sem_t>.allocate(capacity: 1)
    sem_init(isDone, 0, 0)
    nonisolated(unsafe) let semaphore = isDone
    BluetoothActor.run {
      let time = EpollLoop.shared.makeVirtualTime()
      await work(time)
      EpollLoop.shared.end(time)
      sem_post(semaphore)
    }
    sem_wait(isDone)
    sem_destroy(isDone)
    isDone.deallocate()
  }

  /// A capture that plays the controller.
  static let replay = FuzzTarget("replay", largestInput: 1 << 14) { bytes in
    let file = MemoryFile(bytes)
    onTheLoop { time in
      guard let transport = try? ReplayTransport(path: file.path, .init(strictness: .lenient), time: time)
      else {
        return
      }
      let adapter = HCIAdapter(transport, randomAddress: transport.host.randomAddress)
      let work = BluetoothActor.run { await useEverything(of: adapter) }
      transport.onInterrupt = { work.cancel() }
      await work.value
    }
  }
}
