import HCI
import HaloBluetoothCore

/// Delivers the advertising reports of a capture to a scan: each a few times, the peripheral's first.
@BluetoothActor
struct Announcer {
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
