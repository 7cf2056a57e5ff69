import Capture
import Dissection

let decodeCommand = CommandSpec(
  name: "decode", arguments: "FILE",
  summary: "explains a capture, layer by layer, packet by packet", positionals: 1...1,
  options: [
    OptionSpec(
      "-v", "--verbose", help: "a block a packet: every field, its bytes, and where it is specified"),
    OptionSpec(
      "--layer", value: "LAYERS",
      help: "only packets with one of these layers: hci, l2cap, signaling, smp, att, gatt, ring; with commas"),
    OptionSpec(
      "--filter", value: "TERMS",
      help:
        "only packets for which all terms hold: handle=0x0012, link=0x0040, opcode=0x1b|0x52, event=0x0e, "
        + "subevent=1, address=C0:11:22:33:A1:B2, time=1.5..3 (seconds), packet=10..; with commas"),
    OptionSpec("--format", value: "FORMAT", help: "text or jsonl; default: text; of samples also csv"),
    OptionSpec(
      "--summary",
      help: "no packets, but what the capture holds: devices, links, attributes, procedures, rates, errors"),
    OptionSpec("--samples", help: "only a ring's samples, as `stream` prints them"),
    OptionSpec("--ppg", help: "with --samples: green light"),
    OptionSpec("--accel", help: "with --samples: acceleration"),
    OptionSpec("--spo2", help: "with --samples: red light"),
    OptionSpec(
      "--html", value: "OUT",
      help:
        "writes a page for a browser: time line, packets, layers, fields and bytes, with search and filters"),
    OptionSpec("--follow", help: "goes on when the file grows, until Ctrl-C"),
  ],
  examples: [
    ("halo-raw decode captures/virtual-stream.btsnoop", "a line a packet"),
    (
      "halo-raw decode captures/virtual-battery.btsnoop --layer ring -v",
      "all fields of the packets in which the ring speaks"
    ),
    (
      "halo-raw decode captures/virtual-inspect.btsnoop --filter handle=0x0003 --format jsonl",
      "what was said of one attribute, as one JSON object a line"
    ),
    ("halo-raw decode captures/bumble-inspect.btsnoop --summary", "what the capture holds"),
    ("halo-raw decode captures/virtual-stream.btsnoop --samples --ppg", "the samples that were streamed"),
    (
      "halo-raw decode captures/virtual-stream.btsnoop --html session.html",
      "a page that needs no network: open it in a browser"
    ),
  ],
  details: """
    FILE is a btsnoop file (H1, H4, Linux monitor), pcap, pcapng, or a capture of Apple's PacketLogger, whoever made
    it; - is standard input. A frame that came in several packets is shown with the last of them. A file that is
    damaged is shown as far as it can be read, and the exit code is 65. NO_COLOR switches colours off.

    A page (--html) is one file that loads nothing from anywhere. It has up to \(PageWriter.packetLimit) packets and
    \(PageWriter.byteLimit >> 20) MiB of them, and says what is left out; --filter and --layer choose others.
    """,
  usesAdapter: false
) { invocation throws(Failure) in
  try await Decoding(DecodeOptions(invocation)).run(invocation.positionals[0])
}
