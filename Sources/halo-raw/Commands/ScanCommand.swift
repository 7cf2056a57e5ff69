import BluetoothCore
import Central
import EventLoop
import GATTClient
import HCI
import LineOutput
import RingLink

private enum ScanOption {
  static let duration = Option(
    "--duration", as: .time, default: "5s", help: "how long to scan; 0 for no limit")
  static let service = Option("--service", as: .uuid, help: "only devices that advertise this service")
  static let name = Option("--name", as: .text, help: "only devices whose name contains this text")
  static let rssi = Option(
    "--rssi", as: .integer(-127...20), placeholder: "DBM",
    help: "only devices with at least this RSSI, such as -70")
  static let rings = Flag("--rings", help: "only devices that look like a ring")
  static let passive = Flag("--passive", help: "do not send scan requests")
  static let duplicates = Flag("--duplicates", help: "print every report, not only new information")

  static let all: [any CommandOption] = [duration, service, name, rssi, rings, passive, duplicates]
}

let scanCommand = CommandSpec(
  name: "scan", summary: "list advertising devices: address, type, RSSI, name, services",
  positionals: 0...0,
  options: ScanOption.all + [CommonOptions.format],
  examples: [
    ("halo-raw scan --adapter virtual", "scan for five seconds; updated in place on a terminal"),
    (
      "halo-raw scan --rings --duration 2s --format jsonl --adapter virtual",
      "only rings; one line for each new piece of information"
    ),
  ]
) { invocation throws(Failure) in
  let duration = invocation[ScanOption.duration]
  let format = OutputFormat(invocation)
  let filter = ScanChoice(invocation)
  let printsAll = invocation[ScanOption.duplicates]
  try await Session.run(invocation, endsInOrder: true) { session throws(Failure) in
    let view = ScanView(format, session.timers, isLive: format == .text && Console.isTerminal && !printsAll)
    let scan = session.central.scan(filter.parameters, filter: filter.filter) { device in
      guard filter.matches(device), printsAll || view.isLive || !device.news.isEmpty else { return }
      view.show(device)
      if view.hasFailed { session.interruption.request() }
    }
    await session.interruption.sleep(
      for: duration == .zero ? .seconds(1_000_000_000) : duration, in: session.timers)
    scan.cancel()
    view.finish()
  }
}

/// Which devices a scan shows, and its parameters.
private struct ScanChoice {
  var filter: Central.ScanFilter
  var parameters: ScanParameters
  private let name: String?
  private let isForRings: Bool

  init(_ invocation: Invocation) {
    filter = Central.ScanFilter(
      services: invocation[ScanOption.service].map { [$0] } ?? [],
      minimumRSSI: invocation[ScanOption.rssi].map { Int8($0) })
    parameters = invocation[CommonOptions.aggressive] ? .aggressive : .gentle
    parameters.isActive = !invocation[ScanOption.passive]
    name = invocation[ScanOption.name]?.lowercased()
    isForRings = invocation[ScanOption.rings]
  }

  func matches(_ device: Advertisement) -> Bool {
    if let name, device.localName?.lowercased().contains(name) != true { return false }
    return !isForRings
      || RingIdentity.matches(name: device.localName, services: device.serviceUUIDs) != nil
  }
}

/// Shows devices: on a terminal a table that is updated in place, else a line for each.
@BluetoothActor
private final class ScanView {
  let isLive: Bool
  private let timers: Timers
  private var printer: RecordPrinter
  private var devices: [BluetoothAddress: Advertisement] = [:]
  private var order: [BluetoothAddress] = []
  private var drawnLines = 0
  private var redraw: Timers.Token?
  private var screen = Console.output(.drop)

  init(_ format: OutputFormat, _ timers: Timers, isLive: Bool) {
    self.timers = timers
    self.isLive = isLive
    printer = RecordPrinter(
      format, [("address", nil), ("type", nil), ("rssi", "dBm"), ("name", nil), ("services", nil)],
      output: Console.output(.drop))
  }

  var hasFailed: Bool { screen.failure != nil }

  func show(_ device: Advertisement) {
    guard isLive else {
      printer.print(
        [
          .text(device.address.description), .text(device.address.kind.description),
          .number(device.rssi.map(Int.init)), .text(device.localName),
          .list(device.serviceUUIDs.map(\.description)),
        ], text: line(device))
      return
    }
    if devices[device.address] == nil {
      // More would not fit on a screen.
      guard order.count < 200 else { return }
      order.append(device.address)
    }
    devices[device.address] = device
    guard redraw == nil else { return }
    redraw = timers.schedule(after: .milliseconds(200)) { [weak self] in
      self?.redraw = nil
      self?.draw()
    }
  }

  func finish() {
    timers.cancel(redraw)
    guard isLive else { return }
    draw()
    Console.error(Console.counted(order.count, "device"))
  }

  private func line(_ device: Advertisement) -> String {
    let rssi = device.rssi.map { "\($0) dBm" } ?? "no RSSI"
    let kind = device.address.kind.description
    let afterKind = String(repeating: " ", count: max(0, 7 - kind.count))
    let beforeRSSI = String(repeating: " ", count: max(0, 8 - rssi.count))
    let services = device.serviceUUIDs.map(\.description).joined(separator: " ")
    let name = device.localName ?? "(no name)"
    return "\(device.address) \(kind)\(afterKind)\(beforeRSSI)\(rssi)  \(name)  \(services)"
  }

  /// Draws the table over the previous one.
  private func draw() {
    if drawnLines > 0 { screen.write("\u{1b}[\(drawnLines)A") }
    for address in order {
      if let device = devices[address] { screen.write("\u{1b}[2K" + line(device) + "\n") }
    }
    drawnLines = order.count
    screen.flush()
  }
}
