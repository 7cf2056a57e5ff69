import ATT
import Glibc
import HCI
import HaloBluetoothCore
import HaloViews
import HaloCommandLine
import HaloRaw

extension CommonOptions {
  /// The options of every command that uses an adapter.
  static let ofAdapters: [any CommandOption] = [adapter, take, privacy, record, replace, explain, verbose]

  /// The options of every command that connects to a device.
  static let ofLinks: [any CommandOption] = [
    wait, interval, latency, timeout, phy, dataLength, mtu, bond, aggressive,
  ]

  static let adapter = Option(
    "-i", "--adapter", as: .adapter,
    help: """
      the adapter: hciN, user:hciN, virtual[:OPTIONS], tcp:HOST:PORT, unix:PATH, serial:PATH[@BAUD] or \
      replay:FILE[,OPTIONS], with the options of replay (default: $HALO_ADAPTER, else the first adapter that is up)
      """
  ).inEnvironment("HALO_ADAPTER")
  static let take = Flag(
    "--take",
    help: "with user:hciN: take an adapter that is up, which ends its links; it is up again afterwards")
  static let privacy = Flag(
    "--privacy",
    help: """
      use an address that changes every 15 minutes, so that nobody can track this machine by it; devices that it pairs \
      with meanwhile know it again, others do not; not with hciN, whose address the kernel chooses
      """)
  static let record = Option(
    "--record", as: .file(.writes),
    help: "record all HCI traffic to a btsnoop file; keys of pairings are in it")
  static let replace = Flag(
    "--replace", help: "replace a file that has data, which is otherwise an error")
  static let explain = Option(
    "--explain", as: .choice("full", [("full", Explainer.Form.blocks), ("lines", .lines)]), bare: .lines,
    help: """
      decode each packet on standard error while it happens, as decode does; =full prints all fields
      """)
  static let wait = Option(
    "--wait", as: .time, default: "30s", help: "how long to look for the device and to connect")
  static let interval = Option(
    "--interval", as: .connectionInterval, default: "7.5..15",
    help: """
      connection interval in ms, 7.5..4000; if given, and in a stream, the peer can change it within this range only
      """)
  static let latency = Option(
    "--latency", as: .integer(0...499), default: "0", help: "connection events that the peer may skip")
  static let timeout = Option(
    "--timeout", as: .supervisionTimeout, default: "4s", help: "supervision timeout of the link")
  static let phy = Option(
    "--phy",
    as: .choice(
      "PHY",
      [
        ("auto", LinkPreference<LEPHYs>.automatic), ("1m", .exactly(.le1M)), ("2m", .exactly(.le2M)),
        ("coded", .exactly(.leCoded)), ("none", .none),
      ]), default: "auto",
    help: """
      PHY of the link: 1m, 2m, coded (scans on it, too), auto (2m if both sides support it) or none (do not ask); with \
      hciN, the kernel chooses, unless it offers the choice (Linux 7.0)
      """)
  static let dataLength = Option(
    "--data-length", as: .dataLength, default: "auto",
    help: """
      longest packets to send, 27..251 bytes; auto: 251 if both sides support it; none: do not ask; with hciN, the \
      kernel chooses
      """)
  static let mtu = Option(
    "--mtu", as: .mtu, default: "auto",
    help: """
      longest ATT packets to receive, \(ATTBearer.defaultMTU)..\(ATTBearer.largestMTU) bytes; \
      auto: \(ATTBearer.largestMTU); none: do not ask (the peer may end the link at it: then \
      auto does not ask again)
      """)
  static let bond = Flag(
    "--bond",
    help: "pair with the device, unless that was done: for rings that stay with paired hosts only")
  static let aggressive = Flag(
    "--aggressive",
    help: "scan continuously instead of 1/8 of the time; disturbs Wi-Fi on a Raspberry Pi")
  static let verbose = Flag("-v", "--verbose", help: "log link events to standard error")

  static let retryTime = Option(
    "--retry-for", as: .timeOrForever, default: "60s",
    help: "how long to try to reconnect if the connection is lost: a time, 0 for not at all, or forever")
}

extension ArgumentType where Value == AdapterSpecification {
  static var adapter: Self {
    ArgumentType(placeholder: "SPEC", expected: "an adapter") { try AdapterSpecification($0) }
  }
}

extension Invocation {
  /// The adapter that `--adapter` names, else the one of the environment (`HALO_ADAPTER`), else the first.
  var adapter: AdapterSpecification {
    get throws(Failure) {
      let adapter = try namedAdapter
      // A simulation needs no limit: a command that ends on its own has the time of the simulation, unless it was given a time, or
      // a person may have to choose one of several rings.
      guard case .virtual(let options, _) = adapter, command.endsByItself, !isGiven(CommonOptions.wait),
        options.others.isEmpty || !NumberedList.isPossible
      else {
        return adapter
      }
      return .virtual(options, isFast: true)
    }
  }

  private var namedAdapter: AdapterSpecification {
    get throws(Failure) {
      let option = command.usesAdapter ? CommonOptions.adapter : StoreFile.adapter
      if let adapter = self[option] { return adapter }
      let variable = "HALO_ADAPTER"
      guard let text = getenv(variable) else { return .kernel(nil) }
      return try ArgumentType.adapter.value(String(cString: text), of: variable)
    }
  }
}

extension CommandSpec {
  /// Whether it ends with the answer of a device, and prints no records until then.
  fileprivate var endsByItself: Bool {
    opensLinks && !["strap", "bench"].contains(name)
      && !options.contains { $0.spec.name == LiveOption.output.spec.name }
  }

  /// - Parameters:
  ///   - positionals: how many arguments it takes; nil if `arguments` show that, such as `KIND [RING]`
  ///   - usesAdapter: whether it uses an adapter to reach a device, and so takes the options for adapters
  ///   - opensLinks: whether it connects to a device with that, and so takes the options for links
  init(
    name: String, arguments: String = "", summary: String, positionals: ClosedRange<Int>? = nil,
    file: FileUse? = nil,
    options: [any CommandOption] = [], rules: [OptionRule] = [], examples: [(line: String, does: String)],
    details: @escaping @autoclosure @Sendable () -> String = "", usesAdapter: Bool = true,
    opensLinks: Bool = true, wrapsCommand: Bool = false,
    run: @escaping @BluetoothActor (Invocation) async throws -> Void
  ) {
    let opensLinks = usesAdapter && opensLinks
    let shared = (usesAdapter ? CommonOptions.ofAdapters : []) + (opensLinks ? CommonOptions.ofLinks : [])
    let names =
      opensLinks
      ? "the adapter and the link, such as --adapter, --wait" : "the adapter, such as --adapter, --record"
    self.init(
      name: name, arguments: arguments, summary: summary, positionals: positionals, file: file,
      options: options,
      rules: rules, examples: examples, details: details(),
      sharedOptions: shared,
      sharedHelp: usesAdapter ? "Options of \(names) and --explain: halo-raw help link" : "",
      wrapsCommand: wrapsCommand, run: run)
  }

  /// Whether it takes the options for adapters.
  var usesAdapter: Bool { !sharedOptions.isEmpty }

  /// Whether it takes the options for links.
  var opensLinks: Bool { sharedOptions.count > CommonOptions.ofAdapters.count }
}
