import BluetoothCore
import EventLoop
import GATTClient
import LineOutput
import RingLink

let rawCommand = CommandSpec(
  name: "raw", arguments: "HEX [RING]", summary: "sends one frame to a ring, and explains what comes back",
  positionals: 1...2,
  options: [
    OptionSpec("--bulk", help: "HEX is the id of a bulk frame and its payload; length and CRC are added"),
    OptionSpec(
      "--duration", value: "TIME", help: "how long to print what comes back; default 2s"),
    OptionSpec("--count", value: "N", help: "ends after N frames have come back"),
    Confirmation.option,
    CommonOptions.format,
  ],
  examples: [
    ("halo-raw raw 03 --count 1 --adapter virtual", "asks for the battery"),
    ("halo-raw raw A104 --count 6 --adapter virtual", "two sets of the raw stream, which is then stopped"),
    ("halo-raw raw --bulk 27FF01 --duration 1s --adapter virtual", "asks for all sleep"),
  ],
  details: """
    HEX is a command and its payload, up to 15 bytes: zeros and the checksum are added. With 16 bytes, the checksum is
    checked. What can damage a ring is never sent. What switches it off or erases it asks before, or needs --yes. What a
    frame has started (streams, measurements, the camera mode) is ended afterwards.
    """
) { invocation throws(Failure) in
  let message = try rawMessage(invocation)
  let count = try invocation.integer("--count", in: 1...Int.max)
  let duration = try invocation.duration("--duration") ?? .seconds(2)
  let format = try OutputFormat(invocation)
  if let consequence = consequence(of: message) { try Confirmation.obtain(invocation, consequence) }
  var target = invocation
  target.positionals.removeFirst()
  try await Session.run(target, endsInOrder: true) { session throws(Failure) in
    let end = Interruption(following: session.interruption)
    let writer = TrafficWriter(format)
    let ring = try await session.interruption.cancels { () async throws(Failure) in
      let ring = try await session.openRing()
      try await ringFailure { () async throws(RingError) in
        try await ring.watch { traffic, time in
          guard !end.hasCome else { return }
          writer.print(traffic, at: time)
          if writer.received == count || writer.hasFailed { end.come() }
        }
      }
      return ring
    }
    writer.print(message, at: EventLoop.shared.timers.now.wholeMicroseconds)
    try await ringFailure { () async throws(RingError) in try await ring.send(message) }
    var loss: LinkLoss?
    ring.client.whenDisconnected {
      loss = $0
      end.come()
    }
    await end.sleep(for: duration)
    end.come()
    if case .frame(let frame) = message, ring.client.isConnected {
      for closing in CommandTable.closing(frame) { try? await ring.send(.frame(closing)) }
    }
    let isExpected = consequence(of: message) != nil
    if let loss, !isExpected { throw Failure(.connectionLost, "the connection was lost: \(loss)") }
    await ring.client.disconnect()
  }
}

/// Reads what is to be sent, and refuses what must not be.
private func rawMessage(_ invocation: Invocation) throws(Failure) -> RingMessage {
  let text = invocation.positionals[0]
  guard let bytes = Hex.bytes(text), let first = bytes.first else {
    throw .usage("\"\(text.printable)\" is no frame: bytes are pairs of hexadecimal digits, such as A104")
  }
  if invocation.has("--bulk") {
    guard bytes.count <= BulkFrame.maximumPayload else {
      throw .usage("a bulk frame takes \(BulkFrame.maximumPayload) bytes, not \(bytes.count)")
    }
    let id = BulkID(rawValue: first)
    if let danger = CommandTable.danger(of: id) { throw Failure(RingError.dangerous(danger)) }
    return .bulk(id, payload: Array(bytes.dropFirst()))
  }
  // However it is written: the first byte tells what a ring would do.
  if let danger = CommandTable.danger(ofWriting: bytes) { throw Failure(RingError.dangerous(danger)) }
  do throws(RingFrameError) {
    let frame =
      bytes.count < RingFrame.length
      ? try RingFrame(RingCommand(rawValue: first), payload: bytes.dropFirst())
      : try RingFrame(parsing: bytes.span.bytes)
    if let danger = CommandTable.danger(of: frame) {
      throw RingFrameError.value(RingError.dangerous(danger).description)
    }
    return .frame(frame)
  } catch {
    throw .usage(error.description)
  }
}

/// What to ask about before it is sent; nil if nothing.
private func consequence(of message: RingMessage) -> String? {
  guard case .frame(let frame) = message else { return nil }
  switch frame.command {
  case CommandTable.reboot.command: return "this restarts the ring or switches it off"
  case CommandTable.factoryReset.command: return "this erases all that the ring has stored"
  default: return nil
  }
}

/// Prints what goes out and what comes in, with what it means.
@BluetoothActor
private final class TrafficWriter {
  private(set) var received = 0
  private var printer: RecordPrinter
  private var origin: Instant?
  /// The command that was sent last.
  private var pending: RingCommand?

  init(_ format: OutputFormat) {
    printer = RecordPrinter(
      format,
      [
        ("t", "s"), ("direction", nil), ("channel", nil), ("bytes", nil), ("name", nil), ("form", nil),
        ("fields", nil), ("refusal", nil),
      ], output: Console.output(.drop))
  }

  var hasFailed: Bool { printer.output.failure != nil }

  func print(_ message: RingMessage, at time: Instant) {
    switch message {
    case .frame(let frame):
      pending = frame.command
      print(CommandTable.meaning(of: frame, isFromRing: false), isFromRing: false, at: time)
    case .bulk(let id, let payload): print(id, payload, isFromRing: false, at: time)
    }
  }

  func print(_ traffic: RingTraffic, at time: Instant) {
    received += 1
    switch traffic {
    case .frame(let frame):
      let meaning = CommandTable.meaning(of: frame, isFromRing: true, pending: pending)
      print(meaning, isFromRing: true, at: time)
    case .bulk(let frame): print(frame.id, frame.payload, isFromRing: true, at: time)
    case .unreadable(let bytes):
      put(true, "command", bytes, name: nil, form: "unreadable", fields: [], refusal: nil, [], at: time)
    }
  }

  private func print(_ meaning: FrameMeaning, isFromRing: Bool, at time: Instant) {
    let width = (meaning.fields.map(\.name.count).max() ?? 0) + 2
    let lines = meaning.fields.map { field in
      let bytes =
        field.range.count == 1
        ? "byte \(field.range.lowerBound)"
        : "bytes \(field.range.lowerBound) to \(field.range.upperBound - 1)"
      return "    " + field.name + String(repeating: " ", count: width - field.name.count)
        + "\(field.value)   [\(bytes)]"
    }
    put(
      isFromRing, "command", meaning.frame.bytes, name: meaning.name, form: meaning.form?.name,
      fields: meaning.fields.map { "\($0.name)=\($0.value)" },
      refusal: meaning.refusal?.code.description, lines, at: time)
  }

  private func print(_ id: BulkID, _ payload: [UInt8], isFromRing: Bool, at time: Instant) {
    let entry = CommandTable.entries(for: .bulk(id)).first
    let form = (isFromRing ? entry?.replies : entry?.requests)?.first?.name
    put(
      isFromRing, "bulk", [id.rawValue] + payload, name: id.description, form: form,
      fields: ["payload=\(Hex.string(payload))"], refusal: nil,
      ["    \(Console.counted(payload.count, "byte")) of payload"],
      at: time)
  }

  private func put(
    _ isFromRing: Bool, _ channel: String, _ bytes: [UInt8], name: String?, form: String?, fields: [String],
    refusal: String?, _ lines: [String], at time: Instant
  ) {
    let start = origin ?? time
    origin = start
    let title = [name, refusal.map { "refused: \($0)" } ?? form].compactMap { $0 }.joined(separator: ", ")
    printer.print(
      [
        .seconds(time.nanoseconds(since: start)), .text(isFromRing ? "in" : "out"), .text(channel),
        .text(Hex.string(bytes)), .text(name), .text(form), .list(fields), .text(refusal),
      ],
      text: (["\(isFromRing ? "<" : ">") \(Hex.string(bytes, separator: " "))   \(title)"] + lines)
        .joined(separator: "\n"))
  }
}
