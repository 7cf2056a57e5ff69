import HaloBluetoothCore
import HaloCommandLine
import HaloRingStore
import HaloSystem
import HaloViews
import RingLink

/// The report on the days of a ring, from the store.
enum StoredReport {
  static let days = Option(
    "--days", as: .integer(1...366),
    help: "the stored data of the last N days as one page: the night, the pulse by hour, the days, the weeks")

  static let options: [any CommandOption] = [days, DayOption.to, StoreFile.option, StoreFile.adapter]
  static let rules: [OptionRule] = [
    .needs(DayOption.to, days), .needs(StoreFile.option, days), .needs(StoreFile.adapter, days),
  ]

  /// A page, and the day of it.
  @BluetoothActor
  static func page(_ invocation: Invocation, days count: Int) async throws -> (day: RingDay, text: String) {
    let now = HostClock().now
    let last = invocation[DayOption.to]?(now.day) ?? now.day
    guard last <= now.day else { throw Failure.usage("--to \(last) has not begun yet") }
    let span = last.adding(days: 1 - count)...last
    let interruption = Interruption()
    let page = try await interruption.cancels {
      try await offTheLoop(orInterrupted: "interrupted; nothing is written") {
        try text(invocation, span, at: min(now, last.adding(days: 1).midnight))
      }
    }
    return (last, page)
  }

  private static func text(
    _ invocation: Invocation, _ span: ClosedRange<RingDay>, at now: RingTime
  ) throws -> String {
    let stored = try StoredHistory(invocation)
    guard let ring = stored.rings.first else { return "" }
    var readings = StoredReadings()
    // The ring's clock may be a day behind or ahead of the owner's.
    let around = span.lowerBound.adding(days: -1)...span.upperBound.adding(days: 1)
    for kind in StoredReadings.kinds {
      let records = try stored.store.records(kind, of: ring.id, in: around)
      let origins = try stored.origins(of: records, ring, in: around)
      readings.add(records) { origins[$0].ownersTime($1) }
    }
    let copied = try stored.store.extent(of: ring.id).lastSync.map { HostClock().time(ofUnix: $0) }
    let names = [ring.name, ring.address?.description, ring.firmware].compactMap(\.self)
    return DaysPage(DaysReport(readings, days: span, now: now), ring: names, copied: copied).text
  }
}

extension RingStore.Origin {
  /// The time of the wearer's clock at a time of the ring's clock: the same if it keeps local time, wherever its wearer was
  /// then; else that of this computer's zone.
  func ownersTime(_ time: RingTime) -> RingTime {
    guard policy == .utc else { return time }
    return HostClock().time(ofUnix: time.seconds - utcOffset)
  }
}
