import Glibc
import HaloViews
import HaloBluetoothCore
import HaloCommandLine
import HaloDissection

/// The options of `decode`.
enum DecodeOption {
  static let verbose = Flag(
    "-v", "--verbose", help: "print every field, its bytes and its specification section")
  static let layer = Option(
    "--layer", as: .layers,
    help:
      """
      only packets with one of these layers: ll (the link layer, on the air), hci, l2cap, signaling, smp, sdp, \
      rfcomm, avdtp, avctp, att, gatt, ring; comma-separated
      """)
  static let filter = Option(
    "--filter", as: .packetFilter,
    help: """
      only packets that match all terms: handle=0x0012, link=0x0040, peer=R02_BEEF (a name or its beginning, or an \
      address), opcode=0x1b|0x52, event=0x0e, subevent=1, \
      address=C0:11:22:33:A1:B2, time=1.5..3 (seconds), packet=10..; comma-separated
      """)
  static let format = Option(
    "--format", as: CommonOptions.formatType,
    help: "text or jsonl (default: text); with --samples and --values also csv (default in a pipe)")
  static let summary = Flag(
    "--summary",
    help: """
      print a summary instead of packets: the devices that were used, with their attributes, what was written to each and \
      what answered; rates, round trips, errors
      """)
  static let samples = Flag(
    "--samples",
    help: "print only the samples of a ring, as stream does; select kinds with --ppg, --accel, --spo2")
  static let values = Flag(
    "--values", help: "print a row for each value that is written, read or notified, as a table")
  static let handle = Option(
    "--handle", as: .list(of: .handle), repeatable: true,
    help: "with --values, only those of the attributes with these handles")
  static let uuid = Option(
    "--uuid", as: .list(of: .uuid), repeatable: true,
    help: "with --values, only those of the attributes with these UUIDs")
  static let html = Option(
    "--html", as: .file(.writes), placeholder: "OUT",
    help:
      "write an interactive HTML report: packets with fields and bytes, timeline, charts, summary, search and filters"
  )
  static let write = Option(
    "--write", as: .file(.writes), placeholder: "OUT",
    help:
      "write the packets, or those that --filter and --layer select, with all parts of their frames, to a btsnoop file; of a capture of the air, to a pcap file"
  )
  static let redact = Flag(
    "--redact",
    help:
      "replace addresses and names in OUT by made-up ones, the same for each, and keys by zeros, so that it can be shown"
  )
  static let longTermKey = Option(
    "--ltk", as: .list(of: .longTermKey), repeatable: true,
    help: """
      decrypt packets of the air with this long-term key: 32 hexadecimal digits, the most significant first, as the \
      specification prints it, and not as it is in packets
      """)
  static let bonds = Flag(
    "--bonds",
    help: "use the keys of your bonds: to decrypt packets of the air, and to check signatures")
  static let tryPasskeys = Flag(
    "--try-passkeys",
    help: "try all passkeys of an LE legacy pairing, up to a million: that can take a minute for each")
  static let redactKeys = Flag(
    "--redact-keys", help: "replace only keys in OUT by zeros, and not addresses and names")
  static let showKeys = Flag(
    "--show-keys", help: "print the keys of pairings and links, the most significant byte first")
  static let follow = Flag("--follow", help: "wait for more as the file grows, until Ctrl-C")
}

let decodeCommand = CommandSpec(
  name: "decode", arguments: "FILE...",
  summary: "explain a capture, packet by packet, layer by layer", positionals: 1...256, file: .reads,
  options: [
    DecodeOption.verbose, DecodeOption.layer, DecodeOption.filter, DecodeOption.format, DecodeOption.summary,
    DecodeOption.samples, SampleOption.ppg, SampleOption.accel, SampleOption.spo2,
    DecodeOption.values, DecodeOption.handle, DecodeOption.uuid, DecodeOption.html, DecodeOption.write,
    DecodeOption.redact, DecodeOption.redactKeys, DecodeOption.showKeys, DecodeOption.longTermKey,
    DecodeOption.bonds, DecodeOption.tryPasskeys,
    DecodeOption.follow,
  ],
  rules: [
    .excludes(
      DecodeOption.html,
      [
        DecodeOption.format, DecodeOption.verbose, DecodeOption.follow, DecodeOption.summary,
        DecodeOption.samples,
      ]),
    .excludes(
      DecodeOption.write,
      [
        DecodeOption.format, DecodeOption.verbose, DecodeOption.follow, DecodeOption.summary,
        DecodeOption.samples, DecodeOption.html, DecodeOption.values, DecodeOption.longTermKey,
        DecodeOption.bonds, DecodeOption.tryPasskeys,
      ]),
    .needs(DecodeOption.redact, DecodeOption.write), .needs(DecodeOption.redactKeys, DecodeOption.write),
    .excludes(DecodeOption.redactKeys, [DecodeOption.redact]),
    .excludes(
      DecodeOption.showKeys,
      [
        DecodeOption.html, DecodeOption.write, DecodeOption.summary, DecodeOption.samples,
        DecodeOption.values,
      ]),
    .excludes(
      DecodeOption.values,
      [DecodeOption.summary, DecodeOption.samples, DecodeOption.html, DecodeOption.verbose]),
    .needs(DecodeOption.handle, DecodeOption.values), .needs(DecodeOption.uuid, DecodeOption.values),
  ],
  examples: [
    ("halo-raw decode captures/virtual-stream.btsnoop", "print one line per packet"),
    (
      "halo-raw decode captures/virtual-battery.btsnoop --layer ring -v",
      "print all fields of the packets that carry ring frames"
    ),
    (
      "halo-raw decode captures/virtual-inspect.btsnoop --filter handle=0x0003 --format jsonl",
      "print the traffic of one attribute, one JSON object per line"
    ),
    ("halo-raw decode captures/bumble-inspect.btsnoop --summary", "summarize the capture"),
    ("halo-raw decode captures/virtual-stream.btsnoop --samples --ppg", "print the samples of the stream"),
    (
      "halo-raw decode captures/virtual-battery.btsnoop --values --format csv",
      "print what was written, read and notified, for a spreadsheet"
    ),
    (
      "halo-raw decode captures/virtual-stream.btsnoop --html session.html",
      "write a report; open it in a browser, it needs no network"
    ),
    (
      "halo-raw decode captures/virtual-stream.btsnoop --write copy.btsnoop --redact",
      "write a copy without addresses, names and keys, to show it to others"
    ),
  ],
  details: """
    FILE is a btsnoop file (H1, H4, Linux monitor), pcap, pcapng, a capture of Apple's PacketLogger or of hcidump, from any
    program; pcap and pcapng also of USB (usbmon, USBPcap), where the packets of Bluetooth adapters are read; - is standard
    input. It may be compressed (gzip, xz, zstd, bzip2, lz4), or an archive (zip, tar): all captures
    in it are read in the order of their times, for example the logs of an Android bug report or of an iPhone's sysdiagnose.
    The text of a bug report is read for its btsnooz summary, whose packets are cut. Several files are read as one capture,
    in the order in which they are named.

    pcap and pcapng may also hold packets that a sniffer has received on the air: of the nRF Sniffer, of Ubertooth, Sniffle
    and others (link types 192, 251, 256, 272). There, the central of a connection is shown as the side that sends.

    Pairings are explained: the method and why it was chosen, confirm values and checks that can be computed, what
    protects the link from where on, and the signs of known attacks. Encrypted packets of the air are decrypted with the
    keys in the capture (of LE legacy pairing, all that its packets show; and with the debug key), those of --ltk, and
    with --bonds your own. The link must begin in the capture, or be encrypted anew in it: LL_ENC_REQ and LL_ENC_RSP are
    needed. Up to 256 packets in a row may be missing. This needs libcrypto (OpenSSL 3).

    A frame that spans several packets is shown with the last of them. Of a compressed file that is damaged, what precedes the
    damage is decoded. Behind a damaged record, decoding goes on with the next one that is found. Both are said at the end,
    and the exit code is 65. NO_COLOR disables colors.

    A line ends with the adapter, the link, and the address and name of the device at its other end, as far as the capture
    has them. Sections are those of the \(Specification.name); CSS is its Supplement.

    --summary begins with the device that has the most traffic. Values that were written and differ in data only are one line,
    in which .. stands for a byte that varies. Devices that only advertise, and idle links, are one line.

    --values prints a row for each value of an attribute that is written, read, notified or indicated, with the packet that
    it answers: a response, its request; a notification, the last write to its service that begins with the same byte (of a
    ring: has the same command), up to 60 s after it or the notification before; else the last write at all, up to 2 s after
    it, unless that has an answer already, other than one of the same characteristic within half a second. What is not
    known is empty. A long value is a row for each part, with its offset in the value. Discovery and the echoes of prepared
    writes are left out. In csv and jsonl, "t" is in seconds since the first packet, and "value" has hexadecimal digits:
    read that column as text.

    A report (--html) is one file that loads nothing. It holds up to \(PageWriter.packetLimit) packets and
    \(PageWriter.byteLimit >> 20) MiB of packet data, and states what it leaves out. Use --filter and --layer to select
    packets.

    A redacted copy (--redact) has the lengths and times of the original, and the values of characteristics, apart from names,
    serial numbers and addresses in them. Addresses and names are numbered in their order. LTK, IRK, CSRK, link keys and PINs
    are zeros, as are vendor-specific commands and events, and on the air what is encrypted and what was received wrongly.
    Texts of programs are left out. The file is read twice. --redact-keys does the same, but addresses and names stay.

    Recordings of the adapters that halo-raw drives itself have the keys of pairings in them: in LE Enable Encryption, in
    answers to requests for keys, and in SMP. Lines, JSON and reports do not show keys; --show-keys prints them.
    """,
  usesAdapter: false
) { invocation in
  try await Decoding.run(DecodeOptions(invocation), invocation.positionals)
}

extension DecodeOptions {
  init(_ invocation: Invocation) throws(Failure) {
    self.init(
      form: try Self.form(invocation), layers: invocation[DecodeOption.layer],
      filter: invocation[DecodeOption.filter], isFollowing: invocation[DecodeOption.follow],
      isColored: (invocation[CommonOptions.color] ?? .auto).isUsed(on: STDOUT_FILENO))
    longTermKeys = invocation[DecodeOption.longTermKey] ?? []
    usesBonds = invocation[DecodeOption.bonds]
    triesPasskeys = invocation[DecodeOption.tryPasskeys]
    showsKeys = invocation[DecodeOption.showKeys]
  }

  private static func form(_ invocation: Invocation) throws(Failure) -> Form {
    if let path = invocation[DecodeOption.html] { return .page(path) }
    if let path = invocation[DecodeOption.write] {
      return .copy(
        path,
        invocation[DecodeOption.redact]
          ? .everythingPersonal : invocation[DecodeOption.redactKeys] ? .keys : .nothing)
    }
    let format = invocation[DecodeOption.format]
    if invocation[DecodeOption.samples] {
      return .samples(format ?? .standard, SampleKinds(invocation))
    }
    if invocation[DecodeOption.values] {
      let choice = ValueChoice(
        handles: invocation[DecodeOption.handle] ?? [], uuids: invocation[DecodeOption.uuid] ?? [])
      return .values(format ?? .standard, choice)
    }
    if format == .csv {
      throw .usage("--format csv needs --values or --samples; packets are text or jsonl")
    }
    guard invocation[DecodeOption.summary] else {
      return format == .jsonl ? .jsonl : invocation[DecodeOption.verbose] ? .blocks : .lines
    }
    return format == .jsonl ? .summaryJSON : .summary
  }
}

extension ArgumentType where Value == Set<Layer> {
  static var layers: Self {
    let names = Layer.allCases.map(\.rawValue).joined(separator: ", ")
    return ArgumentType(placeholder: "LAYERS", expected: "\(names), comma-separated") { text in
      let layers = text.split(separator: ",", omittingEmptySubsequences: false).map {
        Layer(rawValue: String($0))
      }
      return layers.contains(nil) ? nil : Set(layers.compactMap { $0 })
    }
  }
}

extension ArgumentType where Value == [UInt8] {
  /// A key, the least significant byte first.
  static var longTermKey: Self {
    ArgumentType(
      placeholder: "HEX", expected: "32 hexadecimal digits, the most significant first", isSecret: true
    ) { text in
      Hex.bytes(text).flatMap { $0.count == 16 ? $0.reversed() : nil }
    }
  }
}

extension ArgumentType where Value == PacketFilter {
  static var packetFilter: Self {
    ArgumentType(placeholder: "TERMS", expected: "terms") { text in
      do {
        return try PacketFilter(text)
      } catch {
        throw Failure.usage("--filter: \(error)")
      }
    }
  }
}
