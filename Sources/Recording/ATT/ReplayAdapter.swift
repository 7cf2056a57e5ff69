import ATT
import BluetoothCore
import Capture
import Central
import EventLoop
import GATTClient
import HCI

/// A radio in whose range is one replayed peripheral, and what else advertised in its capture.
///
///     let time = EpollLoop.shared.makeVirtualTime()
///     let central = Central(ReplayAdapter(peripheral, time: time))
///
/// Time is virtual: a replay takes only as long as the computation.
@BluetoothActor
public final class ReplayAdapter: Adapter {
  public var onReport: ((AdvertisingReport, Instant) -> Void)?
  public var onScanRefusal: ((HCIError?) -> Void)?
  public var onFailure: ((HCIError) -> Void)?
  public var timers: Timers { time.timers }

  /// Called when the recording has nothing more for a client that waits: where the recorded program was ended from
  /// outside. Without it, the client waits until its own deadline.
  public var onInterrupt: (() -> Void)?

  public let peripheral: ReplayedPeripheral
  /// Observes the traffic as HCI packets, so that a replay can be recorded and explained; nil for none.
  public var tap: TrafficTap? { didSet { packets = tap.map { ReplayedPackets($0) } } }

  /// The offset from the timers' microseconds to the recorded time of day, in microseconds since 1970-01-01 UTC: the
  /// replay starts at the time of the recorded connection.
  public var wallOffset: Int64 { origin &- base.nanoseconds / 1000 }
  /// Whether the end of the recording was reached.
  public private(set) var isOver = false

  /// Whether the recorded time was over, and what the client had not asked for was sent.
  var isEnding: Bool { link?.server.isEnding ?? false }

  private let time: VirtualTime
  private let base: Instant
  private let origin: Int64
  private var announcer: Announcer
  private var packets: ReplayedPackets?
  private var link: ReplayedLink?
  private var connectionCount = 0
  private var isLost = false
  private var isRunning = false
  private var attempts = 0
  /// The first time at which the client waited for nothing that the recording has; nil while it has something.
  private var idleSince: Instant?

  /// How long a client waits for an answer that the capture does not hold, before the end of the recording ends it.
  private static let patience = Duration.seconds(60)

  /// - Parameters:
  ///   - peripheral: what to connect to
  ///   - time: the virtual time, which the event loop advances
  public init(_ peripheral: ReplayedPeripheral, time: VirtualTime) {
    self.peripheral = peripheral
    self.time = time
    base = time.timers.now
    origin = peripheral.connections.first?.start ?? 0
    announcer = Announcer(peripheral)
  }

  public func start() async throws(HCIError) -> AdapterInformation {
    isRunning = true
    time.onIdle = { [weak self] deadline in self?.idle(until: deadline) ?? false }
    return AdapterInformation(
      address: BluetoothAddress(1, .public), version: "5.0", usesExtendedScan: false)
  }

  public func setScan(_ parameters: ScanParameters?) {
    guard (parameters != nil) != announcer.isRunning else { return }
    if parameters == nil {
      announcer.stop(timers)
    } else {
      announcer.start(timers) { [weak self] report in self?.report(report) }
    }
  }

  private func report(_ report: AdvertisingReport) {
    // A connected peripheral does not advertise.
    guard isRunning, link == nil || report.address != peripheral.address else { return }
    packets?.report(report, at: timers.now)
    onReport?(report, timers.now)
  }

  public func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<any ATTLink, HCIError>) -> Void
  ) -> () -> Void {
    let done = OneShot(completion)
    attempts += 1
    timers.schedule(after: .zero) { [weak self] in
      guard let self, done.isPending else { return }
      guard isRunning, isReachable, link == nil, request.peer.value == peripheral.address.value else {
        return
      }
      attempts -= 1
      done(.success(establish()))
    }
    timers.schedule(after: request.deadline) { [weak self] in
      guard done.isPending else { return }
      self?.attempts -= 1
      done(.failure(.peerNotFound(request.peer, seconds: request.deadline.inSeconds)))
    }
    return { [weak self] in
      guard done.isPending else { return }
      self?.attempts -= 1
      done(.failure(.cancelled))
    }
  }

  /// Whether the peripheral can be connected to: not after the recording's last connection was lost.
  private var isReachable: Bool { !isLost || connectionCount < peripheral.connections.count }

  private func establish() -> ReplayedLink {
    let index = min(connectionCount, peripheral.connections.count - 1)
    connectionCount += 1
    let connection = peripheral.connections[index]
    let server = ReplayedServer(peripheral, index, timers: timers)
    let link = ReplayedLink(peripheral.address, connection.parameters, server, timers: timers, packets)
    packets?.connected(to: peripheral.address, connection.parameters, at: timers.now)
    link.onEnd = { [weak self] loss, reason in
      guard let self else { return }
      packets?.disconnected(reason, at: timers.now)
      if case .remote = loss { isLost = true }
      self.link = nil
      if announcer.isRunning, isReachable {
        announcer.start(timers) { [weak self] report in self?.report(report) }
      }
    }
    isLost = false
    self.link = link
    // The client sets its closures first.
    timers.schedule(after: .zero) { [weak link] in link?.begin() }
    return link
  }

  /// No work is left. Time goes on to the next timer while the recording has something to send, or while its recorded
  /// time is not over; then the client is interrupted.
  private func idle(until deadline: Instant?) -> Bool {
    guard isRunning, !isOver else { return false }
    if attempts > 0 ? isReachable || onInterrupt == nil : announcer.isBusy { return false }
    link?.server.wait(until: deadline)
    if link?.server.isBusy == true { return false }
    // A client that is not interrupted at the end of the recording may ask for something later.
    if let deadline, deadline <= (onInterrupt == nil ? limit + Self.patience : limit) { return false }
    if link?.server.sendRest() == true { return true }
    guard let onInterrupt else { return false }
    isOver = true
    onInterrupt()
    return true
  }

  /// The time until which the client's own timers run.
  private var limit: Instant {
    guard let link else { return max(base, idleStart) + Self.patience }
    // A timer may have been recorded slightly before the same timer of the replay.
    let end = link.server.end + .milliseconds(1)
    return link.server.lastMissing.map { max(end, $0 + Self.patience) } ?? end
  }

  private var idleStart: Instant { announcer.lastStart ?? base }

  public func close() async {
    guard isRunning else { return }
    isRunning = false
    announcer.stop(timers)
    link?.disconnect()
    time.onIdle = nil
  }
}

extension ReplayedPeripheral {
  /// Runs a program on a radio with this peripheral, in a virtual time of its own, and ends all its links.
  ///
  /// Where the recording has nothing more for a program that waits, the program's task is cancelled: no test hangs.
  /// Cancelling the caller's task does the same.
  ///
  /// - Throws: what the program throws
  public func replay<Value: Sendable>(
    _ program: @escaping @BluetoothActor (Central) async throws -> Value
  ) async throws -> Value {
    let time = EpollLoop.shared.makeVirtualTime()
    defer { EpollLoop.shared.end(time) }
    let adapter = ReplayAdapter(self, time: time)
    let central = Central(adapter)
    // A task that leaves the loop between two steps would let the time jump.
    let task = Task(executorPreference: EpollLoop.shared) { try await central.run(program) }
    adapter.onInterrupt = { task.cancel() }
    return try await withTaskCancellationHandler {
      try await task.value
    } onCancel: {
      task.cancel()
    }
  }
}

extension Central {
  /// Runs a program from the start of the radio to its end.
  fileprivate func run<Value: Sendable>(
    _ program: @BluetoothActor (Central) async throws -> Value
  ) async throws -> Value {
    do {
      try await start()
      let value = try await program(self)
      await stop()
      return value
    } catch {
      await stop()
      throw error
    }
  }
}

/// The link to a replayed peripheral.
@BluetoothActor
private final class ReplayedLink: ATTLink {
  let peer: BluetoothAddress
  let parameters: LinkParameters?
  var onPDU: ((RawSpan, Instant) -> Void)?
  var onClosed: ((LinkLoss) -> Void)?
  var onEvent: ((LinkEvent) -> Void)?
  /// Called once, before ``onClosed``.
  var onEnd: ((LinkLoss, HCIErrorCode) -> Void)?

  let server: ReplayedServer
  private let timers: Timers
  private let packets: ReplayedPackets?
  private var isOpen = true

  init(
    _ peer: BluetoothAddress, _ parameters: LinkParameters?, _ server: ReplayedServer, timers: Timers,
    _ packets: ReplayedPackets?
  ) {
    self.peer = peer
    self.parameters = parameters
    self.server = server
    self.timers = timers
    self.packets = packets
  }

  func begin() {
    guard isOpen else { return }
    server.onPDU = { [weak self] bytes, time in
      guard let self, isOpen else { return }
      packets?.pdu(bytes.span.bytes, isSent: false, at: time)
      onPDU?(bytes.span.bytes, time)
    }
    // The link object lives for as long as the link does.
    server.onLoss = { reason in self.end(.remote(reason), reason) }
    server.start()
  }

  func send(_ pdu: RawSpan) {
    guard isOpen else { return }
    packets?.pdu(pdu, isSent: true, at: timers.now)
    // The answer never arrives within the call.
    let bytes = Array(pdu)
    timers.schedule(after: .zero) { [weak self] in
      guard let self, isOpen else { return }
      server.receive(bytes.span.bytes)
    }
  }

  func disconnect() {
    timers.schedule(after: .zero) { self.end(.local, .connectionTerminatedByLocalHost) }
  }

  func readRSSI() async throws(HCIError) -> Int8? { nil }

  private func end(_ loss: LinkLoss, _ reason: HCIErrorCode) {
    guard isOpen else { return }
    isOpen = false
    server.stop()
    onPDU = nil
    onEvent = nil
    onEnd.take()?(loss, reason)
    onClosed.take()?(loss)
  }
}

/// Delivers the advertising reports of a capture to a scan: each a few times, the peripheral's first.
@BluetoothActor
private struct Announcer {
  private(set) var isRunning = false
  /// When the scan started last.
  private(set) var lastStart: Instant?
  private let reports: [AdvertisingReport]
  private let state = State()

  private final class State {
    var timer: Timers.Token?
    var next = 0
  }

  private static let rounds = 3
  private static let spacing = Duration.milliseconds(2)
  private static let pause = Duration.seconds(1)

  init(_ peripheral: ReplayedPeripheral) {
    let captured = peripheral.traffic.reports.map(\.report)
    var own = captured.filter { $0.address.value == peripheral.address.value }
    if !own.contains(where: { $0.eventType.contains(.connectable) }) {
      own.insert(Self.madeUp(peripheral), at: 0)
    }
    reports = own + captured.filter { $0.address.value != peripheral.address.value }
  }

  /// Whether there are reports that were not delivered yet.
  var isBusy: Bool { isRunning && state.next < reports.count * Self.rounds }

  mutating func start(_ timers: Timers, _ deliver: @escaping (AdvertisingReport) -> Void) {
    stop(timers)
    isRunning = true
    lastStart = timers.now
    state.next = 0
    Self.schedule(reports, state, timers, deliver)
  }

  mutating func stop(_ timers: Timers) {
    isRunning = false
    timers.cancel(state.timer)
    state.timer = nil
  }

  private static func schedule(
    _ reports: [AdvertisingReport], _ state: State, _ timers: Timers,
    _ deliver: @escaping (AdvertisingReport) -> Void
  ) {
    guard !reports.isEmpty, state.next < reports.count * rounds else { return }
    let isNewRound = state.next > 0 && state.next % reports.count == 0
    // The first at once, so that the link begins at its recorded time of day.
    state.timer = timers.schedule(after: state.next == 0 ? .zero : isNewRound ? pause : spacing) {
      let report = reports[state.next % reports.count]
      state.next += 1
      schedule(reports, state, timers, deliver)
      deliver(report)
    }
  }

  /// An advertisement with what is known of the peripheral.
  private static func madeUp(_ peripheral: ReplayedPeripheral) -> AdvertisingReport {
    var structures: [ADStructure] = [.flags(ADFlags(rawValue: 0x06))]
    if let name = peripheral.name {
      structures.append(.localName(Array(name.utf8.prefix(20)), isComplete: name.utf8.count <= 20))
    }
    for uuid in peripheral.attributes.services where uuid.short == nil {
      structures.append(.serviceUUIDs([uuid], width: .sixteen, isComplete: false))
    }
    let short = peripheral.attributes.services.filter { $0.short != nil }
    if !short.isEmpty { structures.append(.serviceUUIDs(short, width: .two, isComplete: true)) }
    return AdvertisingReport(
      address: peripheral.address, eventType: [.connectable, .scannable, .legacy], rssi: -60,
      data: AdvertisingData(structures).bytes)
  }
}
