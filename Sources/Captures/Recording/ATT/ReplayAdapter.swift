import GAP
import HCI
import HaloBluetoothCore

/// A radio in whose range are one replayed peripheral and the other advertisers of its capture.
///
///     let time = EpollLoop.shared.makeVirtualTime()
///     let central = Central(ReplayAdapter(peripheral, time: time))
///
/// Time is virtual: a replay takes only as long as the computation.
@BluetoothActor
package final class ReplayAdapter: Adapter {
  package var onReport: ((AdvertisingReport, Instant) -> Void)?
  package var onScanRefusal: ((StackError?) -> Void)?
  package var onFailure: ((StackError) -> Void)?
  package var timers: Timers { time.timers }

  /// Called when the recording has nothing more for a client that waits: where the recorded program was ended from
  /// outside. Without it, the client waits until its own deadline.
  package var onInterrupt: (() -> Void)?

  package let peripheral: ReplayedPeripheral
  /// Observes the traffic as HCI packets, so that a replay can be recorded and explained; nil for none.
  package var tap: TrafficTap? { didSet { packets = tap.map { ReplayedPackets($0) } } }

  /// The offset from the timers' microseconds to the recorded time of day, in microseconds since 1970-01-01 UTC: the
  /// replay starts at the time of the recorded connection.
  package var wallOffset: Int64 { origin &- base.nanoseconds / 1000 }
  package private(set) var isOver = false

  /// Whether the recorded time was over, and the values that the client had not asked for were sent.
  var isEnding: Bool { link?.server.isEnding ?? false }

  private let time: VirtualTime
  private let base: Instant
  private let origin: Int64
  private let announcer: Announcer
  private var packets: ReplayedPackets?
  private var link: ReplayedLink?
  private var connectionCount = 0
  private var isLost = false
  private var isRunning = false
  private var attempts = 0

  /// How long a client may wait for values that the recording does not have, before the end of the recording interrupts it.
  private static let deadline = Duration.seconds(60)

  /// How long the recorded peripheral is silent after the recording: a client knows by a second of silence that an answer of
  /// several packets is over. A timer may have been recorded slightly before the same timer of the replay.
  private static let silence = Duration.milliseconds(1001)

  /// - Parameters:
  ///   - peripheral: the one to connect to
  ///   - time: the virtual time, which the event loop advances
  package init(_ peripheral: ReplayedPeripheral, time: VirtualTime) {
    self.peripheral = peripheral
    self.time = time
    base = time.timers.now
    origin = peripheral.connections.first?.start ?? 0
    announcer = Announcer(peripheral)
  }

  package func start() async throws(StackError) -> AdapterInformation {
    isRunning = true
    time.onIdle = { [weak self] deadline in self?.idle(until: deadline) ?? false }
    return AdapterInformation(
      address: BluetoothAddress(1, .public), version: "5.0", usesExtendedScan: false)
  }

  package func setScan(_ parameters: ScanParameters?) {
    guard (parameters != nil) != announcer.isRunning else { return }
    if parameters == nil {
      announcer.stop(timers)
    } else {
      announce()
    }
  }

  private func announce() {
    announcer.start(timers) { [weak self] report in self?.report(report) }
  }

  private func report(_ report: AdvertisingReport) {
    // A connected peripheral does not advertise.
    guard isRunning, link == nil || report.address != peripheral.address else { return }
    packets?.report(report, at: timers.now)
    onReport?(report, timers.now)
  }

  package func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<any ATTLink, StackError>) -> Void
  ) -> () -> Void {
    let done = OneShot(completion)
    attempts += 1
    timers.schedule(after: .zero) { [weak self] in
      guard let self, done.isPending, isRunning, isReachable, link == nil,
        request.peer.value == peripheral.address.value
      else { return }
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
      if announcer.isRunning, isReachable { announce() }
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
    if let deadline, deadline <= (onInterrupt == nil ? limit + Self.deadline : limit) { return false }
    if link?.server.sendRest() == true { return true }
    guard let onInterrupt else { return false }
    isOver = true
    onInterrupt()
    return true
  }

  /// The time until which the client's own timers run.
  private var limit: Instant {
    // After the last connection, there is nothing to wait for.
    guard isReachable else { return base }
    guard let link else { return max(base, announcer.lastStart ?? base) + Self.deadline }
    let end = link.server.end + Self.silence
    return link.server.lastMissing.map { max(end, $0 + Self.deadline) } ?? end
  }

  package func close() async {
    guard isRunning else { return }
    isRunning = false
    announcer.stop(timers)
    link?.disconnect()
    time.onIdle = nil
  }
}

/// Delivers the advertising reports of a capture to a scan: each a few times, the peripheral's first.
@BluetoothActor
final class Announcer {
  private(set) var isRunning = false
  /// When the scan started last.
  private(set) var lastStart: Instant?
  private let reports: [AdvertisingReport]
  private var timer: Timers.Token?
  private var next = 0

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
  var isBusy: Bool { isRunning && next < reports.count * Self.rounds }

  func start(_ timers: Timers, _ deliver: @escaping (AdvertisingReport) -> Void) {
    stop(timers)
    isRunning = true
    lastStart = timers.now
    next = 0
    schedule(timers, deliver)
  }

  func stop(_ timers: Timers) {
    isRunning = false
    timers.cancel(timer)
    timer = nil
  }

  private func schedule(_ timers: Timers, _ deliver: @escaping (AdvertisingReport) -> Void) {
    guard !reports.isEmpty, next < reports.count * Self.rounds else { return }
    let isNewRound = next > 0 && next % reports.count == 0
    // The first at once, so that the link begins at its recorded time of day.
    timer = timers.schedule(after: next == 0 ? .zero : isNewRound ? Self.pause : Self.spacing) { [self] in
      let report = reports[next % reports.count]
      next += 1
      schedule(timers, deliver)
      deliver(report)
    }
  }

  /// The advertisement of a peripheral for a radio: the last recorded one, as far as legacy PDUs have room for it.
  static func advertising(of peripheral: ReplayedPeripheral) throws(AdvertisingFault) -> Advertising {
    let own = Announcer(peripheral).reports.filter { $0.address == peripheral.address }
    let data = own.last { $0.eventType.contains(.connectable) }?.data ?? []
    let response = own.last { $0.eventType.contains(.scanResponse) }?.data ?? []
    for response in [response, []] {
      if let advertising = try? Advertising(AdvertisingData(data), scanResponse: AdvertisingData(response)) {
        return advertising
      }
    }
    return try Advertising.device(name: peripheral.name, services: peripheral.attributes.services).advertising
  }

  /// An advertisement with the known data of the peripheral.
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
