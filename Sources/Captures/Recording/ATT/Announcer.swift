import HCI
import HaloBluetoothCore

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
