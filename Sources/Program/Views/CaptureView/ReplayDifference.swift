import HCI
import HaloBluetoothCore
import HaloCapture
import HaloDissection
import HaloRecording

/// The message about the first difference between a replay and its recording: the packet, its meaning, the packet that was sent
/// instead, and the reason.
package struct ReplayDifference {
  package let path: String
  /// The number of the first packet that was replayed.
  package let first: Int
  package let host: RecordedHost
  package let report: ReplayTransport.Report
  package let difference: ReplayTransport.Difference

  /// Nil if there is no difference.
  package init?(_ path: String, _ first: Int, _ host: RecordedHost, _ report: ReplayTransport.Report) {
    guard let difference = report.firstDifference else { return nil }
    self.path = path
    self.first = first
    self.host = host
    self.report = report
    self.difference = difference
  }

  package var message: String {
    let count = report.differences > 1 ? " in \(report.differences) packets, first here" : ""
    return "the replay differs from the recording\(count): \(what) - \(why)\(hint)"
  }

  // MARK: Packets

  private var what: String {
    guard let recorded = difference.recorded else {
      let sent = difference.sent.map { dissected($0, Dissector()).summary } ?? "nothing"
      return "at the end of \(path.printable), halo-raw sent one more packet, \(sent)"
    }
    let place = "packet \(difference.number ?? 0) of \(path.printable)"
    let there = dissected(recorded, context())
    guard let bytes = difference.sent else {
      return "\(place) is \(there.summary), and halo-raw did not send it"
    }
    let here = dissected(bytes, context())
    return "\(place) is \(there.summary), and halo-raw sent \(here.summary)" + detail(there, here)
  }

  /// The difference between two packets of a kind: the first different field, else the bytes.
  private func detail(_ there: DissectedPacket, _ here: DissectedPacket) -> String {
    guard there.top == here.top, let layer = there.top, there.summary == here.summary else { return "" }
    let pairs = zip(there.fields(of: layer), here.fields(of: layer))
    if let (old, new) = pairs.first(where: { $0.name == $1.name && $0.value != $1.value }) {
      return " (\(old.name): \(old.value) there, \(new.value) here)"
    }
    if there.bytes == here.bytes, let length = difference.originalLength {
      return " (the same \(here.bytes.count) bytes, of which the recording says that they are \(length))"
    }
    return " (\(digits(there.bytes)) there, \(digits(here.bytes)) here)"
  }

  private func digits(_ bytes: [UInt8]) -> String {
    Hex.string(bytes.prefix(32), separator: " ") + (bytes.count > 32 ? " …" : "")
  }

  private func dissected(_ bytes: [UInt8], _ dissector: Dissector) -> DissectedPacket {
    dissector.dissect(
      bytes.span.bytes,
      CaptureRecordInfo(
        number: difference.number ?? 0, microseconds: nil, adapter: host.adapter,
        content: .hci(.hostToController),
        originalLength: bytes.count))
  }

  /// A dissector that has seen all packets before the different one.
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

  // MARK: Reason

  /// The number of equal packets after which the host counts as halo-raw.
  private static let setUp = 8

  private var why: String {
    if host.beginsWithReset == true {
      if let cut = report.firstCut {
        return "the capture has only a part of packet \(cut) (snap length), so it cannot be replayed"
      }
      if host.usesBonds {
        return "the recording was made with bonds, whose keys a replay does not have; leave --level hci out"
      }
      if host.isOurs || report.matched >= Self.setUp {
        return
          "the \(report.matched) packets before it are equal: the recording is of another command, other options or "
          + "another version; --level att answers other commands, too"
      }
      return "the recording is of another host, which sends its commands in another order"
    }
    if host.isOurs {
      return
        "the recording was made with --adapter hciN and holds the commands of the kernel\(examples), not of "
        + "halo-raw; to replay it, leave --level hci out"
    }
    if let stray = host.unknownHandlePackets {
      return
        "the capture begins mid-connection: packet \(stray) has data of a link that was set up before it; "
        + "a replay at the level of HCI begins with a host's Reset"
    }
    if host.beginsWithReset == nil {
      return "the capture has no commands of a host; a replay at the level of HCI begins with a host's Reset"
    }
    return
      "the capture begins after the setup of its host, or was made on an adapter of the kernel; a replay "
      + "at the level of HCI begins with a host's Reset"
  }

  /// Commands that only the kernel sends.
  private var examples: String {
    let most = 8
    guard !host.foreignCommands.isEmpty else { return "" }
    return
      " (such as \(host.foreignCommands.prefix(most).map(\.description).joined(separator: ", "))"
      + (host.foreignCommands.count > most ? ", …" : "") + ")"
  }

  /// A later Reset, from which a replay may work.
  private var hint: String {
    let here = difference.number ?? .max
    guard report.matched <= 1, let next = host.resets.first(where: { $0 > max(here, first) }) else {
      return ""
    }
    return "; packet \(next) is a Reset: try replay --from \(next) \(path.printable)"
  }
}
