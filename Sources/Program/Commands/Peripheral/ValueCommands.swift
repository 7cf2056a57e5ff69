import ATT
import GAP
import HaloGATT
import HaloBluetoothCore
import HaloViews
import HaloCommandLine
import RingLink

let readCommand = CommandSpec(
  name: "read", arguments: "[DEVICE]", summary: "read a value of any length, and decode it",
  options: AttributeChoice.options + [CommonOptions.format], rules: [AttributeChoice.rule],
  examples: [
    ("halo-raw read R02_BEEF --uuid 2A26 --adapter virtual", "read the firmware revision"),
    ("halo-raw read R02_BEEF --handle 0x0007 --adapter virtual", "read the attribute with this handle"),
  ],
  details: """
    A value is printed as hexadecimal digits, and as text if it is text. With --uuid, values of the Bluetooth SIG are also
    printed in words: the battery level as "87 percent". csv and jsonl have both: "text" and "decoded".
    """
) { invocation in
  let choice = try AttributeChoice(invocation)
  try await Session.run(invocation) { session in
    let values = try await session.withDevice { connection, _ in
      try await connection.gatt.read(choice)
    }
    var printer = RecordPrinter(OutputFormat(invocation), valueColumns)
    for value in values {
      let meaning = DecodedValue(value.value, of: choice.uuid)
      printer.print(
        valueFields(value.handle, choice.uuid, value.value, meaning), text: meaning.description)
    }
  }
}

private enum WriteOption {
  static let text = Option("--text", as: .text, help: "write this text as UTF-8, instead of HEX")
  static let withoutResponse = Flag(
    "--without-response", help: "do not wait for the peer to confirm the write, even if it would")
  static let signed = Flag(
    "--signed", help: "sign the write with the bond, and leave the link in clear")
}

let writeCommand = CommandSpec(
  name: "write", arguments: "[DEVICE] HEX", summary: "write a value, with or without response",
  positionals: 0...2,
  options: AttributeChoice.options + [
    WriteOption.text, WriteOption.withoutResponse, WriteOption.signed, CommonOptions.format,
  ],
  rules: [
    AttributeChoice.rule, .exclusive([WriteOption.withoutResponse, WriteOption.signed]),
    .excludes(WriteOption.signed, [CommonOptions.bond]),
  ],
  examples: [
    (
      "halo-raw write R02_BEEF --uuid 6E400002-B5A3-F393-E0A9-E50E24DCCA9E 03000000000000000000000000000003 --adapter virtual",
      "send the battery command, byte by byte"
    )
  ],
  details: """
    A characteristic is written as its properties allow: with response where it can be, else without response. What they
    forbid is refused. An attribute that is not the value of a characteristic is written with response.

    A value that does not fit into one packet is written in parts that take effect together.

    With --signed, the link to a device with a bond is not encrypted, which saves time, and the device knows by a signature who
    has written. It does not say whether it has taken the value; anybody can read it. Devices are few that take signed writes:
    inspect shows "signed write". Over an encrypted link, these take writes without response.
    """
) { invocation in
  let choice = try AttributeChoice(invocation)
  let value = try valueToWrite(invocation)
  let isSigned = invocation[WriteOption.signed]
  let wanted: WriteWay? =
    isSigned
    ? .withoutResponse(.signed) : invocation[WriteOption.withoutResponse] ? .withoutResponse(.plain) : nil
  let danger = CommandTable.danger(ofWriting: value).map { Failure(RingError.dangerous($0)) }
  if let danger, let uuid = choice.uuid, RingGATT.takesCommands(uuid) { throw danger }
  var device = invocation
  if !invocation.isGiven(WriteOption.text) { device.positionals.removeLast() }
  let target = device
  try await Session.run(target) { session in
    if isSigned { session.leaveInClear() }
    let (target, way) = try await session.withDevice { connection, link in
      if let danger, case .handle = choice, await connection.gatt.takesCommands(choice) { throw danger }
      let target = try await connection.gatt.target(of: choice)
      let way = try target.characteristic?.way(wanted) ?? wanted ?? .withResponse
      // The value that was sent may have been taken.
      link.dataFlow()
      try await connection.gatt.write(value, to: target.handle, way)
      await link.close()
      guard way == .withResponse || !connection.hasUnsentWrites else {
        throw Failure(.timedOut, "the link took 2 s, and has not sent the value; the peer may not have it")
      }
      return (target, way)
    }
    var printer = RecordPrinter(OutputFormat(invocation), valueColumns)
    let uuid = choice.uuid ?? target.characteristic?.uuid
    printer.print(
      valueFields(target.handle, uuid, value, DecodedValue(value, of: uuid)),
      text: "\(value.count) bytes written to \(target.handle)" + (way.note.map { ", \($0)" } ?? ""))
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
  return try value(ofDigits: text)
}

private func value(ofDigits text: String) throws(Failure) -> [UInt8] {
  guard let value = Hex.bytes(text) else {
    throw .usage(
      "\"\(text.printable)\" is not a value; give bytes as pairs of hexadecimal digits, such as A104, or use --text"
    )
  }
  guard value.count <= ATTBearer.maximumValueLength else { throw Failure(StackError.tooLong(value.count)) }
  return value
}

/// A value as it is written to, in one text: pairs of hexadecimal digits, or `--text` and the text.
func value(of text: String) throws(Failure) -> [UInt8] {
  let option = WriteOption.text.spec.name + " "
  guard text.hasPrefix(option) else {
    // The output of a command may have its digits in several lines.
    return try value(ofDigits: text.split(whereSeparator: \.isWhitespace).joined(separator: " "))
  }
  let value = Array(text.utf8.dropFirst(option.utf8.count))
  guard value.count <= ATTBearer.maximumValueLength else { throw Failure(StackError.tooLong(value.count)) }
  return value
}

private enum SubscribeOption {
  static let indicate = Flag("--indicate", help: "ask for indications if the peer offers both")
  static let force = Flag(
    "--force", help: "write nothing, and listen: where the descriptor or the property is missing")
  static let count = Option("--count", as: .count, help: "stop after N values")
  static let duration = Option(
    "--duration", as: .timeLimit, help: "stop after this time (default: 0, no limit)")
}

let subscribeCommand = CommandSpec(
  name: "subscribe", arguments: "[DEVICE]", summary: "print values each time the peer sends them",
  options: AttributeChoice.listOptions + [
    SubscribeOption.indicate, SubscribeOption.force, SubscribeOption.count, SubscribeOption.duration,
    CommonOptions.retryTime,
  ] + LiveOption.all,
  examples: [
    (
      "halo-raw subscribe R02_BEEF --uuid 2A05 --duration 2s --adapter virtual",
      "print changes of the services"
    ),
    (
      "halo-raw subscribe R02_BEEF --uuid 2A05,6E400003-B5A3-F393-E0A9-E50E24DCCA9E --duration 2s --adapter virtual",
      "two characteristics; each line names its own"
    ),
  ],
  details: """
    Values are printed as read prints them. All characteristics with the UUID are subscribed to. "seq" counts the values of each characteristic from 0, also over a new
    connection; a record of kind "gap" marks the loss of a connection, with the reason.
    """
) { invocation in
  let choices = try AttributeChoice.list(invocation)
  let count = invocation[SubscribeOption.count]
  let duration = invocation[SubscribeOption.duration]?.ifLimited
  let kind: SubscriptionKind? = invocation[SubscribeOption.indicate] ? .indication : nil
  let onlyListens = invocation[SubscribeOption.force]
  if onlyListens, kind != nil { throw Failure.usage("--indicate and --force exclude each other") }
  try await Session.run(invocation, endsInOrder: true) { session in
    let live = try await LiveOutput(invocation, session)
    let listener = ValueListener(
      live, isOfSeveral: choices.count > 1, count: count, duration: duration, session.interruption)
    // Discover on each link: after a restart, the table may differ.
    let link = session.keepDevice(ReconnectPolicy.Budget(invocation, isSteady: true)) {
      connection in
      try await listener.begin(connection)
      try await listener.subscribe(connection, choices, kind, onlyListens: onlyListens)
    }
    listener.onData = link.dataFlow
    _ = try await link.open()
    try await live.complete(link) {
      Console.hint("subscribed; Ctrl-C ends it")
      try await link.listen { _ in
        guard let loss = try await listener.wait() else { return }
        live.printer?.markGap("connection lost: \(loss)")
        throw Failure(.connectionLost, "the connection was lost: \(loss)", .link)
      }
    }
    await listener.unsubscribe()
    await link.close()
  }
}

/// Prints the values of subscriptions, up to a count or a time.
@BluetoothActor
private final class ValueListener {
  /// The link of now.
  private(set) var connection: GATTLink?
  private let live: LiveOutput
  /// Nil until the device is known.
  private var printer: TimedPrinter?
  /// Whether each line of text names its characteristic.
  private let isOfSeveral: Bool
  private let count: Int?
  private let duration: Duration?
  private let interruption: Interruption
  private var printed = 0
  private var isDone = false
  private var onEnd: OneShot<LinkLoss?>?
  private var subscriptions: [Subscription] = []
  /// Where values are that have moved during the subscription.
  private var moved: [AttributeHandle: AttributeHandle] = [:]
  /// Called for each value.
  var onData: (() -> Void)?
  /// Why a subscription ended although the link is up.
  private var end: StackError?
  private var timer: Timers.Token?

  init(
    _ live: LiveOutput, isOfSeveral: Bool, count: Int?, duration: Duration?, _ interruption: Interruption
  ) {
    self.live = live
    self.isOfSeveral = isOfSeveral
    self.count = count
    self.duration = duration
    self.interruption = interruption
  }

  /// Describes the records, when the device is known.
  func begin(_ connection: GATTLink) async throws(Failure) {
    guard self.connection == nil else { return }
    self.connection = connection
    printer = try await TimedPrinter(live, of: connection, ["kind"] + valueColumns + ["note"])
  }

  /// Finds the characteristics and subscribes to them.
  func subscribe(
    _ connection: GATTLink, _ choices: [AttributeChoice], _ kind: SubscriptionKind?, onlyListens: Bool
  ) async throws(StackError) {
    self.connection = connection
    let gatt = connection.gatt
    subscriptions = []
    moved = [:]
    try await gatt.exchangeMTU()
    let characteristics = try await gatt.whileServicesChange { () throws(StackError) in
      try await gatt.find(choices)
    }
    gatt.onSubscriptionMoved = { [weak self] subscription in
      guard let self, let first = subscriptions.first(where: { $0 == subscription }) else { return }
      moved[first.handle] = subscription.handle
    }
    let onEnd = { (reason: StackError) in
      // The loss of the link is reported with its reason.
      if reason.code == .closed { return }
      self.end = reason
      self.finish(nil)
    }
    for characteristic in characteristics {
      let sink = { (value: RawSpan, time: Instant) in self.take(characteristic, value, at: time) }
      subscriptions.append(
        onlyListens
          ? gatt.listen(to: characteristic, onEnd: onEnd, sink: sink)
          : try await gatt.subscribe(to: characteristic, as: kind, onEnd: onEnd, sink: sink))
    }
    guard timer == nil, let duration else { return }
    timer = connection.timers.schedule(after: duration) { self.finish(nil) }
  }

  /// Unsubscribes. If the peer does not answer, the end of the link ends the subscriptions.
  func unsubscribe() async {
    guard let connection else { return }
    connection.timers.cancel(timer)
    for subscription in subscriptions { try? await connection.gatt.unsubscribe(subscription) }
  }

  func take(_ characteristic: Characteristic, _ value: RawSpan, at time: Instant) {
    guard !isDone else { return }
    let bytes = Array(value)
    let uuid = characteristic.uuid
    let meaning = DecodedValue(bytes, of: uuid)
    let handle = moved[characteristic.valueHandle] ?? characteristic.valueHandle
    let fields = zip(valueColumns, valueFields(handle, uuid, bytes, meaning))
    printer?.print(
      "\(characteristic.valueHandle)", ["kind": .text("value")].merging(fields) { $1 }, at: time,
      text: (isOfSeveral ? "\(GATTUUID.attributeName(of: uuid) ?? uuid.description)  " : "")
        + meaning.description)
    printed += 1
    onData?()
    if printed == count || printer?.hasFailed == true { finish(nil) }
  }

  /// - Parameter loss: why the link was lost; nil if it was not
  private func finish(_ loss: LinkLoss?) {
    if loss == nil { isDone = true }
    onEnd?(loss)
  }

  /// Waits for the last value, the end of the time, an interruption, or the loss of the link.
  ///
  /// - Returns: why the link was lost, if it was
  /// - Throws: why a subscription ended although the link is up
  func wait() async throws(Failure) -> LinkLoss? {
    var forget: (() -> Void)?
    let loss = await withCheckedContinuation { (continuation: CheckedContinuation<LinkLoss?, Never>) in
      onEnd = OneShot { continuation.resume(returning: $0) }
      // Asked here: an end that came between a question before and this place would be missed.
      guard end == nil, !isDone else { return finish(nil) }
      forget = interruption.onRequest { self.finish(nil) }
      connection?.whenDisconnected { self.finish($0) }
    }
    forget?()
    if let end { throw Failure(end) }
    return isDone ? nil : loss
  }
}
