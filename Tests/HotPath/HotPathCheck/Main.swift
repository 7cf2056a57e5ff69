import CAllocationCounter
import GAP
import HaloGATT
import Glibc
import HCI
import HaloBluetoothCore
import HaloCapture
import HaloSystem
import HaloCommandLine
import HaloLinuxBluetooth
import HaloRecording
import RingLink
import HaloSimulation

/// Counts what a notification costs between the `read` that brings it and the sink: heap allocations, and time.
///
/// The whole live stack is set up over a socket pair, with the virtual ring at the other end. Then a thread writes the
/// same notification many times, and the sink looks at the allocation counter. Ends with 1 if a notification
/// allocates.
@main
enum HotPathCheck {
  static let warmUp = 10_000
  static let notifications = 200_000

  static func main() {
    BluetoothActor.run {
      do {
        let results = [
          try await measure("read to sink", .none),
          try await measure("read to a JSON line", .jsonl),
          try await measure("read to a csv line", .csv),
          try await measure("the same, recorded", .csv, isRecorded: true),
          try await measure("counted, to two JSON lines", .jsonl, isCounted: true),
          try await measure("counted, to two csv lines", .csv, isCounted: true),
          try await measureServer(),
          measurePulse(),
          measureLive(),
        ]
        guard allocation_count() > 0 else {
          print("hot-path-check: the counter does not count: to set up the stack allocates")
          exit(1)
        }
        exit(results.allSatisfy { $0 } ? 0 : 1)
      } catch {
        print("hot-path-check: \(error)")
        exit(1)
      }
    }
    while true { pause() }
  }

  /// - Returns: whether nothing was allocated. A record waits for the thread that writes it: if that gets no processor, the
  ///   queue doubles its memory, a few times at most.
  @BluetoothActor
  static func measure(
    _ name: String, _ format: OutputFormat?, isRecorded: Bool = false, isCounted: Bool = false
  ) async throws -> Bool {
    let bench = try Bench(isRecorded: isRecorded)
    let ring = try await bench.open()
    let queue = OutputQueue(descriptor: open("/dev/null", O_WRONLY | O_CLOEXEC), owned: true)
    let printer = format.map {
      Printer(
        SampleWriter(
          $0, kinds: .all, isCounted: isCounted, encoding: .sixteenBit,
          clock: RecordClock(offset: 0) { _ in 0 },
          ring: "30:35:38:41:BE:EF", output: LineWriter(queue)))
    }
    let meter = Meter()
    if isCounted {
      try await ring.startCountedStream(.green) { sample, time in
        printer?.print(sample, at: time)
        meter.count()
      }
    } else {
      try await ring.startRawStream { sample, time in
        printer?.print(sample, at: time)
        meter.count()
      }
    }
    await bench.settle()
    try bench.flood(warmUp + notifications, isCounted: isCounted)
    await withCheckedContinuation { continuation in meter.whenDone { continuation.resume() } }
    bench.close()
    let each = Double(meter.nanoseconds) / Double(notifications)
    print(
      "\(name): \(meter.allocations) allocations for \(notifications) notifications, \(Int(each.rounded())) ns each"
    )
    // A buffer may grow after the warm-up: on a busy machine, more notifications than then come in one wake-up.
    return meter.allocations <= 4
  }
}

/// Prints as `stream` does: the lines of a wake-up with one write.
@BluetoothActor
final class Printer: @BluetoothActor TickObserver {
  private var writer: SampleWriter
  private var counter = PacketCounter()
  private var isCollecting = false

  init(_ writer: consuming SampleWriter) {
    self.writer = writer
  }

  func print(_ sample: RawSample, at time: Instant) {
    guard writer.collect(sample, at: time), !isCollecting else { return }
    printSoon()
  }

  func print(_ sample: CountedSample, at time: Instant) {
    let step = counter.add(sample)
    if step.kind != .next { writer.mark(.packets(step), at: time) }
    guard writer.collect(sample, packet: step.number, at: time) > 0, !isCollecting else { return }
    printSoon()
  }

  private func printSoon() {
    isCollecting = true
    EpollLoop.shared.atEndOfTick(self)
  }

  func tickDidEnd() {
    isCollecting = false
    _ = writer.flush()
  }
}

/// Notes the counters after the warm-up and at the end.
final class Meter {
  private var seen = 0
  private var start: (allocations: UInt64, time: Instant) = (0, .zero)
  private var done: (() -> Void)?
  private(set) var allocations: UInt64 = 0
  private(set) var nanoseconds: Int64 = 0

  func whenDone(_ done: @escaping () -> Void) {
    self.done = done
  }

  func count() {
    seen += 1
    if seen == HotPathCheck.warmUp {
      start = (allocation_count(), SystemClock.monotonic)
    } else if seen == HotPathCheck.warmUp + HotPathCheck.notifications {
      allocations = allocation_count() - start.allocations
      nanoseconds = SystemClock.monotonic.nanoseconds(since: start.time)
      done?()
    }
  }
}

/// The live stack at one end of a socket pair, the virtual ring's controller at the other.
@BluetoothActor
final class Bench {
  private let central: Central
  private let controllerSide: HCIStreamTransport
  private let controllerDescriptor: Int32
  private var radio: RingRadio?

  init(isRecorded: Bool) throws {
    var pair: [Int32] = [0, 0]
    let type = Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    guard socketpair(AF_UNIX, type, 0, &pair) == 0 else { throw SystemError.last("socketpair") }
    controllerDescriptor = pair[1]
    let side = HCIStreamTransport(descriptor: pair[1], accepting: H4Framer.fromHost)
    controllerSide = side
    var options = VirtualRingOptions()
    // One set of samples at the start, and then silence.
    options.rate = 0.01
    options.hasCountedStream = true
    let radio = RingRadio(options: options, timers: EpollLoop.shared.timers) { side.send($0) }
    self.radio = radio
    side.onPacket = { [weak radio] packet, _ in radio?.receive(packet) }
    var transport: any HCITransport = HCIStreamTransport(descriptor: pair[0])
    if isRecorded {
      transport = TappedTransport(
        transport, TrafficTap(writer: try CaptureWriter(path: "/dev/null"), timers: transport.timers))
    }
    central = Central(HCIAdapter(transport))
    side.start()
  }

  func open() async throws -> RingClient {
    try await central.start()
    let device = try await RingFinder.find(.name("R02_BEEF"), on: central, deadline: .seconds(10))
    let connection = try await central.connect(ConnectionRequest(peer: device.address))
    return try await RingClient.open(connection)
  }

  /// Waits until both sides have said what they say after connecting, and takes the virtual ring away: what it
  /// computes must not be counted.
  func settle() async {
    await EpollLoop.shared.timers.sleep(for: .milliseconds(1500))
    radio = nil
  }

  /// Writes `count` notifications of a frame as the controller would, from a thread of its own. Numbered packets are in order.
  func flood(_ count: Int, isCounted: Bool) throws {
    var counted = CountedSample(.green)
    (counted.vital, counted.raw, counted.x) = (70, 11_500, 1000)
    let frames = (0..<256).map { number -> RingFrame in
      counted.packet = UInt8(number)
      return isCounted ? counted.frame : Self.ppg.frame
    }
    let chunk = frames.flatMap(Self.packet)
    try Flood(descriptor: controllerDescriptor, chunk: chunk, chunks: (count + 255) / 256).start()
  }

  private static let ppg = RawSample.ppg(
    OpticalSample(raw: 11_500, max: 11_600, min: 10_900, diff: 700, isValid: true))

  private static func packet(_ frame: RingFrame) -> [UInt8] {
    var packet = ByteWriter()
    // ACL on the virtual link, first fragment; L2CAP on CID 4; a notification of the ring's TX value.
    packet.write(hex: "02 0100 0000")
    packet.overwrite(at: 1, with: UInt16(0x2000) | RingRadio.firstHandle.rawValue)
    packet.overwrite(at: 3, with: UInt16(23))
    packet.write(hex: "1300 0400 1b 1200")
    frame.write(into: &packet)
    return packet.bytes
  }

  func close() {
    controllerSide.close()
  }
}

/// Writes the same bytes again and again.
final class Flood: Sendable {
  let descriptor: Int32
  let chunk: [UInt8]
  let chunks: Int

  init(descriptor: Int32, chunk: [UInt8], chunks: Int) {
    self.descriptor = descriptor
    self.chunk = chunk
    self.chunks = chunks
  }

  func start() throws {
    var thread = pthread_t()
    let result = pthread_create(
      &thread, nil,
      { context in
        if let context { Unmanaged<Flood>.fromOpaque(context).takeRetainedValue().run() }
        return nil
      }, Unmanaged.passRetained(self).toOpaque())
    guard result == 0 else { throw SystemError("pthread_create", errno: result) }
  }

  private func run() {
    chunk.withUnsafeBytes { bytes in
      for _ in 0..<chunks {
        var offset = 0
        while offset < bytes.count {
          let written = send(
            descriptor, bytes.baseAddress.map { $0 + offset }, bytes.count - offset,
            Int32(MSG_NOSIGNAL))
          guard written > 0 || errno == EAGAIN else { return }
          if written > 0 { offset += written } else { usleep(50) }
        }
      }
    }
  }
}

extension ByteWriter {
  fileprivate mutating func write(hex: String) {
    write(Hex.bytes(hex) ?? [])
  }
}
