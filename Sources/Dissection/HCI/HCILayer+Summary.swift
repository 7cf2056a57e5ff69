import BluetoothCore
import Capture
import HCI

extension HCILayer {
  /// A one-line summary of the packet.
  func summary(of packet: RawSpan, _ commands: HCICommandCatalog) -> String {
    let text = text(of: packet, commands)
    return problem.map { "\(text); \($0)" } ?? text
  }

  private func text(of packet: RawSpan, _ commands: HCICommandCatalog) -> String {
    switch type {
    case .command:
      guard let opcode else { return "command" }
      let parameters = parameters(of: packet, commands)
      return commands.name(of: opcode) + (parameters.isEmpty ? "" : ": \(parameters)")
    case .event: return eventText(of: packet, commands)
    case .acl:
      guard let connection else { return "ACL data" }
      if connection == .controllerDebug { return "debug output of the controller, \(length) bytes" }
      return "ACL data, link \(connection), \(boundary.map { "\($0)" } ?? ""), \(length) bytes"
    case .synchronous: return "synchronous data, \(length) bytes"
    case .isochronous: return "isochronous data, \(length) bytes"
    default: return "packet type \(Hex.string(type.rawValue))"
    }
  }

  private func eventText(of packet: RawSpan, _ commands: HCICommandCatalog) -> String {
    guard let event else { return "event" }
    // A note of ours among the packets: not the radio's.
    if let note = CaptureNote.text(of: packet.withUnsafeBytes(Array.init)) {
      return "note of halo-raw: \(note)"
    }
    let answered = command.map { ", \($0.words)" } ?? ""
    switch event {
    case .commandComplete, .commandStatus:
      guard let opcode else { return "\(event.name ?? "")" }
      guard opcode != .noOperation else { return "\(event.name ?? ""): commands may be sent" }
      let outcome = status.map { $0 == .success ? "" : ": \($0)" } ?? ""
      let more =
        event == .commandComplete && (status ?? .success) == .success
        ? parameters(of: packet, commands, without: ["commands allowed", "command", "status"]) : ""
      return "\(commands.name(of: opcode)) \(event == .commandComplete ? "done" : "pending")\(outcome)"
        + (more.isEmpty ? "" : ": \(more)") + answered
    case .leMeta:
      guard let subevent else { return "LE Meta" }
      switch subevent {
      case .advertisingReport, .directedAdvertisingReport, .extendedAdvertisingReport:
        return "\(subevent.name ?? ""): \(reports(of: packet))"
      default: return text(subevent.name ?? "\(subevent)", packet, commands)
      }
    default: return text(event.name ?? "\(event)", packet, commands)
    }
  }

  private func text(_ name: String, _ packet: RawSpan, _ commands: HCICommandCatalog) -> String {
    let outcome = status.map { $0 == .success ? [] : ["\($0)"] } ?? []
    let words =
      outcome + [parameters(of: packet, commands, without: ["subevent", "status"])].filter { !$0.isEmpty }
    return words.isEmpty ? name : "\(name): \(words.joined(separator: ", "))"
  }

  /// The fields in a row.
  private func parameters(
    of packet: RawSpan, _ commands: HCICommandCatalog, without: Set<String> = []
  ) -> String {
    parameterFields(of: packet, commands).filter {
      $0.depth == 0 && !$0.value.isEmpty && !without.contains($0.name)
    }
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
