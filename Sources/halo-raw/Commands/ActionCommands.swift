import EventLoop
import GATTClient
import LineOutput
import RingLink

let findCommand = actionCommand(
  "find", "lights the ring for about ten seconds", done: "the ring lights up for about ten seconds"
) { ring throws(RingError) in try await ring.find() }

let blinkCommand = actionCommand(
  "blink", "two short flashes of the ring's light", done: "the ring has flashed twice"
) { ring throws(RingError) in try await ring.blink() }

let rebootCommand = actionCommand(
  "reboot", "restarts the ring", done: "the ring restarts",
  asking: "this restarts the ring, which ends the connection"
) { ring throws(RingError) in try await ring.reboot() }

let powerOffCommand = actionCommand(
  "power-off", "switches the ring off; only its charger wakes it",
  done: "the ring is off; put it on its charger to wake it",
  asking: "this switches the ring off, and only its charger wakes it"
) { ring throws(RingError) in try await ring.powerOff() }

let factoryResetCommand = actionCommand(
  "factory-reset", "erases all that the ring has stored",
  done: "the ring was told to erase what it has stored",
  asking: "this erases all that the ring has stored"
) { ring throws(RingError) in try await ring.factoryReset() }

/// - Parameter question: what to ask before; nil if nobody minds
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
    details: question == nil ? "" : "Asks before, on a terminal; elsewhere it needs --yes."
  ) { invocation throws(Failure) in
    let format = try OutputFormat(invocation)
    if let question { try Confirmation.obtain(invocation, question) }
    try await Session.run(invocation) { session throws(Failure) in
      let ring = try await session.openRing()
      try await ringFailure { () async throws(RingError) in try await work(ring) }
      var printer = RecordPrinter(format, [("action", nil), ("done", nil)])
      printer.print([.text(name), .flag(true)], text: done)
    }
  }
}
