import GAP
import Glibc
import HCI
import HaloBluetoothCore
import HaloCommandLine
import RingLink

private enum ScanOption {
  static let duration = Option(
    "--duration", as: .timeLimit, default: "5s", help: "how long to scan; 0 for no limit")
  static let service = Option("--service", as: .uuid, help: "only devices that advertise this service")
  static let name = Option("--name", as: .text, help: "only devices whose name contains this text")
  static let rssi = Option(
    "--rssi", as: .integer(-127...20), placeholder: "DBM",
    help: "only devices with at least this RSSI, such as -70")
  static let rings = Flag("--rings", help: "only devices that look like a ring")
  static let passive = Flag("--passive", help: "do not send scan requests")
  static let duplicates = Flag("--duplicates", help: "print every report, not only new information")

  static let phy = CommonOptions.phy.described(
    "coded: scan on the coded PHY, too (default: auto, which does not)")

  static let all: [any CommandOption] = [
    duration, service, name, rssi, rings, passive, duplicates, CommonOptions.aggressive, phy,
  ]
}

let scanCommand = CommandSpec(
  name: "scan", summary: "list advertising devices: address, RSSI, name, services, data",
  options: ScanOption.all + [CommonOptions.format],
  examples: [
    ("halo-raw scan --adapter virtual", "scan for five seconds; updated in place on a terminal"),
    (
      "halo-raw scan --rings --duration 2s --format jsonl --adapter virtual",
      "only rings; one line for each new piece of information"
    ),
  ],
  details: """
    A line has the address and its type, RSSI, name, services, the company and its data, service data, appearance, TX power,
    and whether the device refuses connections. On a terminal, lines are cut to its width, and while the scan goes on, those
    that fit are shown; csv and jsonl have everything.
    "t" is the time of the report in seconds since the first one; "time" is the same as time of day. What a device says again
    is printed again with --duplicates only.
    """,
  opensLinks: false
) { invocation in
  let duration = invocation[ScanOption.duration]
  let format = OutputFormat(invocation)
  var parameters = ScanParameters(invocation)
  parameters.isActive = !invocation[ScanOption.passive]
  let filter = Central.ScanFilter(
    services: invocation[ScanOption.service].map { [$0] } ?? [],
    minimumRSSI: invocation[ScanOption.rssi].map { Int8($0) })
  let name = invocation[ScanOption.name]?.lowercased()
  let isForRings = invocation[ScanOption.rings]
  let printsAll = invocation[ScanOption.duplicates]
  try await Session.run(invocation, endsInOrder: true, connects: false) { session in
    let view = ScanView(
      format, session, isLive: format == .text && Terminal.canDraw(on: STDOUT_FILENO) && !printsAll)
    let scan = session.central.scan(parameters, filter: filter) { device in
      if let name, device.localName?.lowercased().contains(name) != true { return }
      if isForRings, RingIdentity.matches(device) == nil { return }
      guard printsAll || view.isLive || !device.changedFields.isEmpty else { return }
      view.show(device, again: printsAll)
      if view.hasFailed { session.interruption.request() }
    }
    await session.interruption.sleep(for: duration, in: session.timers)
    let refusal = session.central.scanRefusal
    scan.cancel()
    view.finish()
    if let refusal { throw Failure(refusal) }
  }
}

/// Shows devices: on a terminal a table that is updated in place, else a line for each.
@BluetoothActor
private final class ScanView {
  let isLive: Bool
  private let format: OutputFormat
  private let timers: Timers
  private var clock: RecordClock
  /// When the first report was received.
  private var origin: Instant?
  private var printer: RecordPrinter
  /// The last fields printed of each device, without the times.
  private var printed: [Advertisement.ID: [Field]] = [:]
  private var devices: [Advertisement.ID: Advertisement] = [:]
  private var order: [Advertisement.ID] = []
  private var drawnLines = 0
  private var redraw: Timers.Token?
  private var screen = Console.output(.drop)

  /// Devices beyond these are not listed.
  private static let maximumDevices = 1000

  init(_ format: OutputFormat, _ session: Session, isLive: Bool) {
    timers = session.timers
    clock = session.clock.recordClock
    self.isLive = isLive
    self.format = format
    printer = RecordPrinter(format, AdvertisementRow.columns, output: Console.output(.drop))
  }

  var hasFailed: Bool { screen.failure != nil }

  /// - Parameter again: whether it is printed also if nothing but the time is new
  func show(_ device: Advertisement, again: Bool) {
    guard isLive else {
      let start = origin ?? device.lastSeen
      origin = start
      let row = AdvertisementRow(device)
      guard again || isNew(row, of: device.id) else { return }
      let times: [Field] = [
        .seconds(device.lastSeen.nanoseconds(since: start)), .text(clock.text(device.lastSeen)),
      ]
      printer.print(times + row.fields, text: row.line)
      return
    }
    if devices[device.id] == nil {
      guard order.count < Self.maximumDevices else { return }
      order.append(device.id)
    }
    devices[device.id] = device
    guard redraw == nil else { return }
    redraw = timers.schedule(after: .milliseconds(200)) { [weak self] in
      self?.redraw = nil
      self?.draw(Terminal.size(of: STDOUT_FILENO).rows - 2)
    }
  }

  /// Whether a row says more than the last one of the device. A payload may be new and empty of data, such as an empty scan
  /// response.
  private func isNew(_ row: AdvertisementRow, of device: Advertisement.ID) -> Bool {
    let shown = format == .text ? [.text(row.line)] : row.fields
    guard printed[device] != shown else { return false }
    if printed[device] != nil || printed.count < Self.maximumDevices { printed[device] = shown }
    return true
  }

  func finish() {
    timers.cancel(redraw)
    guard isLive else { return printer.finish() }
    draw(order.count)
    Console.error(Console.counted(order.count, "device"))
  }

  /// Draws the table over the previous one.
  ///
  /// - Parameter rows: the number of devices to show; a line has the number of the others
  private func draw(_ rows: Int) {
    let width = Terminal.size(of: STDOUT_FILENO).columns
    var lines = order.prefix(max(rows, 1)).compactMap { devices[$0].map { AdvertisementRow($0).line } }
    if lines.count < order.count { lines.append("(\(order.count - lines.count) more)") }
    if drawnLines > 0 { screen.write("\u{1b}[\(drawnLines)A") }
    for line in lines { screen.write("\u{1b}[2K" + line.cut(to: width) + "\n") }
    // Devices stay, so lines never become fewer.
    drawnLines = lines.count
    screen.flush()
  }
}

/// The fields that are shown of a device.
private struct AdvertisementRow {
  private let device: Advertisement
  /// How likely it is a ring; nil if it does not look like one.
  private let ring: String?

  static let columns = [
    "t", "time", "address", "type", "rssi_dBm", "name", "services", "company", "manufacturer_data",
    "service_data", "appearance", "tx_power_dBm", "connectable", "ring",
  ]

  init(_ device: Advertisement) {
    self.device = device
    ring = RingIdentity.matches(device).map { $0 > .ambiguousName ? "likely" : "possible" }
  }

  /// The name without its number, where it is known.
  private var appearance: String? {
    device.appearance.map { AssignedNumbers.appearance($0.rawValue) ?? $0.description }
  }

  private func name(of company: CompanyIdentifier) -> String {
    AssignedNumbers.company(company.rawValue) ?? company.description
  }

  /// The values of the columns after the times.
  var fields: [Field] {
    [
      .text(device.address.description), .text(device.address.kind.description),
      .number(device.rssi.map(Int.init)), .text(device.localName),
      .list(device.serviceUUIDs.map(\.description)),
      .text(device.manufacturerData.first.map { name(of: $0.company) }),
      .list(
        device.manufacturerData.map {
          "\(Hex.string($0.company.rawValue).dropFirst(2)):\(Hex.string($0.data))"
        }),
      .list(device.serviceData.map { "\($0.service):\(Hex.string($0.data))" }),
      .text(appearance), .number(device.txPower.map(Int.init)),
      .flag(device.advertisingData == nil ? nil : device.isConnectable), .text(ring),
    ]
  }

  /// `30:35:38:41:BE:EF public  -56 dBm  R02_BEEF  180A  Apple, Inc.: 0215  TX 4 dBm`
  var line: String {
    var parts = [device.description]
    if ring == "possible" { parts.append("possible ring") }
    parts += device.manufacturerData.map { "\(name(of: $0.company)): \(Hex.string($0.data))" }
    parts += device.serviceData.map { "\($0.service): \(Hex.string($0.data))" }
    if let appearance { parts.append(appearance) }
    if let power = device.txPower { parts.append("TX \(power) dBm") }
    return parts.joined(separator: "  ")
  }
}
