import BluetoothCore
import EventLoop
import HCI
import LineOutput

let adaptersCommand = CommandSpec(
  name: "adapters", arguments: "[up|down hciN]",
  summary: "the kernel's Bluetooth adapters; switches one on or off", positionals: 0...2,
  options: [CommonOptions.format],
  examples: [
    ("halo-raw adapters", "all of them, whether they are up, and who has them"),
    ("sudo halo-raw adapters up hci0", "switches hci0 on, as stream and scan need it"),
  ],
  details: """
    The list takes no privilege, but for the physical layers (CAP_NET_ADMIN) and the LE features of an adapter that
    is up (CAP_NET_RAW), which are left out without. To switch takes CAP_NET_ADMIN: sudo, or file capabilities
    (halo-raw doctor).
    The owner is "kernel" for an adapter that every program may use, "bluetoothd" if BlueZ's daemon looks after it as
    well, and "user channel" for one that a single program has taken for itself.
    """,
  usesAdapter: false
) { invocation throws(Failure) in
  let words = invocation.positionals
  guard let verb = words.first else { return try await list(try OutputFormat(invocation)) }
  guard verb == "up" || verb == "down", words.count == 2, let index = AdapterIndex(words[1]) else {
    throw .usage("usage: halo-raw adapters, or halo-raw adapters up hciN, or halo-raw adapters down hciN")
  }
  do throws(KernelError) {
    let management = try Management()
    defer { management.close() }
    _ = try await management.send(SetPowered(verb == "up"), to: index)
  } catch {
    // Some kernels only say that it failed.
    if verb == "up", SystemState.radioSwitches(in: SystemState.rfkillFolder).contains(where: \.isBlocked) {
      throw Failure(KernelError("switch \(index) on", .radioBlocked))
    }
    throw Failure(error)
  }
}

@BluetoothActor
private func list(_ format: OutputFormat) async throws(Failure) {
  let adapters: [ControllerState]
  do throws(KernelError) {
    adapters = try await Controllers.list()
  } catch {
    throw Failure(error)
  }
  var printer = RecordPrinter(
    format,
    [
      ("adapter", nil), ("address", nil), ("up", nil), ("version", nil), ("le", nil), ("phys", nil),
      ("features", nil), ("settings", nil), ("owner", nil), ("name", nil),
    ])
  let runsBluetoothd = Processes.isRunning("bluetoothd")
  let management = try? Management()
  defer { management?.close() }
  for adapter in adapters {
    let phys = try? await management?.send(GetPHYConfiguration(), to: adapter.index)
    let canAsk = adapter.isUp && !adapter.isTaken
    let features = canAsk ? try? await Controllers.features(of: adapter.index) : nil
    let row = AdapterRow(adapter, phys: phys, features: features, runsBluetoothd: runsBluetoothd)
    printer.print(row.fields, text: row.line)
  }
  if adapters.isEmpty { throw Failure(.noAdapter, "there is no Bluetooth adapter; see halo-raw doctor") }
}

/// An adapter as it is shown.
struct AdapterRow {
  let adapter: ControllerState
  let owner: String
  /// Nil without the right to ask.
  let phys: LEPHYs?
  /// Nil without the right to ask, and for an adapter that is down or taken.
  let features: LEFeatures?

  init(_ adapter: ControllerState, phys: LEPHYs?, features: LEFeatures?, runsBluetoothd: Bool) {
    self.adapter = adapter
    self.phys = phys
    self.features = features
    owner = adapter.isTaken ? "user channel" : runsBluetoothd ? "bluetoothd" : "kernel"
  }

  /// Nil if nobody tells.
  private var supportsLE: Bool? { adapter.management?.supportedSettings.contains(.lowEnergy) }

  private var version: String? { adapter.management.map { "\($0.version)" } }

  var fields: [Field] {
    [
      .text(adapter.name), .text("\(adapter.address)"), .flag(adapter.isUp), .text(version),
      supportsLE.map { .flag($0) } ?? .text(nil),
      phys.map { .list($0.names) } ?? .text(nil),
      features.map { .list($0.names) } ?? .text(nil),
      .list(adapter.management?.currentSettings.names ?? []), .text(owner),
      .text(adapter.management.map(\.name)),
    ]
  }

  /// For a person: a line, and below it the features, which are many.
  var line: String {
    var words = ["\(adapter.name)  \(adapter.address)  \(adapter.isUp ? "up  " : "down")"]
    if let version { words.append("Bluetooth \(version)") }
    if supportsLE == false { words.append("no LE") }
    if let phys { words.append(phys.names.joined(separator: " ")) }
    if let settings = adapter.management?.currentSettings.names, !settings.isEmpty {
      words.append(settings.joined(separator: " "))
    }
    words.append("owner: \(owner)")
    if let name = adapter.management?.name, !name.isEmpty { words.append("\"\(name.printable)\"") }
    let line = words.joined(separator: "  ")
    guard let features else { return line }
    return line + "\n      LE features: "
      + (features.isEmpty ? "none" : features.names.joined(separator: ", "))
  }
}

extension ManagementSettings {
  /// One word for each.
  fileprivate var names: [String] {
    description.split(separator: ",").map { String($0.drop { $0 == " " }) }
  }
}
