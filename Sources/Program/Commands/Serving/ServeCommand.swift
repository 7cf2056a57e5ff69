import GAP
import HaloGATT
import HCI
import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import HaloStorage
import HaloRaw

private enum ServeOption {
  static let name = Option(
    "--name", as: .text, help: "the name of the device (default: that of the table)")
  static let connections = Option(
    "--connections", as: .integer(1...64), default: "3",
    help: "how many devices may be connected at once; while there are as many, nothing is advertised")
  static let listen = Option(
    "--listen", as: .listenAddress,
    help:
      "be in reach of a controller for other programs, in place of an adapter: tcp:HOST:PORT (port 0: any free one) or unix:PATH"
  )
}

let serveCommand = CommandSpec(
  name: "serve", arguments: "FILE", summary: "offer a table of attributes to other devices, as a peripheral",
  file: .reads,
  options: [
    ServeOption.name, ServeOption.connections, ServeOption.listen, ServingOption.every,
    ServingOption.duration,
    CommonOptions.format,
    ServingOption.retryTime,
    PairingInterface.option,
  ] + ValueSource.options + ServingOption.admission,
  rules: [
    .needs(ValueSource.interval, ValueSource.option), .excludes(ServeOption.listen, [CommonOptions.adapter]),
  ],
  examples: [
    (
      "halo-raw inspect R02_BEEF --adapter virtual --format jsonl > ring.jsonl", "write the table of a device"
    ),
    ("sudo halo-raw serve ring.jsonl", "be that device"),
    ("echo 2A6E D107 | sudo halo-raw serve table.jsonl", "be a device of your own, whose value is given"),
    (
      "sudo halo-raw serve ring.jsonl --value '2A26=!echo --text $(uname -r)' --value-interval 5s",
      "be that device, with a value that a command prints every five seconds"
    ),
    (
      "halo-raw serve ring.jsonl --listen tcp:127.0.0.1:9105",
      "be that device for a program that speaks H4 to this port, without a radio"
    ),
  ],
  details: """
    FILE is what inspect --format jsonl has printed: the device is offered again, with the same handles, properties and values. The
    advertisement has its name and its services, as many as there is room for.

    A line of standard input gives a value: HANDLE or UUID of a characteristic, and the value as write takes it, "2A6E D107" or "2A00
    --text Pi". It is stored, read from then on, and sent to the devices that have subscribed; one that is slow gets the newest. A wrong
    line is reported with its number. The end of the input ends nothing.

    --value gives values, too. A command has ten seconds, the rights of the user and no capabilities; what it prints is the value.

    A value that the table does not have, as it could not be read, is refused until it is given. A value that a device writes is
    stored, and read from then on. What devices do is printed: "connected", "subscribed", "written",
    "disconnected".

    Devices may pair, without a question (Just Works). With --interface, they can pair in a way that shows that nobody is between
    them and this one: questions are printed, and the next line of standard input is the answer.
    """,
  opensLinks: false
) { invocation in
  let listens = invocation[ServeOption.listen]
  var invocation = invocation
  if listens != nil { invocation.set(CommonOptions.adapter, to: .air(ServedMedium.name, nil, isFast: false)) }
  try await serveTable(invocation, at: listens)
}

/// - Parameter listens: where hosts get a controller in whose reach the device is; nil for a device on the adapter
@BluetoothActor
private func serveTable(_ invocation: Invocation, at listens: ListenAddress?) async throws {
  let path = invocation.positionals[0]
  guard invocation[ValueSource.interval] >= .milliseconds(100) else {
    throw Failure.usage("--value-interval must be 100ms or more")
  }
  try await Session.run(invocation, endsInOrder: true, connects: false, pairs: true) { session in
    let start = session.timers.now
    // Not before: it is read with the rights of the user, and not with those that the adapter needs.
    let attributes = try await offTheLoop(orInterrupted: "interrupted before \(path.printable) was read") {
      try AttributeTableFile.read(path)
    }
    let database = AttributeDatabase(offering: attributes, hash: LibcryptoCryptography.databaseHash)
    let nameHandle = database.handles(of: GATTUUID.deviceName).first
    let storedName = nameHandle.flatMap { database.value(of: $0) }
    let composed = try Advertising.device(
      name: invocation[ServeOption.name] ?? storedName.map { String(decoding: $0, as: UTF8.self) },
      services: advertisedServices(of: database))
    let advertising = try composed.advertising.every(invocation[ServingOption.every])
    if listens == nil { try invocation.checkIsHeard() }
    let peripheral = Peripheral(
      session.adapter, serving: database, maximumConnections: invocation[ServeOption.connections])
    let printer = ServingPrinter(OutputFormat(invocation), session, since: start, database)
    defer { printer.finish() }
    peripheral.onConnection = { printer.watch($0) }
    if !composed.leftOut.isEmpty {
      let services = composed.leftOut.map(\.description).joined(separator: ", ")
      Console.error("halo-raw: these services are not advertised, as there is no room: \(services)")
    }
    let values = ServedValues(database, peripheral)
    if let name = invocation[ServeOption.name], let nameHandle {
      try values.set(Array(name.utf8), of: try values.characteristic(.handle(nameHandle)))
    }
    let lines = ValueLines(values)
    let follower = ValueFollower(
      values, each: invocation[ValueSource.interval], session.timers, session.interruption)
    defer {
      lines.stop()
      follower.stop()
    }
    // In a replay, there is no input but that of the recording.
    try follower.start(invocation[ValueSource.option] ?? [], onlyGiven: session.isReplay)
    let agent = session.security.letDevicesPair(invocation[PairingInterface.option])
    if !session.isReplay { lines.start(agent) }
    let offered = try await ServedMedium.listen(at: listens)
    defer { offered?.close() }
    try await session.serve(peripheral, advertising, invocation)
  }
}

/// The air of a served device, for the hosts of `--listen`.
@BluetoothActor
private final class ServedMedium {
  nonisolated static let name = "serve"

  private let controllers: OfferedControllers
  private let listener: StreamListener

  private init(_ controllers: OfferedControllers, _ listener: StreamListener) {
    (self.controllers, self.listener) = (controllers, listener)
  }

  /// - Returns: nil without an address
  static func listen(at address: ListenAddress?) async throws(Failure) -> ServedMedium? {
    guard let address else { return nil }
    let controllers = OfferedControllers(SharedMedium.named(name, isFast: false).medium)
    return ServedMedium(controllers, try await address.listen { controllers.attach($0) })
  }

  func close() {
    listener.close()
    controllers.detach()
  }
}

/// The services that the advertisement of a device has.
@BluetoothActor
private func advertisedServices(of database: AttributeDatabase) -> [BluetoothUUID] {
  database.handles(of: GATTUUID.primaryService).compactMap { handle in
    database.value(of: handle).flatMap { BluetoothUUID(wireBytes: $0) }
  }.filter { $0 != GATTUUID.genericAccess && $0 != GATTUUID.genericAttribute }
}
