import GAP
import HaloGATT
import HaloBluetoothCore
import HaloCommandLine

private enum ConnectOption {
  static let keepGoing = Flag(
    "--keep-going", help: "go on after a line that fails, also where lines come from a pipe or a file")
}

let connectCommand = CommandSpec(
  name: "connect", arguments: "[DEVICE]", summary: "a session: read, write and listen over one connection",
  options: [ConnectOption.keepGoing, CommonOptions.retryTime] + LiveOption.all,
  examples: [
    (
      "halo-raw connect R02_BEEF --adapter virtual",
      "type lines; Tab completes handles and UUIDs, help lists the commands"
    ),
    (
      "printf 'subscribe 6E400003-B5A3-F393-E0A9-E50E24DCCA9E\\nsend battery\\nwait 1s\\n' | halo-raw connect R02_BEEF --adapter virtual",
      "a script: subscribe, write, and print what the device answers"
    ),
  ],
  details: """
    Lines come from the terminal, a pipe or a file. # begins a comment.

    The commands are services, read WHAT, write WHAT HEX (or --text TEXT), command WHAT HEX (a write without response),
    subscribe WHAT [--indicate], unsubscribe WHAT, wait TIME, wait WHAT [TIME], send NAME or HEX (a frame of a ring), mtu, help
    and quit; help says what each does. WHAT is a handle, such as 0x0012, or a UUID, such as 2A19.
    Values are printed with the time, the handle, the name, the bytes and what they say; a frame of a ring by its name and its
    fields. csv and jsonl have a record for each: "kind" is read, write, value (of a subscription), service, characteristic,
    link, gap or error.

    On a terminal, a line that fails is said, and the session goes on. In a script it ends the session, with the exit code of its
    failure, unless --keep-going is given. The end of the script ends the session: wait for answers before it.

    If the connection is lost, it is made again within --retry-for, and what was subscribed to is subscribed to again. The line
    that the loss has ended fails.
    """
) { invocation in
  try await Session.run(invocation, endsInOrder: true) { session in
    let live = try await LiveOutput(invocation, session)
    let device = DeviceSession(live, session, keepsGoing: invocation[ConnectOption.keepGoing])
    let link = session.keepDevice(ReconnectPolicy.Budget(invocation, isSteady: true)) { connection in
      try await device.begin(connection)
    }
    device.onData = link.dataFlow
    // Also if the link is lost permanently.
    defer { device.stop() }
    _ = try await link.open()
    try await live.complete(link) {
      try await link.listen { connection in
        guard let loss = try await device.run(connection) else { return }
        device.markGap("connection lost: \(loss)")
        throw Failure(.connectionLost, "the connection was lost: \(loss)", .link)
      }
      try device.finish()
    }
    await device.unsubscribe()
    await link.close()
  }
}
