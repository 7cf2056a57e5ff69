import ATT
import BluetoothCore
import EventLoop
import GATTClient
import LineOutput
import RingLink

let readCommand = CommandSpec(
  name: "read", arguments: "[DEVICE]", summary: "read a value of any length", positionals: 0...1,
  options: AttributeChoice.options + [CommonOptions.format], rules: [AttributeChoice.rule],
  examples: [
    ("halo-raw read R02_BEEF --uuid 2A26 --adapter virtual", "read the firmware revision"),
    ("halo-raw read R02_BEEF --handle 0x0007 --adapter virtual", "read the attribute with this handle"),
  ]
) { invocation throws(Failure) in
  let choice = try AttributeChoice(invocation)
  let format = OutputFormat(invocation)
  try await Session.run(invocation) { session throws(Failure) in
    let client = try await session.connect()
    let values = try await gattFailure(await client.read(choice))
    var printer = RecordPrinter(format, valueColumns)
    for value in values {
      printer.print(valueFields(value.handle, choice.uuid, value.value), text: describe(value.value))
    }
  }
}

private enum WriteOption {
  static let text = Option("--text", as: .text, help: "write this text as UTF-8, instead of HEX")
  static let withoutResponse = Flag(
    "--without-response", help: "do not wait for the peer to confirm the write")
}

let writeCommand = CommandSpec(
  name: "write", arguments: "[DEVICE] HEX", summary: "write a value, with or without response",
  positionals: 0...2,
  options: AttributeChoice.options + [WriteOption.text, WriteOption.withoutResponse, CommonOptions.format],
  rules: [AttributeChoice.rule],
  examples: [
    (
      "halo-raw write R02_BEEF --uuid 6E400002-B5A3-F393-E0A9-E50E24DCCA9E 03000000000000000000000000000003 --adapter virtual",
      "send the battery command, byte by byte"
    )
  ],
  details: "A value that does not fit into one packet is written in parts that take effect together."
) { invocation throws(Failure) in
  let choice = try AttributeChoice(invocation)
  let value = try valueToWrite(invocation)
  let format = OutputFormat(invocation)
  let hasResponse = !invocation[WriteOption.withoutResponse]
  let danger = CommandTable.danger(ofWriting: value).map { Failure(RingError.dangerous($0)) }
  if let danger, let uuid = choice.uuid, RingGATT.takesCommands(uuid) { throw danger }
  var device = invocation
  if !invocation.isGiven(WriteOption.text) { device.positionals.removeLast() }
  let target = device
  try await Session.run(target) { session throws(Failure) in
    let client = try await session.connect()
    if let danger, case .handle = choice, await client.takesCommands(choice) { throw danger }
    let handle = try await gattFailure(await client.write(value, to: choice, hasResponse: hasResponse))
    var printer = RecordPrinter(format, valueColumns)
    printer.print(
      valueFields(handle, choice.uuid, value), text: "\(value.count) bytes written to \(handle)")
  }
}

private func valueToWrite(_ invocation: Invocation) throws(Failure) -> [UInt8] {
  if let text = invocation[WriteOption.text] {
    guard invocation.positionals.count <= 1 else {
      throw .usage("--text and \"\(invocation.positionals[1].printable)\" exclude each other")
    }
    return Array(text.utf8)
  }
  guard let text = invocation.positionals.last else {
    throw .usage("missing value; give bytes as hexadecimal digits, or --text TEXT")
  }
  guard let value = Hex.bytes(text) else {
    throw .usage(
      "\"\(text.printable)\" is not a value; give bytes as pairs of hexadecimal digits, such as A104, or use --text"
    )
  }
  guard value.count <= 512 else { throw Failure(GATTError.tooLong(value.count)) }
  return value
}

private enum SubscribeOption {
  static let indicate = Flag("--indicate", help: "ask for indications if the peer offers both")
  static let count = Option("--count", as: .count, help: "stop after N values")
  static let duration = Option("--duration", as: .time, help: "stop after this time")
}

let subscribeCommand = CommandSpec(
  name: "subscribe", arguments: "[DEVICE]", summary: "print a value each time the peer sends it",
  positionals: 0...1,
  options: AttributeChoice.options + [
    SubscribeOption.indicate, SubscribeOption.count, SubscribeOption.duration, CommonOptions.retryTime,
  ] + LiveOption.all,
  rules: [AttributeChoice.rule],
  examples: [
    (
      "halo-raw subscribe R02_BEEF --uuid 2A05 --duration 2s --adapter virtual",
      "print changes of the services"
    )
  ]
) { invocation throws(Failure) in
  let choice = try AttributeChoice(invocation)
  let count = invocation[SubscribeOption.count]
  let duration = invocation[SubscribeOption.duration]
  let kind: SubscriptionKind? = invocation[SubscribeOption.indicate] ? .indication : nil
  let retryTime = invocation[CommonOptions.retryTime]
  try await Session.run(invocation, endsInOrder: true) { session throws(Failure) in
    session.waitsForAdapter = retryTime > .zero
    let live = try LiveOutput(invocation, session)
    let client = try await session.interruption.cancels { () async throws(Failure) in
      try await session.connect()
    }
    try await live.begin(client, columns: ValueListener.columns)
    let listener = ValueListener(live, client, count: count, duration: duration, session.interruption)
    try await live.complete({ listener.client }) { () async throws(Failure) in
      try await session.interruption.cancels { () async throws(Failure) in
        try await gattFailure(await listener.subscribe(client, choice, kind))
      }
      while let loss = try await listener.wait() {
        guard retryTime > .zero, session.canGoOn else {
          throw Failure(.connectionLost, "the connection was lost: \(loss)")
        }
        session.note("connection lost: \(loss); trying again")
        try await session.interruption.cancels { () async throws(Failure) in
          let again = try await session.reconnect(to: client.peer, within: retryTime)
          // Discover again: after a restart, the table may differ.
          try await gattFailure(await listener.subscribe(again, choice, kind))
        }
      }
    }
    await listener.unsubscribe()
    await listener.client.disconnect()
  }
}

/// Prints the values of a subscription, up to a count or a time.
@BluetoothActor
private final class ValueListener {
  /// The link of now.
  private(set) var client: GATTClient
  private var printer: TimedPrinter
  private let count: Int?
  private let duration: Duration?
  private let interruption: Interruption
  private var printed = 0
  private var isDone = false
  private var onEnd: OneShot<LinkLoss?>?
  private var subscription: Subscription?
  /// The handle of the value, which may change during the subscription.
  private var handle: AttributeHandle?
  /// Why the subscription ended although the link is up.
  private var end: GATTError?
  private var timer: Timers.Token?

  /// The names of all columns.
  static let columns = (TimedPrinter.columns + valueColumns).map(\.name)

  init(
    _ live: LiveOutput, _ client: GATTClient, count: Int?, duration: Duration?, _ interruption: Interruption
  ) {
    self.client = client
    printer = TimedPrinter(live, valueColumns)
    self.count = count
    self.duration = duration
    self.interruption = interruption
  }

  /// Finds the characteristic and subscribes to it.
  func subscribe(
    _ client: GATTClient, _ choice: AttributeChoice, _ kind: SubscriptionKind?
  ) async throws(GATTError) {
    self.client = client
    try await client.exchangeMTU()
    let characteristic = try await client.find(choice)
    handle = characteristic.valueHandle
    client.onSubscriptionMoved = { [weak self] in self?.handle = $0.handle }
    subscription = try await client.subscribe(
      to: characteristic, as: kind,
      onEnd: { reason in
        // The loss of the link is reported with its reason.
        if case .att(.closed) = reason { return }
        self.end = reason
        self.finish(nil)
      },
      sink: { value, time in self.take(characteristic, value, at: time) })
    guard timer == nil, let duration else { return }
    timer = client.timers.schedule(after: duration) { self.finish(nil) }
  }

  /// Unsubscribes. If the peer does not answer, the end of the link ends the subscription.
  func unsubscribe() async {
    client.timers.cancel(timer)
    guard let subscription else { return }
    try? await client.unsubscribe(subscription)
  }

  func take(_ characteristic: Characteristic, _ value: RawSpan, at time: Instant) {
    guard !isDone else { return }
    let bytes = Array(value)
    printer.print(
      "value",
      valueFields(handle ?? characteristic.valueHandle, characteristic.uuid, bytes), at: time,
      text: describe(bytes))
    printed += 1
    if printed == count || printer.hasFailed { finish(nil) }
  }

  /// - Parameter loss: why the link was lost; nil if it was not
  private func finish(_ loss: LinkLoss?) {
    if loss == nil { isDone = true }
    onEnd?(loss)
  }

  /// Waits for the last value, the end of the time, an interruption, or the loss of the link.
  ///
  /// - Returns: why the link was lost, if it was
  /// - Throws: why the subscription ended although the link is up
  func wait() async throws(Failure) -> LinkLoss? {
    if let end { throw Failure(end) }
    guard !isDone else { return nil }
    var forget: (() -> Void)?
    let loss = await withCheckedContinuation { (continuation: CheckedContinuation<LinkLoss?, Never>) in
      onEnd = OneShot { continuation.resume(returning: $0) }
      forget = interruption.onRequest { self.finish(nil) }
      client.whenDisconnected { self.finish($0) }
    }
    forget?()
    if let end { throw Failure(end) }
    return isDone ? nil : loss
  }
}

extension GATTClient {
  /// Whether a handle may be one of the ring's own characteristics. If discovery fails, it counts as one.
  fileprivate func takesCommands(_ choice: AttributeChoice) async -> Bool {
    do throws(GATTError) {
      return RingGATT.takesCommands(try await find(choice).uuid)
    } catch .notFound {
      return false
    } catch {
      return true
    }
  }

  /// Writes the selected value.
  ///
  /// - Returns: its handle
  fileprivate func write(
    _ value: [UInt8], to choice: AttributeChoice, hasResponse: Bool
  ) async throws(GATTError) -> AttributeHandle {
    try await exchangeMTU()
    let handle =
      switch choice {
      case .handle(let handle): handle
      case .uuid: try await find(choice).valueHandle
      }
    if hasResponse {
      try await write(value, to: handle)
    } else {
      try await writeWithoutResponse(value, to: handle, within: .seconds(10))
      // It is sent with the next connection event. Only a read can confirm it.
      await timers.sleep(for: .milliseconds(100))
    }
    return handle
  }

  /// Reads the selected values: that of a handle, or all with a UUID.
  fileprivate func read(_ choice: AttributeChoice) async throws(GATTError) -> [ATTHandleAndValue] {
    try await exchangeMTU()
    switch choice {
    case .handle(let handle): return [ATTHandleAndValue(handle: handle, value: try await read(handle))]
    case .uuid(let uuid):
      var values: [ATTHandleAndValue] = []
      for found in try await read(uuid: uuid) {
        // The list holds only the first bytes of long values.
        values.append(ATTHandleAndValue(handle: found.handle, value: try await read(found.handle)))
      }
      guard !values.isEmpty else { throw .notFound("value with the UUID \(uuid)") }
      return values
    }
  }
}
