import BluetoothCore
import Capture
import Dissection
import HCI

/// The first difference of a replay from its recording, for a person: which packet, what it was, what was sent
/// instead, and why that is.
struct ReplayDifference {
  let path: String
  let options: ReplayTransport.Options
  let host: RecordedHost
  let report: ReplayTransport.Report
  let difference: ReplayTransport.Difference

  /// Nil if there is no difference.
  init?(
    _ path: String, _ options: ReplayTransport.Options, _ host: RecordedHost, _ report: ReplayTransport.Report
  ) {
    guard let difference = report.firstDifference else { return nil }
    self.path = path
    self.options = options
    self.host = host
    self.report = report
    self.difference = difference
  }

  var message: String {
    let count = report.differences > 1 ? " in \(report.differences) packets, first here" : ""
    return "the replay differs from the recording\(count): \(what) - \(why)\(hint)"
  }

  // MARK: What

  private var what: String {
    guard let recorded = difference.recorded else {
      let sent = difference.sent.map { words($0, Dissector()).summary } ?? "nothing"
      return "when \(path.printable) was over, halo-raw sent one packet more, \(sent)"
    }
    let place = "packet \(difference.number ?? 0) of \(path.printable)"
    let there = words(recorded, context())
    guard let bytes = difference.sent else {
      return "\(place) is \(there.summary), and halo-raw did not send it"
    }
    let here = words(bytes, context())
    return "\(place) is \(there.summary), and halo-raw sent \(here.summary)" + detail(there, here)
  }

  /// Where two packets of a kind differ: the first field, or else the bytes.
  private func detail(_ there: DissectedPacket, _ here: DissectedPacket) -> String {
    guard there.top == here.top, let layer = there.top, there.summary == here.summary else { return "" }
    let pairs = zip(there.fields(of: layer), here.fields(of: layer))
    if let (old, new) = pairs.first(where: { $0.name == $1.name && $0.value != $1.value }) {
      return " (\(old.name): \(old.value) there, \(new.value) here)"
    }
    return " (\(digits(there.bytes)) there, \(digits(here.bytes)) here)"
  }

  private func digits(_ bytes: [UInt8]) -> String {
    Hex.string(bytes.prefix(32), separator: " ") + (bytes.count > 32 ? " …" : "")
  }

  private func words(_ bytes: [UInt8], _ dissector: Dissector) -> DissectedPacket {
    dissector.dissect(
      bytes.span.bytes,
      CaptureRecordInfo(
        number: difference.number ?? 0, microseconds: nil, adapter: host.adapter,
        content: .hci(.hostToController),
        originalLength: bytes.count))
  }

  /// A dissector that has seen all packets before the one that differs.
  private func context() -> Dissector {
    let dissector = Dissector()
    guard let number = difference.number, var reader = try? CaptureReader(path: path) else {
      return dissector
    }
    while let progress = try? reader.advance(), progress == .record, reader.info.number < number {
      _ = dissector.dissect(reader.bytes, reader.info)
    }
    return dissector
  }

  // MARK: Why

  /// So many packets alike, and the host is one that begins as halo-raw does.
  private static let setUp = 8

  private var why: String {
    if host.beginsWithReset == true {
      if let cut = report.firstCut {
        return "the capture has packet \(cut) only in part (snap length), so that it could not be played"
      }
      if host.isOurs || report.matched >= Self.setUp {
        return
          "the \(report.matched) packets before it are the same: it was recorded with another command, with other "
          + "options, or by another version"
      }
      return "the recording is of another host, which gives its commands in an order of its own"
    }
    if host.isOurs {
      return "it was made beside the kernel (--adapter hciN), and holds the kernel's dialogue with the "
        + "controller\(theirs), not halo-raw's; record with --adapter user:hciN to replay"
    }
    if let stray = host.strayData {
      return
        "the capture begins mid-connection: packet \(stray) has data of a link whose beginning is not in it; "
        + "a replay begins with the Reset by which a host takes its controller over"
    }
    if host.beginsWithReset == nil {
      return "no host speaks in it; a replay begins with the Reset by which a host takes its controller over"
    }
    return "the capture begins when its host was at work already, or was made beside the kernel; a replay "
      + "begins with the Reset by which a host takes its controller over"
  }

  private var theirs: String {
    let most = 8
    guard !host.foreignCommands.isEmpty else { return "" }
    return
      " (the kernel's own: \(host.foreignCommands.prefix(most).map(\.description).joined(separator: ", "))"
      + (host.foreignCommands.count > most ? ", …" : "") + ")"
  }

  /// A Reset further on, from which it may go better.
  private var hint: String {
    let here = difference.number ?? .max
    guard report.matched <= 1, let next = host.resets.first(where: { $0 > max(here, options.first) }) else {
      return ""
    }
    return "; packet \(next) is a Reset, another beginning: try replay --from \(next) \(path.printable)"
  }
}
