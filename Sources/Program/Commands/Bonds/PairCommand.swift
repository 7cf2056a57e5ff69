import GAP
import HaloBluetoothCore
import HaloCommandLine
import HaloSecurityManager

private enum PairOption {
  static let authenticated = Flag(
    "--authenticated", help: "fail unless a number is compared or typed")
  static let tag = Option(
    "--tag", as: .tag, help: "what a tag or a code on the device says, in hexadecimal")
  static let shortKeys = Option(
    "--min-key-size", as: .integer(7...16, unit: "BYTES"), default: "16",
    help: "accept keys of fewer bytes than 16, which can be guessed")
}

let pairCommand = CommandSpec(
  name: "pair", arguments: "[DEVICE]", summary: "pair with a device, and keep the bond",
  options: [
    PairOption.authenticated, PairingInterface.option, PairOption.tag, PairOption.shortKeys,
    CommonOptions.format,
  ],
  examples: [
    ("sudo halo-raw pair R02_BEEF --adapter user:hci0", "pair once; later links are encrypted"),
    ("halo-raw pair R02_BEEF --adapter virtual", "the built-in ring refuses, as rings without bonds do"),
  ],
  details: """
    Some devices give their values over encrypted links only, or stay connected to paired hosts only. After this command, each
    command encrypts its links to the device before it uses them.

    How the two find out that nobody is between them depends on what both can show and type. On a terminal, this command can do
    both: a number is compared, or typed at one side. Otherwise, and with devices that have neither a display nor keys, nobody
    checks (Just Works). --interface has another choice, which reads the answers from standard input also where that is a pipe.

    --tag is for devices that prove by another way that they are the right ones: AD structures, as an NFC tag of type
    application/vnd.bluetooth.le.oob has them, with the confirm and the random value of LE Secure Connections (0x22, 0x23), or
    the TK value (0x10).

    Where a device asks for a number, type or compare it there, and nowhere else.
    """
) { invocation in
  if invocation[PairOption.tag] != nil, case .kernel = try invocation.adapter {
    throw Failure.usage("--tag: the kernel pairs on hciN, without such data; use --adapter user:hciN")
  }
  let terminal = StandardInput.isForegroundTerminal
  let capability = invocation[PairingInterface.option] ?? (terminal ? .keyboardDisplay : .noInputNoOutput)
  if invocation[PairOption.authenticated], capability == .noInputNoOutput, invocation[PairOption.tag] == nil {
    throw Failure.usage(
      "--authenticated needs a person or a tag: run it on a terminal, or add --interface both, or --tag HEX")
  }
  try await Session.run(invocation, pairs: true) { session in
    let agent = PersonAgent(capability, allowsJustWorks: true, keepsLines: true) {
      Console.error($0)
    }
    session.security.agent = agent
    session.security.settings.policy = .ask
    session.security.settings.replacesUncheckedBonds = true
    session.security.settings.minimumKeySize = invocation[PairOption.shortKeys]
    session.security.settings.outOfBand = invocation[PairOption.tag]
    var hasLostBond = false
    let report = session.security.onBondNotKept
    session.security.onBondNotKept = { error in
      report(error)
      hasLostBond = true
    }
    let input = LineInput(longestLine: 128)
    defer { input.stop() }
    if capability != .noInputNoOutput {
      _ = input.start { line in _ = agent.take(line?.text) }
    }
    try await session.withDevice { connection, _ in
      let pairing = PairingRow(connection, session.ringName)
      connection.whenChanged { pairing.take($0) }
      try await connection.secure(to: invocation[PairOption.authenticated] ? .authenticated : .encrypted)
      pairing.print(OutputFormat(invocation))
      if hasLostBond {
        throw Failure(.cannotOpenFile, "paired for this link only: the bond could not be stored")
      }
    }
  }
}

/// The result of a pairing, as a record.
@BluetoothActor
private final class PairingRow {
  private let connection: GATTLink
  private let name: String?
  private var paired: (method: PairingMethod, isKept: Bool)?

  private static let columns = [
    "name", "address", "type", "method", "authenticated", "key_size_bytes", "kept",
  ]

  init(_ connection: GATTLink, _ name: String?) { (self.connection, self.name) = (connection, name) }

  func take(_ event: LinkEvent) {
    if case .paired(let method, _, let isKept) = event { paired = (method, isKept) }
  }

  func print(_ format: OutputFormat) {
    let (peer, security) = (connection.peer, connection.security)
    var printer = RecordPrinter(format, Self.columns)
    let how =
      paired.map { ($0.isKept ? "paired with" : "paired for this link only with") } ?? "paired already with"
    let check =
      security.isAuthenticated ? "authenticated" : "nobody has checked that it is the device you mean"
    printer.print(
      [
        .text(name), .text("\(peer)"), .text("\(peer.kind)"), .text(paired.map { "\($0.method)" }),
        .flag(security.isAuthenticated), .number(security.keySize), .flag(paired?.isKept ?? true),
      ],
      text: "\(how) \(name?.printable ?? "") \(peer) (\(peer.kind)): "
        + (paired.map { "\($0.method), " } ?? "") + "\(check), key of \(security.keySize) bytes")
  }
}

extension ArgumentType where Value == OutOfBandData {
  fileprivate static var tag: Self {
    ArgumentType(
      placeholder: "HEX", expected: "AD structures in hexadecimal with the types 0x22 and 0x23, or 0x10",
      isSecret: true
    ) { text in Hex.bytes(text).flatMap { OutOfBandData(tag: $0) } }
  }
}
