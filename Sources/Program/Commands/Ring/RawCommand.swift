import GAP
import HaloBluetoothCore
import HaloCommandLine
import RingLink

private enum RawOption {
  static let bulk = Flag(
    "--bulk", help: "HEX is the id of a bulk frame and its payload; length and CRC are added")
  static let duration = Option(
    "--duration", as: .timeLimit, default: "2s", help: "how long to print replies; 0 for no limit")
  static let count = Option("--count", as: .count, help: "stop after N frames from the ring")
}

let rawCommand = CommandSpec(
  name: "raw", arguments: "HEX [RING]", summary: "send one frame to a ring and explain the replies",
  options: [
    RawOption.bulk, RawOption.duration, RawOption.count, Confirmation.option,
  ] + LiveOption.all,
  examples: [
    ("halo-raw raw 03 --count 1 --adapter virtual", "read the battery"),
    ("halo-raw raw A104 --count 6 --adapter virtual", "start the raw stream; stop it after two sets"),
    ("halo-raw raw --bulk 27FF01 --duration 1s --adapter virtual", "read all sleep data"),
  ],
  details: """
    HEX is a command and its payload, up to 15 bytes; zeros and the checksum are added. Of 16 bytes, the last is verified
    as the checksum.

    Frames that can damage a ring are never sent. Frames that switch it or its radio off, that erase it, or that no
    source explains, need confirmation or --yes. What a frame starts (streams, measurements, the camera mode) is stopped
    at the end.
    """
) { invocation in
  let message = try rawMessage(invocation)
  let count = invocation[RawOption.count]
  let duration = invocation[RawOption.duration]
  if let consequence = CommandTable.consequence(of: message) {
    try Confirmation.obtain(invocation, consequence)
  }
  var invocation = invocation
  invocation.positionals.removeFirst()
  try await Session.run(invocation, endsInOrder: true) { session in
    let end = Interruption(following: session.interruption)
    let live = try await LiveOutput(invocation, session)
    let link = session.keepRing()
    let ring = try await link.open()
    let writer = try await TrafficWriter(live, ring)
    try await session.interruption.cancels {
      try await ring.watch { traffic, time in
        guard !end.isRequested else { return }
        writer.print(traffic, at: time)
        if writer.received == count || writer.printer.hasFailed { end.request() }
      }
    }
    try await live.complete(link) {
      writer.print(message, at: session.timers.now.wholeMicroseconds)
      try await ring.send(message)
      var loss: LinkLoss?
      ring.connection.whenDisconnected {
        loss = $0
        end.request()
      }
      await end.sleep(for: duration, in: session.timers)
      end.request()
      if case .frame(let frame) = message, ring.connection.isConnected {
        for closing in CommandTable.closing(frame) { try? await ring.send(.frame(closing)) }
      }
      let isExpected = CommandTable.consequence(of: message) != nil
      if let loss, !isExpected { throw Failure(.connectionLost, "the connection was lost: \(loss)") }
    }
    await link.close()
  }
}

/// Reads the message to send; refuses one that can damage a ring.
private func rawMessage(_ invocation: Invocation) throws(Failure) -> RingMessage {
  let text = invocation.positionals[0]
  guard let bytes = Hex.bytes(text), let first = bytes.first else {
    throw .usage(
      "\"\(text.printable)\" is not a frame; give bytes as pairs of hexadecimal digits, such as A104")
  }
  if invocation[RawOption.bulk] {
    guard bytes.count <= BulkFrame.maximumPayload else {
      throw .usage("a bulk frame has at most \(BulkFrame.maximumPayload) bytes, not \(bytes.count)")
    }
    let id = BulkID(rawValue: first)
    if let danger = CommandTable.danger(of: id) { throw Failure(RingError.dangerous(danger)) }
    return .bulk(id, payload: Array(bytes.dropFirst()))
  }
  // A ring acts on the first byte, even if the frame is malformed.
  if let danger = CommandTable.danger(ofWriting: bytes) { throw Failure(RingError.dangerous(danger)) }
  do throws(RingFrameError) {
    let frame = try RingFrame(completing: bytes)
    if let danger = CommandTable.danger(of: frame) {
      throw RingFrameError.value(RingError.dangerous(danger).description)
    }
    return .frame(frame)
  } catch {
    throw .usage(error.description)
  }
}

/// Prints the frames in both directions, explained.
@BluetoothActor
private final class TrafficWriter {
  let printer: TimedPrinter
  private(set) var received = 0
  /// The command that was sent last.
  private var pending: RingCommand?

  init(_ live: LiveOutput, _ ring: RingClient) async throws(Failure) {
    printer = try await TimedPrinter(
      live, of: ring, ["direction", "channel", "bytes", "name", "form", "fields", "refusal"],
      showsTime: false)
  }

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

  private func print(_ meaning: DecodedFrame, isFromRing: Bool, at time: Instant) {
    let lines = Self.lines(
      meaning.fields.map { field in
        let bytes =
          field.range.count == 1
          ? "byte \(field.range.lowerBound)"
          : "bytes \(field.range.lowerBound) to \(field.range.upperBound - 1)"
        return (field.name, "\(field.value)   [\(bytes)]")
      })
    put(
      isFromRing, "command", meaning.frame.bytes, name: meaning.name, form: meaning.form?.name,
      fields: meaning.fields.map { "\($0.name)=\($0.value)" },
      refusal: meaning.refusal?.code.description, lines, at: time)
  }

  private func print(_ id: BulkID, _ payload: [UInt8], isFromRing: Bool, at time: Instant) {
    let meaning = CommandTable.meaning(ofBulk: id, payload, isFromRing: isFromRing)
    let lines = Self.lines(
      meaning.values.map { (String(repeating: "  ", count: $0.depth) + $0.name, $0.text) })
    put(
      isFromRing, "bulk", [id.rawValue] + payload, name: id.description, form: meaning.form,
      fields: ["payload=\(Hex.string(payload))"]
        + meaning.values.filter { !$0.text.isEmpty }.map { "\($0.name)=\($0.text)" }, refusal: nil,
      ["    \(Console.counted(payload.count, "byte")) of payload"] + lines, at: time)
  }

  /// A line for each value, the texts below each other; a value without a text is a heading.
  private static func lines(_ values: [(name: String, text: String)]) -> [String] {
    let width = (values.map(\.name.count).max() ?? 0) + 2
    return values.map { name, text in
      "    " + name + (text.isEmpty ? "" : String(repeating: " ", count: width - name.count) + text)
    }
  }

  private func put(
    _ isFromRing: Bool, _ channel: String, _ bytes: [UInt8], name: String?, form: String?, fields: [String],
    refusal: String?, _ lines: [String], at time: Instant
  ) {
    let title = [name, refusal.map { "refused: \($0)" } ?? form].compactMap { $0 }.joined(separator: ", ")
    printer.print(
      isFromRing ? "in" : "out",
      [
        "direction": .text(isFromRing ? "in" : "out"), "channel": .text(channel),
        "bytes": .text(Hex.string(bytes)), "name": .text(name), "form": .text(form),
        "fields": .list(fields), "refusal": .text(refusal),
      ],
      at: time,
      text: (["\(isFromRing ? "<" : ">") \(Hex.string(bytes, separator: " "))   \(title)"] + lines)
        .joined(separator: "\n"))
  }
}
