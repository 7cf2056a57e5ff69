import HCI
import HaloBluetoothCore
import HaloCommandLine
import HaloLinuxBluetooth
import HaloSystem

let adaptersCommand = CommandSpec(
  name: "adapters", arguments: "[up|down hciN]",
  summary: "list the Bluetooth adapters; switch one on or off", positionals: 0...2,
  options: [CommonOptions.format],
  examples: [
    ("halo-raw adapters", "list all adapters, their state and their owner"),
    ("sudo halo-raw adapters up hci0", "switch hci0 on; stream and scan need that"),
  ],
  details: """
    The list needs no privilege. The physical layers are shown with CAP_NET_ADMIN, the LE features of an adapter that
    is up with CAP_NET_RAW. Switching an adapter needs CAP_NET_ADMIN: use sudo or file capabilities (halo-raw doctor).

    The state is "up", "down", "being set up" by the kernel, "failed" if it did not answer then, or "without an address": the
    last three can't be used by any program.

    The owner is "kernel" if every program may use the adapter, "bluetoothd" if BlueZ's daemon manages it as well, and
    "user channel" if one program uses it exclusively.
    """,
  usesAdapter: false
) { invocation in
  let arguments = invocation.positionals
  guard let verb = arguments.first else { return try await list(OutputFormat(invocation)) }
  guard verb == "up" || verb == "down", arguments.count == 2, let index = AdapterIndex(arguments[1]) else {
    throw Failure.usage(
      "usage: halo-raw adapters, or halo-raw adapters up hciN, or halo-raw adapters down hciN")
  }
  do throws(StackError) {
    let management = try Management()
    defer { management.close() }
    _ = try await management.send(.setPowered(verb == "up"), to: index)
  } catch {
    // The kernel does not distinguish such adapters from missing ones.
    if error.code == .noSuchAdapter, let obstacle = try? await Controllers.state(of: index)?.obstacle {
      throw Failure(StackError("switch \(index) \(verb == "up" ? "on" : "off")", obstacle))
    }
    // Some kernels report only a failure.
    if verb == "up", SystemState.radioSwitches(in: SystemState.rfkillFolder).contains(where: \.isBlocked) {
      throw Failure(StackError("switch \(index) on", .radioBlocked))
    }
    throw error
  }
}

@BluetoothActor
private func list(_ format: OutputFormat) async throws {
  let adapters = try await Controllers.list()
  var printer = RecordPrinter(
    format,
    [
      "adapter", "address", "up", "version", "le", "phys", "features", "settings", "owner", "name", "state",
    ])
  let runsBluetoothd = RunningPrograms.contains("bluetoothd")
  let management = try? Management()
  defer { management?.close() }
  for adapter in adapters {
    let phys = try? await management?.send(.getPHYConfiguration, to: adapter.index)
    let canAsk = adapter.isUp && !adapter.isTaken
    let features = canAsk ? try? await Controllers.features(of: adapter.index) : nil
    let row = AdapterRow(adapter: adapter, phys: phys, features: features, runsBluetoothd: runsBluetoothd)
    printer.print(row.fields, text: row.line)
  }
  if adapters.isEmpty { throw Failure(.noAdapter, "found no Bluetooth adapter; see halo-raw doctor") }
}

/// An adapter as a row of the list.
struct AdapterRow {
  let adapter: ControllerState
  /// Nil without the privilege to read them.
  let phys: LEPHYs?
  /// Nil without the privilege to read them, and for an adapter that is down or taken.
  let features: LEFeatures?
  let runsBluetoothd: Bool

  var owner: String { adapter.isTaken ? "user channel" : runsBluetoothd ? "bluetoothd" : "kernel" }

  /// Nil if it is unknown.
  private var supportsLE: Bool? { adapter.management?.supportedSettings.contains(.lowEnergy) }

  private var version: String? { adapter.management.map { "\($0.version)" } }

  var fields: [Field] {
    [
      .text(adapter.name), .text("\(adapter.address)"), .flag(adapter.isUp), .text(version),
      .flag(supportsLE),
      .list(phys?.names),
      .list(features?.names),
      .list(adapter.management?.currentSettings.names ?? []), .text(owner),
      .text(adapter.management.map(\.name)), .text(adapter.condition.description),
    ]
  }

  /// Text: a line, and below it the features.
  var line: String {
    let state = adapter.condition.description
    var columns = [
      "\(adapter.name)  \(adapter.address)  \(state)" + String(repeating: " ", count: max(0, 4 - state.count))
    ]
    if let version { columns.append("Bluetooth \(version)") }
    if supportsLE == false { columns.append("no LE") }
    if let phys { columns.append(phys.names.joined(separator: " ")) }
    if let settings = adapter.management?.currentSettings.names, !settings.isEmpty {
      columns.append(settings.joined(separator: " "))
    }
    columns.append("owner: \(owner)")
    if let name = adapter.management?.name, !name.isEmpty { columns.append("\"\(name.printable)\"") }
    let line = columns.joined(separator: "  ")
    guard let features else { return line }
    return line + "\n      LE features: "
      + (features.isEmpty ? "none" : features.names.joined(separator: ", "))
  }
}

extension ManagementSettings {
  /// The name of each setting.
  fileprivate var names: [String] {
    description.split(separator: ",").map { String($0.drop { $0 == " " }) }
  }
}
