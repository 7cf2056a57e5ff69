import BluetoothCore
import EventLoop
import GATTClient
import LineOutput
import RingLink

let infoCommand = CommandSpec(
  name: "info", arguments: "[RING]", summary: "print the ring's firmware, hardware and family",
  positionals: 0...1, options: [CommonOptions.format],
  examples: [("halo-raw info --adapter virtual", "with the built-in ring")]
) { invocation throws(Failure) in
  let format = OutputFormat(invocation)
  try await Session.run(invocation) { session throws(Failure) in
    let ring = try await session.openRing()
    let information = try await ringFailure { () async throws(RingError) in try await ring.information() }
    let support = try await ringFailure { () async throws(RingError) in try await ring.deviceSupport() }
    session.warnAboutUnknownFirmware(of: ring, needsAcceleration: false)
    printInformation(information, support, of: ring, as: format)
  }
}

@BluetoothActor
private func printInformation(
  _ information: RingInformation, _ support: DeviceSupport?, of ring: Ring, as format: OutputFormat
) {
  let family = ring.firmware.family.description
  let peer = ring.client.peer
  var printer = RecordPrinter(
    format,
    [
      "address", "type", "firmware", "hardware", "software", "model", "serial", "family", "mtu", "support",
      "wants_bond", "interval_temperature",
    ].map { ($0, nil) })
  let lines: [(String, String?)] = [
    ("address", "\(peer) (\(peer.kind))"), ("firmware", information.firmwareRevision),
    ("hardware", information.hardwareRevision), ("software", information.softwareRevision),
    ("model", information.model), ("serial", information.serialNumber), ("family", family),
    ("MTU", String(ring.client.mtu)), ("support", support.map { Hex.string($0.bytes, separator: " ") }),
    ("bond", support.map { $0.wantsBond ? "offered, not needed" : "not offered" }),
  ]
  printer.print(
    [
      .text(peer.description), .text(peer.kind.description), .text(information.firmwareRevision),
      .text(information.hardwareRevision), .text(information.softwareRevision), .text(information.model),
      .text(information.serialNumber), .text(family), .number(ring.client.mtu),
      .text(support.map { Hex.string($0.bytes) }), support.map { .flag($0.wantsBond) } ?? .text(nil),
      support.map { .flag($0.hasIntervalTemperature) } ?? .text(nil),
    ],
    text: lines.compactMap { name, value in
      value.map { name + String(repeating: " ", count: 10 - name.count) + $0 }
    }.joined(separator: "\n"))
}

let batteryCommand = CommandSpec(
  name: "battery", arguments: "[RING]", summary: "print the battery level of the ring",
  positionals: 0...1, options: [CommonOptions.format],
  examples: [("halo-raw battery --adapter virtual", "with the built-in ring")]
) { invocation throws(Failure) in
  let format = OutputFormat(invocation)
  try await Session.run(invocation) { session throws(Failure) in
    let ring = try await session.openRing()
    let battery = try await ringFailure { () async throws(RingError) in try await ring.battery() }
    var printer = RecordPrinter(format, [("percent", nil), ("charging", nil)])
    printer.print([.number(Int(battery.percent)), .flag(battery.isCharging)], text: battery.description)
  }
}
