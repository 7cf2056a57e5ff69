import BluetoothCore
import Capture
import Dissection
import EventLoop
import Glibc
import HCI
import LineOutput

/// What `--explain` asks for: on standard error, while it happens, what `decode` prints of a recording.
@BluetoothActor
final class Explainer {
  enum Form { case lines, blocks }

  private let form: Form
  private let text: PacketText
  /// Made when the privileges are given up: what is known of rings is in the home of whoever we are then.
  private lazy var dissector = Dissector(known: KnownRings(path: KnownRings.standardPath).devices)
  private var output = LineWriter(.standardError)
  private var start: Int64?
  /// On a terminal, a progress line may stand where a packet is to be written.
  private let isTerminal = isatty(STDERR_FILENO) == 1

  /// - Returns: nil if it is not asked for
  init?(_ invocation: Invocation) throws(Failure) {
    guard let form = try Self.form(invocation) else { return nil }
    self.form = form
    text = PacketText(isColored: isTerminal && !Console.refusesColor)
  }

  private static func form(_ invocation: Invocation) throws(Failure) -> Form? {
    if let form = try invocation.choice("--explain", [("full", Form.blocks), ("lines", .lines)]) {
      return form
    }
    return invocation.has("--explain") ? .lines : nil
  }

  /// Explains all that passes a tap from here on.
  func watch(_ tap: TrafficTap) {
    tap.onPacket = { [self] bytes, info in explain(bytes, info) }
  }

  /// Explains a recording while it is played, with its own numbers and times.
  func watch(_ replay: ReplayTransport) {
    start = replay.host.beginning
    replay.onPlayed = { [self] record in explain(record.bytes.span.bytes, record.info) }
  }

  private func explain(_ bytes: RawSpan, _ info: CaptureRecordInfo) {
    if start == nil { start = info.microseconds }
    let packet = dissector.dissect(bytes, info)
    if output.droppedLines > 0 {
      output.write("(\(Console.counted(output.droppedLines, "packet")) not explained: they came too fast)\n")
      output.flushDropCount()
    }
    if isTerminal { output.write("\r\u{1B}[K") }
    switch form {
    case .lines: text.writeLine(packet, start: start, into: &output)
    case .blocks: text.writeBlock(packet, start: start, into: &output)
    }
    output.flush()
  }
}

extension OptionSpec {
  /// For commands that see HCI traffic.
  static let explain = OptionSpec(
    "--explain", value: "full", isValueOptional: true,
    help:
      "explains each packet on standard error while it happens, as decode does; with =full, a block a packet")
}
