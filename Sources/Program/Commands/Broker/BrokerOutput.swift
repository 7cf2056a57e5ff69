import Glibc
import HaloBluetoothCore
import HaloCommandLine
import HaloSystem
import HaloStorage
import HaloMQTT

/// The broker of `--mqtt`, which gets the records of a command besides its output.
@BluetoothActor
final class BrokerOutput {
  nonisolated static let option = Option(
    "--mqtt", as: .broker,
    help: "send the records to this MQTT broker, too: mqtt:// or mqtts://[USER:PASSWORD@]HOST[:PORT]/PREFIX")

  /// The options that go with it.
  nonisolated static let all: [any CommandOption] = [
    option, BrokerPassword.option, discoveryOption, authorityOption, certificateOption, keyOption,
  ]

  private nonisolated static let discoveryOption = Option(
    "--mqtt-discovery", as: .discovery, default: HomeAssistant.standardPrefix,
    help: "with --mqtt: the prefix of Home Assistant's discovery, or off")
  private nonisolated static let authorityOption = Option(
    "--mqtt-ca", as: .file(.reads),
    help: "with mqtts: trust the authorities in this file (PEM), not those of the system")
  private nonisolated static let certificateOption = Option(
    "--mqtt-cert", as: .file(.reads), help: "with mqtts: the certificate of this client (PEM)")
  private nonisolated static let keyOption = Option(
    "--mqtt-key", as: .file(.reads), help: "the key of --mqtt-cert (PEM, without a password)")

  let topics: Topics
  /// The prefix of Home Assistant's discovery; nil if it is off.
  let discovery: String?
  /// Whether the command has its rings as long as it runs; values of other commands stay true after their end.
  let followsRings: Bool
  /// The name of the command, which is in the topics; of a history with its kind.
  let command: String
  let session: Session
  private let target: Publisher.Target
  private var address: BrokerAddress { target.address }
  // Set by open().
  private var publisher: Publisher?
  private var rings: [RingPublisher] = []
  /// Whether there was a connection.
  private var wasConnected = false
  private var isMissed = false
  private var isDropping = false
  private var unstored: QueueError?
  /// The reports about messages that the broker does not take.
  private var refusals: Set<String> = []

  /// How many of them are said.
  private static let mostRefusals = 16
  /// In seconds: how long the end may take.
  private nonisolated static let lastChance = 5.0

  private init(_ target: Publisher.Target, _ command: String, _ session: Session) {
    self.target = target
    topics = Topics(target.address.prefix)
    discovery = target.discovery
    followsRings = ["stream", "events", "sport"].contains(command)
    self.command = command
    self.session = session
  }

  /// Opens the queue for the broker, and begins to connect. An interruption ends the wait for the disk.
  ///
  /// - Parameter kind: distinguishes the records of a command that has several kinds
  /// - Returns: nil without `--mqtt`
  static func open(
    _ invocation: Invocation, _ session: Session, kind: String? = nil
  ) async throws(Failure) -> BrokerOutput? {
    guard let target = try target(invocation) else { return nil }
    guard let state = UserFolders.state else {
      throw Failure(.cannotOpenFile, "there is no folder for the queue of --mqtt; set HOME or XDG_STATE_HOME")
    }
    let command = [invocation.command.name, kind].compactMap { $0 }.joined(separator: "/")
    let output = BrokerOutput(target, command, session)
    let report: @Sendable (Publisher.Event) -> Void = { [weak output] event in
      BluetoothActor.run { output?.take(event) }
    }
    let folder = state + Self.folder
    let password = try BrokerPassword(invocation, of: target.address)
    output.publisher = try await session.interruption.cancels { () async throws(Failure) in
      try await offTheLoop(orInterrupted: "interrupted before the start") {
        var target = target
        target.address.password = try password.read()
        return try start(target, in: folder, report)
      }
    }
    return output
  }

  /// Where the queues are, in the folder for states.
  nonisolated static let folder = "/mqtt"

  /// The target that the options name.
  private static func target(_ invocation: Invocation) throws(Failure) -> Publisher.Target? {
    let security = BrokerSecurity(
      authorities: invocation[authorityOption], certificate: invocation[certificateOption],
      key: invocation[keyOption])
    guard let address = invocation[option] else { return nil }
    guard (security.certificate == nil) == (security.key == nil) else {
      throw .usage("--mqtt-cert and --mqtt-key go together")
    }
    guard address.usesTLS || security == BrokerSecurity() else {
      throw .usage("--mqtt-ca, --mqtt-cert and --mqtt-key need an address that begins with mqtts://")
    }
    for path in [security.authorities, security.certificate, security.key].compactMap({ $0 }) {
      guard access(path, R_OK) == 0 else {
        throw Failure(.cannotOpenFile, "cannot read \(FileError(path, .system(errno)))")
      }
    }
    let discovery = invocation[discoveryOption]
    return Publisher.Target(address, security: security, discovery: discovery.isEmpty ? nil : discovery)
  }

  private nonisolated static func start(
    _ target: Publisher.Target, in folder: String, _ report: @escaping @Sendable (Publisher.Event) -> Void
  ) throws(Failure) -> Publisher {
    let library: Mosquitto
    do throws(LibraryError) {
      library = try Mosquitto.shared.get()
    } catch {
      throw Failure(
        .systemError,
        error.isMissing
          ? "libmosquitto is missing; sudo apt install libmosquitto1"
          : "--mqtt: \(error); raise the limit of memory if there is one (ulimit -v), or install the library again"
      )
    }
    let queue: MessageQueue
    do throws(FileError) { try PrivateFolder.make(folder) } catch {
      throw Failure(ExitCode(error), "cannot make the folder of the queue of --mqtt: \(error)")
    }
    do throws(QueueError) {
      let path = "\(folder)/\(target.address.fileName)\(QueueFile.suffix)"
      let (opened, damaged) = try MessageQueue.openOrReplace(path: path)
      queue = opened
      if let damaged { report(.damaged(damaged)) }
    } catch {
      throw Failure(ExitCode(error), "--mqtt: \(error)")
    }
    guard let publisher = Publisher(library, target, queue: queue, report: report) else {
      throw Failure(.systemError, "there are no threads or no memory for --mqtt")
    }
    return publisher
  }

  func send(_ message: Message) { publisher?.add(message) }

  func withdraw(_ topics: Set<String>) { publisher?.withdraw(topics) }

  func add(_ ring: RingPublisher) { rings.append(ring) }

  private func take(_ event: Publisher.Event) {
    switch event {
    case .connected:
      if isMissed {
        say("connected to the MQTT broker \(address.title)")
      } else {
        session.note("connected to the MQTT broker \(address.title)")
      }
      (wasConnected, isMissed) = (true, false)
    case .refused(let reason):
      let text = "the MQTT broker \(address.title) refuses halo-raw: \(reason.printable)"
      // Not in the middle of a stream: the broker may be set up anew.
      guard wasConnected || isMissed else {
        return session.fail(Failure(.noPermission, "\(text); check the user and the password"))
      }
      isMissed = true
      say("\(text); what is sent is kept on disk")
    case .unreachable(let reason):
      isMissed = true
      say(
        "no connection to the MQTT broker \(address.title): \(reason.printable); "
          + "what is sent is kept on disk until there is one")
    case .dropping:
      if !isDropping { say("the queue for the MQTT broker is full: the oldest messages are dropped") }
      isDropping = true
    case .notStored(let error):
      if unstored != error { say("\(error); what is sent is kept in memory, which is tried again") }
      unstored = error
    case .damaged(let path):
      say(
        "the queue for the MQTT broker was damaged: it is kept as \(path.printable), and a new one is "
          + "used, with what could be read of it")
    case .notTaken(let topic, let size, let reason):
      sayOnce(
        "the MQTT broker \(address.title) does not take a message of \(size) bytes for \(topic.printable): "
          + "\(reason.printable)", of: "\(topic): \(reason)")
    case .notSubscribed(let topic, let reason):
      sayOnce(
        "the MQTT broker \(address.title) does not say when Home Assistant starts (\(topic.printable)): "
          + reason.printable, of: topic)
    }
  }

  private func sayOnce(_ text: String, of what: String) {
    guard refusals.count < Self.mostRefusals, refusals.insert(what).inserted else { return }
    say(text)
  }

  /// For `halo-raw status`.
  var status: JSONValue {
    .object([
      "address": .string(address.title), "connected": .bool(wasConnected && !isMissed),
      "waiting": .integer(publisher?.waiting ?? 0), "set_aside": .integer(publisher?.aside ?? 0),
    ])
  }

  private func say(_ line: String) { Console.error("halo-raw: \(line)") }

  /// Sends the remaining messages, as far as there is time.
  ///
  /// - Throws: if something is lost
  func finish() async throws(Failure) {
    for ring in rings { ring.finish() }
    rings = []
    guard let publisher else { return }
    guard let remainder = await offTheLoop({ publisher.finish(within: Self.lastChance) }) else { return }
    if remainder.kept > 0 {
      say(
        "\(Console.counted(remainder.kept, "message")) for the MQTT broker \(address.title) kept on disk; "
          + "the next command with this --mqtt delivers them")
    }
    if remainder.aside > 0 {
      say(
        "\(Console.counted(remainder.aside, "message")) that the MQTT broker \(address.title) does not take set "
          + "aside; see halo-raw queues")
    }
    if remainder.lost > 0 {
      throw Failure(
        .outputFailed, "\(Console.counted(remainder.lost, "message")) for the MQTT broker lost; see above")
    }
  }
}

extension ArgumentType where Value == String {
  /// A prefix of topics; empty for `off`.
  fileprivate static var discovery: Self {
    ArgumentType(placeholder: "PREFIX", expected: "the start of topics, or off") { text in
      if text == "off" { return "" }
      guard !text.isEmpty else { return nil }
      do throws(BrokerAddress.Malformed) { try BrokerAddress.check(prefix: text) } catch {
        throw Failure.usage("--mqtt-discovery: \(error)")
      }
      return text
    }
  }
}

extension ArgumentType where Value == BrokerAddress {
  static var broker: Self {
    ArgumentType(placeholder: "URL", expected: BrokerAddress.form) { text in
      do throws(BrokerAddress.Malformed) {
        return try BrokerAddress(text)
      } catch {
        throw Failure.usage("--mqtt wants \(BrokerAddress.form): \(error)")
      }
    }
  }
}
