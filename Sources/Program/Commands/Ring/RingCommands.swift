import HaloBluetoothCore
import HaloCommandLine
import RingLink

let infoCommand = CommandSpec(
  name: "info", arguments: "[RING]", summary: "print the ring's firmware, hardware and family",
  options: [CommonOptions.pageFormat],
  examples: [("halo-raw info --adapter virtual", "with the built-in ring")]
) { invocation in
  try await Session.run(invocation) { session in
    try await session.withRing { ring, _ in
      let information = try await ring.information()
      let support = try await ring.deviceSupport()
      session.warnAboutUnknownFirmware(of: ring, needsAcceleration: false)
      printInformation(information, support, of: ring, invocation)
    }
  }
}

@BluetoothActor
private func printInformation(
  _ information: RingInformation, _ support: DeviceSupport?, of ring: RingClient, _ invocation: Invocation
) {
  let peer = ring.connection.peer
  let known = [
    ("firmware", information.firmwareRevision), ("hardware", information.hardwareRevision),
    ("software", information.softwareRevision), ("model", information.model),
    ("serial", information.serialNumber), ("family", ring.firmware.family.description),
  ]
  let lines: [(String, String?)] =
    [("address", "\(peer) (\(peer.kind))")] + known + [
      ("MTU", String(ring.connection.mtu)),
      ("support", support.map { Hex.string($0.bytes, separator: " ") }),
      ("bond", support.map { $0.wantsBond ? "wanted: try --bond if links end" : "not wanted" }),
      ("features", support.map { $0.features.isEmpty ? "none" : $0.features.joined(separator: ", ") }),
    ]
  let fields: [(String, Field)] =
    [("address", .text(peer.description)), ("type", .text(peer.kind.description))]
    + known.map { ($0, .text($1)) } + [
      ("mtu", .number(ring.connection.mtu)), ("support", .text(support.map { Hex.string($0.bytes) })),
      ("wants_bond", .flag(support?.wantsBond)),
      ("interval_temperature", .flag(support?.hasIntervalTemperature)),
      ("features", .list(support?.features)),
    ]
  // Any length is allowed; the records have all of it.
  let short = lines.map { ($0, $1.map { $0.cut(to: 60) }) }
  printRecord(
    invocation, fields, as: OutputFormat(page: invocation), text: twoColumns(short, width: 10))
}

let batteryCommand = CommandSpec(
  name: "battery", arguments: "[RING]", summary: "print the battery level of the ring",
  options: [CommonOptions.format],
  examples: [("halo-raw battery --adapter virtual", "with the built-in ring")]
) { invocation in
  try await Session.run(invocation) { session in
    let battery = try await session.withRing { ring, _ in
      try await ring.battery()
    }
    printRecord(
      invocation,
      [("percent", .number(Int(battery.percent))), ("charging", .flag(battery.isCharging))],
      text: battery.description)
  }
}

let findCommand = actionCommand(
  "find", "light the ring for about ten seconds", done: "the ring lights up for about ten seconds"
) { ring throws(RingError) in try await ring.perform(CommandTable.find) }

let blinkCommand = actionCommand(
  "blink", "flash the ring's light twice", done: "the ring flashed twice"
) { ring throws(RingError) in try await ring.perform(CommandTable.blink) }

let rebootCommand = actionCommand(
  "reboot", "restart the ring", done: "the ring restarts",
  asking: "this restarts the ring, which ends the connection"
) { ring throws(RingError) in try await ring.reboot() }

let powerOffCommand = actionCommand(
  "power-off", "switch the ring off; only the charger wakes it",
  done: "the ring is off; to wake it, put it on its charger",
  asking: "this switches the ring off, and only its charger wakes it"
) { ring throws(RingError) in try await ring.powerOff() }

let factoryResetCommand = actionCommand(
  "factory-reset", "erase all data on the ring",
  done: "the ring accepted the command to erase its data",
  asking: "this erases all data on the ring"
) { ring throws(RingError) in try await ring.perform(CommandTable.factoryReset) }

/// - Parameter question: the question to confirm first; nil for none
private func actionCommand(
  _ name: String, _ summary: String, done: String, asking question: String? = nil,
  _ work: @escaping @Sendable @BluetoothActor (RingClient) async throws(RingError) -> Void
) -> CommandSpec {
  CommandSpec(
    name: name, arguments: "[RING]", summary: summary,
    options: (question == nil ? [] : [Confirmation.option]) + [CommonOptions.format],
    examples: [
      ("halo-raw \(name)\(question == nil ? "" : " --yes") --adapter virtual", "with the built-in ring")
    ],
    details: question == nil ? "" : "On a terminal, it asks for confirmation. Elsewhere it needs --yes."
  ) { invocation throws(Failure) in
    if let question { try Confirmation.obtain(invocation, question) }
    try await Session.run(invocation) { session in
      try await session.withRing { ring, link in
        // The command that was sent may have been carried out.
        link.dataFlow()
        try await work(ring)
      }
      printRecord(invocation, [("action", .text(name)), ("done", .flag(true))], text: done)
    }
  }
}

let ringCommandsCommand = CommandSpec(
  name: "ring-commands", summary: "print the reference of all ring commands, as Markdown",
  examples: [("halo-raw ring-commands", "print docs/ring-commands.md")], usesAdapter: false
) { _ in
  Console.print(ReferencePage.markdown)
}
