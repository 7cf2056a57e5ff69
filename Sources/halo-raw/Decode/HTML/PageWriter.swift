import Dissection
import EventLoop
import LineOutput
import ReportAssets

/// Writes a session as one page of HTML that needs nothing else, packet by packet.
struct PageWriter {
  /// Browsers stay quick with so many packets; more of them are left out, and the page says so.
  static let packetLimit = 100_000
  /// No text of a browser may have more than 512 MiB.
  static let byteLimit = 128 << 20

  private(set) var output: LineWriter
  /// Whether there was a packet that the page has no room for.
  private(set) var leavesOut = false
  private let file: PageFile
  private let name: String
  private var packets = PagePacket()
  private var count = 0
  private var size = 0
  private var start: Int64?

  /// - Parameters:
  ///   - name: of the capture, as the user wrote it
  ///   - file: where the page goes
  init(name: String, _ file: PageFile) {
    self.name = name
    self.file = file
    queue = OutputQueue(descriptor: file.descriptor, overflow: .wait)
    output = LineWriter(queue)
    writeHead()
  }

  /// What takes the page to its file.
  let queue: OutputQueue

  /// - Parameter start: the time of the first packet of the capture
  mutating func add(_ packet: DissectedPacket, start: Int64?) {
    self.start = start
    guard count < Self.packetLimit, size < Self.byteLimit else {
      leavesOut = true
      return
    }
    let before = output.pending
    packets.write(packet, start: start, into: &output)
    size += output.pending - before
    count += 1
    if output.pending >= 1 << 16 { output.flush() }
  }

  /// Writes what is behind the packets.
  ///
  /// - Parameter remark: why the page has not the whole capture, if it has not
  /// - Throws: if the page can't be written
  mutating func finish(remark: String?) async throws(Failure) {
    let left =
      leavesOut ? "The page has room for the first \(count) packets; choose others with --filter." : nil
    if let left { Console.error("halo-raw: \(file.path): \(left)") }
    output.write("</script>\n<script type=\"application/json\" id=\"capture\">{\"name\":")
    PagePacket.quote(name, &output)
    output.write(",\"remark\":")
    PagePacket.quote(left ?? remark ?? "", &output)
    output.write(",\"start\":")
    if let start { output.write(Int(start)) } else { output.write("null") }
    output.write("}</script>\n<script type=\"module\" nonce=\"\(nonce)\">\n")
    output.write(PageAssets.script)
    output.write("</script>\n</body>\n</html>\n")
    output.flush()
    await queue.drain()
    if case .system(let error) = queue.failure {
      throw Failure(.outputFailed, "cannot write \(file.path): \(error.reason)")
    }
  }

  // MARK: The beginning

  /// Nobody who names a device can know it, so nothing that he has written is run.
  private let nonce =
    String(UInt64.random(in: 0 ... .max), radix: 36) + String(UInt64.random(in: 0 ... .max), radix: 36)

  private mutating func writeHead() {
    output.write(
      """
      <!doctype html>
      <html lang="en">
      <head>
      <meta charset="utf-8">
      <meta http-equiv="Content-Security-Policy" content="default-src 'none'; script-src 'nonce-\(nonce)'; \
      style-src 'nonce-\(nonce)'; img-src data:; base-uri 'none'; form-action 'none'; \
      require-trusted-types-for 'script'">
      <meta name="viewport" content="width=device-width, initial-scale=1">
      <meta name="color-scheme" content="light dark">
      <link rel="icon" href="data:,">
      <title>halo-raw decode</title>
      <style nonce="\(nonce)">

      """)
    output.write(PageAssets.style)
    output.write("</style>\n</head>\n<body>\n")
    output.write(PageAssets.body)
    output.write(
      """
      <script type="application/json" id="packets" data-capacity="\(PageTable.capacity)" \
      data-shortest="\(PageTable.lengths.lowerBound)" data-longest="\(PageTable.lengths.upperBound)">

      """)
  }
}
