import BluetoothCore
import Capture
import HCI

extension HCILayer {
  /// What the packet says, in a line.
  func summary(of packet: RawSpan) -> String {
    let words = words(of: packet)
    return problem.map { "\(words); \($0)" } ?? words
  }

  private func words(of packet: RawSpan) -> String {
    switch type {
    case .command:
      guard let opcode else { return "command" }
      let words = parameters(of: packet)
      return "\(opcode.name ?? "\(opcode)")" + (words.isEmpty ? "" : ": \(words)")
    case .event: return eventWords(of: packet)
    case .acl:
      guard let connection else { return "ACL data" }
      if connection == .controllerDebug { return "debug output of the controller, \(length) bytes" }
      return "ACL data, link \(connection), \(boundary.map { "\($0)" } ?? ""), \(length) bytes"
    case .synchronous: return "synchronous data, \(length) bytes"
    case .isochronous: return "isochronous data, \(length) bytes"
    default: return "packet type \(Hex.string(type.rawValue))"
    }
  }

  private func eventWords(of packet: RawSpan) -> String {
    guard let event else { return "event" }
    // A remark of ours among the packets: not the radio's.
    if let note = CaptureNote.text(of: packet.withUnsafeBytes(Array.init)) {
      return "halo-raw's remark: \(note)"
    }
    let answered = command.map { ", \($0.words)" } ?? ""
    switch event {
    case .commandComplete, .commandStatus:
      guard let opcode else { return "\(event.name ?? "")" }
      guard opcode != .noOperation else { return "\(event.name ?? ""): commands may be sent" }
      let outcome = status.map { $0 == .success ? "" : ": \($0)" } ?? ""
      let more =
        event == .commandComplete && (status ?? .success) == .success
        ? parameters(of: packet, without: ["commands allowed", "command", "status"]) : ""
      return "\(opcode.name ?? "\(opcode)") \(event == .commandComplete ? "done" : "pending")\(outcome)"
        + (more.isEmpty ? "" : ": \(more)") + answered
    case .leMeta:
      guard let subevent else { return "LE Meta" }
      switch subevent {
      case .advertisingReport, .directedAdvertisingReport, .extendedAdvertisingReport:
        return "\(subevent.name ?? ""): \(reports(of: packet))"
      default: return words(subevent.name ?? "\(subevent)", packet)
      }
    default: return words(event.name ?? "\(event)", packet)
    }
  }

  private func words(_ name: String, _ packet: RawSpan) -> String {
    let outcome = status.map { $0 == .success ? [] : ["\($0)"] } ?? []
    let words = outcome + [parameters(of: packet, without: ["subevent", "status"])].filter { !$0.isEmpty }
    return words.isEmpty ? name : "\(name): \(words.joined(separator: ", "))"
  }

  /// The fields in a row.
  private func parameters(of packet: RawSpan, without: Set<String> = []) -> String {
    parameterFields(of: packet).filter { $0.depth == 0 && !$0.value.isEmpty && !without.contains($0.name) }
      .map {
        $0.range.count > 8 && $0.value.utf8.count > 60
          ? "\($0.name) \($0.range.count) bytes" : "\($0.name) \($0.value)"
      }
      .joined(separator: ", ")
  }

  private func reports(of packet: RawSpan) -> String {
    var reader = ByteReader(packet.extracting(min(1, packet.byteCount)..<packet.byteCount))
    guard case .leAdvertisingReports(let event)? = try? HCIEvent(parsing: &reader) else { return "damaged" }
    let words = event.reports.map { report in
      let data = AdvertisingData(report.data)
      var words = "\(report.address) (\(report.address.kind))"
      if let name = data.localName { words += " \"\(name)\"" }
      if let rssi = report.rssi { words += ", \(rssi) dBm" }
      return words + ", \(report.data.count) bytes"
    }
    return words.joined(separator: "; ") + (event.isDamaged ? "; damaged" : "")
  }
}
