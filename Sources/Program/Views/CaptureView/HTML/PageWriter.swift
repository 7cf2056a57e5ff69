import HaloCommandLine
import HaloDissection
import HaloSystem
import HaloReportAssets

/// Writes a session as a self-contained HTML report, packet by packet.
package struct PageWriter: ~Copyable {
  /// The most packets in a report, so that browsers stay responsive. The report says if packets are left out.
  package static let packetLimit = 100_000
  /// The most bytes of packets in a report; browsers limit a text to 512 MiB.
  package static let byteLimit = 128 << 20

  private var output: LineWriter
  /// Whether a packet was left out because of a limit.
  private(set) var leavesOut = false
  private let file: PageFile
  private let name: String
  private var packets = PagePacket()
  private var samples = PageSamples()
  private var summary = CaptureSummary()
  /// The numbers of requests that were never answered.
  private var unanswered: [Int] = []
  private var count = 0
  private var size = 0
  private var start: Int64?

  /// - Parameters:
  ///   - name: the name of the capture, as given by the user
  ///   - file: the file of the report
  package init(name: String, _ file: PageFile) {
    self.name = name
    self.file = file
    queue = OutputQueue(descriptor: file.descriptor, overflow: .wait)
    output = LineWriter(queue)
    Self.writeHead(to: &output, nonce: nonce)
  }

  package var hasFailed: Bool { output.failure != nil }

  /// Writes the report to its file.
  package let queue: OutputQueue

  /// - Parameter start: the time of the first packet of the capture, in microseconds since 1970
  package mutating func add(_ packet: DissectedPacket, start: Int64?) {
    self.start = start
    guard count < Self.packetLimit, size < Self.byteLimit else {
      leavesOut = true
      return
    }
    let before = output.pending
    summary.add(packet)
    packets.write(packet, start: start, into: &output)
    samples.add(packet)
    unanswered += packet.unanswered
    if let request = packet.gatt?.unanswered { unanswered.append(request) }
    size += output.pending - before
    count += 1
    if output.pending >= 1 << 16 { output.flush() }
  }

  /// Writes the rest of the report, and waits until all of it is in the file.
  ///
  /// - Parameters:
  ///   - remark: why the report is incomplete; nil if it is complete
  ///   - dissector: the dissector of the packets
  /// - Throws: if the report cannot be written
  package mutating func finish(remark: String?, _ dissector: Dissector) async throws(Failure) {
    let limit =
      leavesOut ? "The report has only the first \(count) packets; select others with --filter." : nil
    if let limit { Console.error("halo-raw: \(file.path): \(limit)") }
    output.write("</script>\n<script type=\"application/json\" id=\"capture\">")
    writeCapture(remark: limit ?? remark ?? "", dissector)
    output.write("</script>\n<script type=\"module\" nonce=\"\(nonce)\">\n")
    output.write(PageAssets.script)
    output.write("</script>\n</body>\n</html>\n")
    output.flush()
    await queue.drain()
    if case .system(let error) = queue.failure {
      throw Failure(.outputFailed, "cannot write \(file.path): \(error.reason)")
    }
  }

  /// Writes the data of the whole capture, as session.js reads it.
  private mutating func writeCapture(remark: String, _ dissector: Dissector) {
    output.write("{\"name\":")
    PagePacket.quote(name, &output)
    output.write(",\"remark\":")
    PagePacket.quote(remark, &output)
    output.write(",\"start\":")
    if let start { output.write(Int(start)) } else { output.write("null") }
    output.write(",\"device\":")
    PagePacket.quote(SummaryText.mostUsed(summary), &output)
    output.write(",\"summary\":")
    PagePacket.quote(SummaryText.lines(summary, dissector.servers), &output)
    output.write(",\"samples\":")
    samples.write(into: &output)
    // In the packets that are left out, there may be the answers to the last requests.
    let open = leavesOut ? [] : dissector.openRequests
    output.key("unanswered")
    output.array(unanswered + open) { $0.write($1) }
    output.write("}")
  }

  // MARK: Head

  /// The nonce of the Content Security Policy: 128 random bits. Text from a capture cannot contain it, so the browser
  /// never runs such text.
  private let nonce =
    String(UInt64.random(in: 0 ... .max), radix: 36) + String(UInt64.random(in: 0 ... .max), radix: 36)

  /// Static: an initializer of Swift 6.2 can't call a mutating method of a type that can't be copied.
  private static func writeHead(to output: inout LineWriter, nonce: String) {
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
      data-shortest="\(PageTable.lengths.lowerBound)" data-longest="\(PageTable.lengths.upperBound)" \
      data-keys="\(PagePacket.keys.map(\.rawValue).joined(separator: " "))">

      """)
  }
}

/// The file that a report is written to while the capture is read. If the program ends early, the file keeps its contents so
/// far.
package final class PageFile {
  package let path: String
  package var descriptor: Int32 { file.descriptor }
  private let file: OutputFile

  /// Opens the file, and truncates it if it exists.
  ///
  /// - Throws: if the file cannot be created or truncated
  package init(path: String) throws(Failure) {
    self.path = path
    do throws(FileError) {
      file = try OutputFile(path: path)
      try file.truncate()
    } catch {
      throw Failure(.cannotOpenFile, "cannot create the report \(path.printable): \(error.reason)")
    }
  }
}
