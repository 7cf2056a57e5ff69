import BluetoothCore
import EventLoop
import GATTClient
import LineOutput
import RingLink

let findCommand = actionCommand(
  "find", "light the ring for about ten seconds", done: "the ring lights up for about ten seconds"
) { ring throws(RingError) in try await ring.find() }

let blinkCommand = actionCommand(
  "blink", "flash the ring's light twice", done: "the ring flashed twice"
) { ring throws(RingError) in try await ring.blink() }

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
) { ring throws(RingError) in try await ring.factoryReset() }

/// - Parameter question: what to confirm first; nil for nothing
private func actionCommand(
  _ name: String, _ summary: String, done: String, asking question: String? = nil,
  _ work: @escaping @Sendable @BluetoothActor (Ring) async throws(RingError) -> Void
) -> CommandSpec {
  CommandSpec(
    name: name, arguments: "[RING]", summary: summary, positionals: 0...1,
    options: (question == nil ? [] : [Confirmation.option]) + [CommonOptions.format],
    examples: [
      ("halo-raw \(name)\(question == nil ? "" : " --yes") --adapter virtual", "with the built-in ring")
    ],
    details: question == nil ? "" : "On a terminal, it asks for confirmation. Elsewhere it needs --yes."
  ) { invocation throws(Failure) in
    let format = OutputFormat(invocation)
    if let question { try Confirmation.obtain(invocation, question) }
    try await Session.run(invocation) { session throws(Failure) in
      let ring = try await session.openRing()
      try await ringFailure { () async throws(RingError) in try await work(ring) }
      var printer = RecordPrinter(format, [("action", nil), ("done", nil)])
      printer.print([.text(name), .flag(true)], text: done)
    }
  }
}
