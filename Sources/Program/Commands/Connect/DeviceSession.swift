import GAP
import HaloGATT
import HaloBluetoothCore
import HaloCommandLine
import RingLink

/// A session with a device: takes lines, one after the other, and prints their results and the values of the device.
@BluetoothActor
final class DeviceSession {
  private let session: Session
  private let keepsGoing: Bool
  /// The lines that wait; nil is the end.
  private var waiting: [InputLines.Line?] = []
  private let input = LineInput(longestLine: longestLine)
  private let output: SessionOutput
  private var hasStarted = false
  /// Called when there is a line, or the link is lost, or the end is wanted.
  private var wake: (() -> Void)?
  private var failure: Failure?
  private var isDone = false
  /// Asks about pairings; its answers are lines.
  private var agent: PersonAgent?

  private var connection: GATTLink?
  private var table = AttributeList()
  private let subscriptions: SessionSubscriptions
  /// Called when the device has sent something.
  var onData: (() -> Void)?

  /// In bytes.
  private static let longestLine = 2048
  /// How many lines of a script wait.
  private static let mostWaiting = 64

  init(_ live: LiveOutput, _ session: Session, keepsGoing: Bool) {
    // The output is closed: the session has no purpose any more.
    output = SessionOutput(live) { [weak session] in session?.interruption.request() }
    subscriptions = SessionSubscriptions(output)
    self.session = session
    self.keepsGoing = keepsGoing
    subscriptions.onValue = { [weak self] in
      self?.onData?()
      self?.wake?()
    }
  }

  // MARK: The link

  /// Finds the table on a new link, and subscribes again.
  func begin(_ connection: GATTLink) async throws {
    self.connection = connection
    try await output.begin(connection)
    try await connection.gatt.exchangeMTU()
    table = try await AttributeList(connection.gatt)
    output.isOfRing = table.isOfRing
    output.editor?.words = table.words + SessionLine.forms.map(\.word)
    try await subscriptions.renew(table, on: connection.gatt)
  }

  /// Takes lines until the end, or the loss of the link.
  ///
  /// - Returns: why the link is lost; nil if the end is wanted
  func run(_ connection: GATTLink) async throws(Failure) -> LinkLoss? {
    connection.whenDisconnected { [weak self] _ in self?.wake?() }
    // The device is ready: from now on, a loss has the time of --retry-for.
    onData?()
    start()
    while !isDone, !session.interruption.isRequested {
      if let loss = connection.loss { return loss }
      guard !waiting.isEmpty else {
        await wait(until: nil)
        continue
      }
      guard let line = waiting.removeFirst() else { break }
      input.isPaused = waiting.count >= Self.mostWaiting
      await take(line, on: connection)
      if !isDone { output.editor?.next() }
    }
    return nil
  }

  /// Takes no more lines, and gives the terminal back.
  func stop() {
    output.editor?.stop()
    input.stop()
  }

  /// - Throws: the failure that has ended a script
  func finish() throws(Failure) {
    if let failure { throw failure }
  }

  func unsubscribe() async {
    if let connection, connection.isConnected { await subscriptions.end(on: connection.gatt) }
  }

  func markGap(_ reason: String) { output.markGap(reason) }

  // MARK: Lines

  private func start() {
    guard !hasStarted else { return }
    hasStarted = true
    defer { beginAsking() }
    let name = session.ringName ?? connection?.peer.description ?? "device"
    output.editor = LineEditor(prompt: "\(name.printable)> ") { [self] text in
      if agent?.take(text) == true { return }
      waiting.append(text.map { InputLines.Line(typed: $0) })
      wake?()
    }
    output.editor?.words = table.words + SessionLine.forms.map(\.word)
    Console.hint("connected; help lists the commands, Ctrl-D ends the session")
    if let editor = output.editor { return editor.next() }
    _ = input.start { [self] line in
      waiting.append(line)
      input.isPaused = waiting.count >= Self.mostWaiting
      wake?()
    }
  }

  /// On a terminal, a device that wants it is paired with when the person agrees.
  private func beginAsking() {
    guard let editor = output.editor else { return }
    let agent = PersonAgent(.keyboardDisplay, allowsJustWorks: false) { [output] text in
      output.above { Console.error(text) }
    }
    agent.onQuestion = { editor.next() }
    self.agent = agent
    session.security.agent = agent
    session.security.settings.policy = .ask
  }

  /// A script says itself when to pair; there is nobody to ask.
  private func pair(_ connection: GATTLink) async throws(StackError) {
    let settings = session.security.settings
    if agent == nil { session.security.settings.policy = .justWorks }
    defer { session.security.settings = settings }
    try await connection.secure(to: .encrypted)
    let security = connection.security
    let text =
      "paired: \(security.isAuthenticated ? "" : "not ")authenticated, key of \(security.keySize) bytes"
    output.print("link", note: text, text: text)
  }

  /// Waits for a line, the loss of the link, an interruption, or this time.
  private func wait(until time: Instant?) async {
    var forget: (() -> Void)?
    var timer: Timers.Token?
    await withCheckedContinuation { (continuation: CheckedContinuation<Void, Never>) in
      let end = OneShot<Void> { continuation.resume() }
      wake = { end() }
      forget = session.interruption.onRequest { end() }
      if let time { timer = session.timers.schedule(at: time) { end() } }
    }
    wake = nil
    forget?()
    session.timers.cancel(timer)
  }

  private func take(_ line: InputLines.Line, on connection: GATTLink) async {
    do throws(Failure) {
      guard let text = line.text else { throw .usage("the line is longer than \(Self.longestLine) bytes") }
      guard let command = try SessionLine(text) else { return }
      let result = await outcome { [self] in
        try await session.interruption.cancels { try await self.perform(command, on: connection) }
      }
      try result.get()
    } catch {
      guard !session.interruption.isRequested else { return }
      output.print("error", note: error.message, text: nil)
      let place = line.number > 0 ? "line \(line.number): " : ""
      output.above { Console.error("halo-raw: \(place)\(error.message)") }
      guard output.editor == nil, !keepsGoing else { return }
      failure = Failure(error.code, "the session ended at line \(line.number)")
      isDone = true
    }
  }

  private func perform(_ line: SessionLine, on connection: GATTLink) async throws {
    switch line {
    case .services: output.print(table)
    case .read(let choice): try await read(choice, connection.gatt)
    case .write(let choice, let value, let isWithoutResponse):
      try await write(value, to: choice, isWithoutResponse: isWithoutResponse, connection)
    case .subscribe(let choice, let kind):
      try await subscriptions.add(choice, kind, table, on: connection.gatt)
    case .unsubscribe(let choice): try await subscriptions.remove(choice, table, on: connection.gatt)
    case .send(let bytes, let isConfirmed): try await send(bytes, isConfirmed: isConfirmed, connection)
    case .pair: try await pair(connection)
    case .info: await output.printLink(connection)
    case .pause(let time): try await pause(until: session.timers.current + time, connection)
    case .await(let choice, let time): try await awaitValue(of: choice, time, connection)
    case .help: output.above { Console.print(SessionLine.helpText) }
    case .quit: isDone = true
    }
  }

  // MARK: Reading and writing

  private func read(_ choice: AttributeChoice, _ gatt: GATTClient) async throws {
    let found = table.characteristics(choice)
    guard !found.isEmpty else {
      guard case .handle(let handle) = choice else { throw Failure(StackError.notFound(choice.title)) }
      return output.printValue("read", handle, table.uuid(at: handle), try await gatt.read(handle))
    }
    for characteristic in found {
      output.printValue(
        "read", characteristic.valueHandle, characteristic.uuid, try await gatt.read(characteristic))
    }
  }

  private func write(
    _ value: [UInt8], to choice: AttributeChoice, isWithoutResponse: Bool, _ connection: GATTLink
  ) async throws {
    let found = table.characteristics(choice)
    guard found.count < 2 else {
      throw Failure.usage("\(found.count) characteristics have this UUID; name the handle")
    }
    let uuid = found.first?.uuid
    if let uuid, table.isOfRing, RingGATT.takesCommands(uuid),
      let danger = CommandTable.danger(ofWriting: value)
    {
      throw Failure(RingError.dangerous(danger))
    }
    guard let handle = found.first?.valueHandle ?? choice.handle else {
      throw Failure(StackError.notFound(choice.title))
    }
    let wanted: WriteWay? = isWithoutResponse ? .withoutResponse(.plain) : nil
    let way = try found.first?.way(wanted) ?? wanted ?? .withResponse
    subscriptions.forgetValues()
    // Before the answer, which may come first.
    output.printValue(
      "write", handle, uuid ?? table.uuid(at: handle), value, note: way.note)
    try await connection.gatt.write(value, to: handle, way)
  }

  private func send(_ bytes: [UInt8], isConfirmed: Bool, _ connection: GATTLink) async throws {
    guard let target = table.frameTarget else {
      throw Failure.usage("send is for rings; this device has no characteristic for their frames")
    }
    if let danger = CommandTable.danger(ofWriting: bytes) { throw Failure(RingError.dangerous(danger)) }
    let frame: RingFrame
    do throws(RingFrameError) {
      frame = try RingFrame(completing: bytes)
    } catch {
      throw Failure.usage("\(error)")
    }
    if let consequence = CommandTable.consequence(of: .frame(frame)), !isConfirmed {
      throw Failure.usage("\(consequence); add --yes to send it")
    }
    try await write(
      frame.bytes, to: .handle(target.valueHandle),
      isWithoutResponse: target.properties.contains(.writeWithoutResponse),
      connection)
  }

  private func pause(until time: Instant, _ connection: GATTLink) async throws(Failure) {
    while session.timers.current < time, !session.interruption.isRequested {
      try checkLink(connection)
      await wait(until: time)
    }
  }

  private func checkLink(_ connection: GATTLink) throws(Failure) {
    guard let loss = connection.loss else { return }
    throw Failure(.connectionLost, "the connection was lost: \(loss)")
  }

  private func awaitValue(
    of choice: AttributeChoice, _ time: Duration, _ connection: GATTLink
  ) async throws(Failure) {
    let end = session.timers.current + time
    while !(try subscriptions.takeValue(of: choice, table)) {
      guard !session.interruption.isRequested else { return }
      try checkLink(connection)
      guard session.timers.current < end else {
        throw Failure(.timedOut, "no value of \(choice.name) within \(decimal(time.inSeconds, 1)) s")
      }
      await wait(until: end)
    }
  }
}
