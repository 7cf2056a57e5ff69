import Glibc
import HaloBluetoothCore
import HaloCapture
import HaloCommandLine
import HaloDissection
import HaloStorage
import HaloSystem
import HaloRecording

/// The output of `--explain`: that of `decode` for a recording, but live and on standard error.
@BluetoothActor
package final class Explainer {
  package enum Form: Sendable { case lines, blocks }

  private let form: Form
  private var text: PacketText
  /// Created after privileges are dropped: the known rings are in the home of the invoking user.
  private lazy var dissector = Dissector(
    known: KnownRings(path: KnownRings.standardPath).devices,
    secrets: DissectionSecrets(library: LibcryptoCryptography.shared))
  private var output = LineWriter(.standardError)
  private var start: Int64?
  /// On a terminal, a progress line may be in the place of the next packet.
  private let isTerminal = Terminal.canDraw(on: STDERR_FILENO)

  /// - Parameters:
  ///   - form: the value of `--explain`
  ///   - color: that of `--color`
  /// - Returns: nil without `--explain`
  package init?(_ form: Form?, _ color: ColorChoice) {
    guard let form else { return nil }
    self.form = form
    text = PacketText(isColored: color.isUsed(on: STDERR_FILENO))
  }

  /// Explains all packets of a tap from now on.
  package func watch(_ tap: TrafficTap) {
    tap.onPacket = { [self] bytes, info in explain(bytes, info) }
  }

  /// Explains a recording during its replay, with its own packet numbers and times.
  package func watch(_ replay: ReplayTransport) {
    start = replay.host.beginning
    replay.onPlayed = { [self] record in explain(record.bytes.span.bytes, record.info) }
  }

  private func explain(_ bytes: RawSpan, _ info: CaptureRecordInfo) {
    if start == nil { start = info.microseconds }
    let packet = dissector.dissect(bytes, info)
    if output.droppedLines > 0 {
      output.write(
        "(\(Console.counted(output.droppedLines, "packet")) not explained: they arrived too fast)\n")
      output.endDropCount()
    }
    if isTerminal { output.write("\r\u{1B}[K") }
    switch form {
    case .lines: text.writeLine(packet, start: start, into: &output)
    case .blocks: text.writeBlock(packet, start: start, into: &output)
    }
    output.flush()
  }
}
