import BluetoothCore
import EventLoop
import GATTClient
import HCI
import LineOutput
import RingLink

let scanCommand = CommandSpec(
  name: "scan", summary: "who advertises: address, type, signal, name, services",
  positionals: 0...0,
  options: [
    OptionSpec("--duration", value: "TIME", help: "how long to listen; default 5s, 0 for ever"),
    OptionSpec("--service", value: "UUID", help: "only devices that advertise this service"),
    OptionSpec("--name", value: "TEXT", help: "only devices whose name contains this"),
    OptionSpec("--rssi", value: "DBM", help: "only devices at least this strong, such as -70"),
    OptionSpec("--rings", help: "only what looks like a ring"),
    OptionSpec("--passive", help: "does not ask for scan responses"),
    OptionSpec("--duplicates", help: "prints each report, not only what is new"),
    CommonOptions.format,
  ],
  examples: [
    ("halo-raw scan --adapter virtual", "listens for five seconds; live on a terminal"),
    (
      "halo-raw scan --rings --duration 2s --format jsonl --adapter virtual",
      "rings alone; a line each time something new is known of one"
    ),
  ]
) { invocation throws(Failure) in
  let duration = try invocation.duration("--duration") ?? .seconds(5)
  let format = try OutputFormat(invocation)
  let filter = try ScanChoice(invocation)
  try await Session.run(invocation, endsInOrder: true) { session throws(Failure) in
    let view = ScanView(
      format, isLive: format == .text && Console.isTerminal && !invocation.has("--duplicates"))
    let printsAll = invocation.has("--duplicates")
    let scan = session.central.scan(filter.parameters, filter: filter.filter) { device in
      guard filter.matches(device), printsAll || view.isLive || !device.news.isEmpty else { return }
      view.show(device)
      if view.hasFailed { session.interruption.come() }
    }
    await session.interruption.sleep(for: duration == .zero ? .seconds(1_000_000_000) : duration)
    scan.cancel()
    view.finish()
  }
}

/// Which devices a scan shows, and how it listens.
private struct ScanChoice {
  var filter: Central.ScanFilter
  var parameters: ScanParameters
  private let name: String?
  private let isForRings: Bool

  init(_ invocation: Invocation) throws(Failure) {
    filter = Central.ScanFilter(
      services: try invocation.uuid("--service").map { [$0] } ?? [],
      minimumRSSI: try invocation.integer("--rssi", in: -127...20).map { Int8($0) })
    parameters = invocation.has("--aggressive") ? .aggressive : .gentle
    parameters.isActive = !invocation.has("--passive")
    name = invocation.text("--name")?.lowercased()
    isForRings = invocation.has("--rings")
  }

  func matches(_ device: Advertisement) -> Bool {
    if let name, device.localName?.lowercased().contains(name) != true { return false }
    return !isForRings
      || RingIdentity.matches(name: device.localName, services: device.serviceUUIDs) != nil
  }
}

/// Shows devices: a table that is drawn anew on a terminal, else a line for each.
@BluetoothActor
private final class ScanView {
  let isLive: Bool
  private var printer: RecordPrinter
  private var devices: [BluetoothAddress: Advertisement] = [:]
  private var order: [BluetoothAddress] = []
  private var drawnLines = 0
  private var redraw: Timers.Token?
  private var screen = Console.output(.drop)

  init(_ format: OutputFormat, isLive: Bool) {
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
      // As many as a screen can show; more would not be read.
      guard order.count < 200 else { return }
      order.append(device.address)
    }
    devices[device.address] = device
    guard redraw == nil else { return }
    redraw = EventLoop.shared.timers.schedule(after: .milliseconds(200)) { [weak self] in
      self?.redraw = nil
      self?.draw()
    }
  }

  func finish() {
    EventLoop.shared.timers.cancel(redraw)
    guard isLive else { return }
    draw()
    Console.error(Console.counted(order.count, "device"))
  }

  private func line(_ device: Advertisement) -> String {
    let rssi = device.rssi.map { "\($0) dBm" } ?? "no signal strength"
    let kind = device.address.kind.description
    return "\(device.address) \(kind)\(String(repeating: " ", count: max(0, 7 - kind.count)))"
      + String(repeating: " ", count: max(0, 8 - rssi.count)) + rssi + "  "
      + (device.localName ?? "(no name)") + "  "
      + device.serviceUUIDs.map(\.description).joined(separator: " ")
  }

  /// Draws the table over the one before.
  private func draw() {
    if drawnLines > 0 { screen.write("\u{1b}[\(drawnLines)A") }
    for address in order {
      if let device = devices[address] { screen.write("\u{1b}[2K" + line(device) + "\n") }
    }
    drawnLines = order.count
    screen.flush()
  }
}
