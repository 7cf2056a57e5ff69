import ATT
import HaloBluetoothCore
import HaloCommandLine
import HaloDissection
import HaloGATT

/// A summary as text.
enum SummaryText {
  static func lines(_ summary: CaptureSummary, _ servers: [Dissector.KnownServer]) -> String {
    var text = head(summary)
    func add(_ title: String, _ lines: [String]) {
      if !lines.isEmpty { text += "\n\(title)\n" + lines.map { "  \($0)\n" }.joined() }
    }
    add("Devices", devices(summary))
    add("Connections", summary.connections.flatMap { connection($0, summary.start) })
    add("Connections on the air", summary.airConnections.flatMap { airConnection($0, summary.start) })
    for server in servers { add("Attributes of \(server.name)", attributes(server.table)) }
    add("Procedures", procedures(summary))
    add("Notifications and indications", values(summary))
    add("Ring", counted(summary.ringFrames))
    add("Errors", counted(summary.errors))
    if summary.overflow > 0 { text += "\nToo much of some kinds: \(summary.overflow) entries are left out\n" }
    return text
  }

  private static func head(_ summary: CaptureSummary) -> String {
    let kinds = counted(summary.kinds).joined(separator: ", ")
    var text = Console.counted(summary.packets, "packet")
    if let start = summary.start, let end = summary.end { text += " in \(seconds(end &- start)) s" }
    text += kinds.isEmpty ? "" : ": \(kinds)"
    if summary.lost > 0 {
      text += "; the recorder lost \(Console.counted(summary.lost, "packet"))"
    }
    return text + "\n"
  }

  private static func devices(_ summary: CaptureSummary) -> [String] {
    summary.devices.values.sorted { ($1.reports, $0.address.value) < ($0.reports, $1.address.value) }.map {
      device in
      "\(device.address) (\(device.address.kind))" + (device.name.map { " \"\($0)\"" } ?? "") + ", "
        + Console.counted(device.reports, "report") + (device.rssi.map { ", at best \($0) dBm" } ?? "")
    }
  }

  /// A time since the start, for a line about a link.
  private static func time(_ value: Int64?, since start: Int64?) -> String {
    guard let start, let value else { return "?" }
    return "\(seconds(value &- start)) s"
  }

  private static func connection(_ link: ConnectionSummary, _ start: Int64?) -> [String] {
    var first = "hci\(link.adapter) \(link.handle) to \(link.peer.map { "\($0)" } ?? "an unknown peer")"
    if let name = link.name { first += " \"\(name)\"" }
    if let type = link.classicType { first += ", BR/EDR \(type)" }
    if let role = link.role { first += ", as \(role)" }
    first += ", \(time(link.start, since: start)) to "
    first += link.end == nil ? "the end of the capture" : time(link.end, since: start)
    if let reason = link.reason { first += ": \(reason)" }
    first += "; \(link.sentPDUs) PDUs sent, \(link.receivedPDUs) received"
    if let mtu = link.mtu { first += ", MTU \(mtu)" }
    let frames = link.frames.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
    if !frames.isEmpty {
      first += "; frames: " + frames.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
    return [first] + link.changes.map { "  \(time($0.microseconds, since: start)): \($0.words)" }
  }

  private static func airConnection(_ link: AirConnectionSummary, _ start: Int64?) -> [String] {
    func side(_ name: String, _ side: AirConnectionSummary.Side) -> String {
      "  \(name): \(Console.counted(side.packets, "packet")), \(side.empty) empty, "
        + "\(Console.counted(side.retransmissions, "retransmission")), \(side.attPDUs) ATT PDUs"
    }
    var first = Hex.string(UInt64(link.accessAddress), bytes: 4)
    if let central = link.central { first += " from \(central)" }
    first += link.peripheral.map { " to \($0)" } ?? " to an unknown peripheral"
    if let name = link.name { first += " \"\(name)\"" }
    first +=
      ", \(time(link.start, since: start)) to "
      + (link.end == nil ? "the end of the capture" : time(link.end, since: start))
    if let reason = link.reason { first += ": \(reason)" }
    first += "; \(Console.counted(link.events, "connection event"))"
    if link.crcErrors > 0 { first += ", \(Console.counted(link.crcErrors, "packet")) with a wrong CRC" }
    if link.encrypted > 0 { first += ", \(link.encrypted) encrypted" }
    if link.decrypted > 0 { first += ", \(link.decrypted) decrypted by the sniffer" }
    if let mtu = link.mtu { first += ", MTU \(mtu)" }
    return [first, side("central", link.fromCentral), side("peripheral", link.fromPeripheral)]
      + link.changes.map { "  \(time($0.microseconds, since: start)): \($0.words)" }
  }

  private static func attributes(_ table: AttributeTable) -> [String] {
    var lines: [String] = []
    // The end of the service that the lines are below; nil if they are below none.
    var end: AttributeHandle?
    var isBelowNone = false
    for handle in table.handles {
      guard let attribute = table[handle], attribute.kind != .declaration else { continue }
      if case .service(let range) = attribute.kind {
        // A declaration that was found by its type alone does not say where its service ends.
        let isWhole = attribute.uuid != GATTUUID.primaryService && attribute.uuid != GATTUUID.secondaryService
        (end, isBelowNone) = (isWhole ? range.end : .last, false)
        lines.append("\(range) service \(attribute.longName)")
        continue
      }
      if !isBelowNone, end.map({ handle > $0 }) ?? true {
        isBelowNone = true
        lines.append("in services that were not discovered")
      }
      let words = attribute.properties.map { " (\($0))" } ?? ""
      lines.append("\(attribute.kind == .value ? "  " : "    ")\(handle) \(attribute.longName)\(words)")
    }
    return lines
  }

  private static func procedures(_ summary: CaptureSummary) -> [String] {
    ObservedProcedure.allCases.compactMap { procedure in
      guard let numbers = summary.procedures[procedure] else { return nil }
      var text = "\(procedure.name): \(Console.counted(numbers.requests, "request"))"
      if numbers.errors > 0 { text += ", \(Console.counted(numbers.errors, "error"))" }
      if let half = numbers.roundTrips.percentile(0.5), let most = numbers.roundTrips.percentile(0.95) {
        text +=
          ", round trip \(milliseconds(half)) ms at the median, 95 percent within \(milliseconds(most)) ms, "
        text += "longest \(milliseconds(numbers.roundTrips.longest)) ms"
      }
      return text
    }
  }

  private static func values(_ summary: CaptureSummary) -> [String] {
    summary.values.sorted { $0.key < $1.key }.map { source, values in
      let statistics = values.statistics
      let name = values.name.map { " \($0)" } ?? ""
      var text =
        source.isSent
        ? "this host's \(source.handle)\(name), to \(source.peer)" : "\(source.peer) \(source.handle)\(name)"
      text += ": \(statistics.count), \(values.bytes) bytes"
      if let rate = statistics.rate { text += ", \(hundredths(rate)) a second" }
      if let jitter = statistics.jitter { text += ", jitter \(hundredths(jitter * 1000)) ms" }
      text += ", longest interval \(milliseconds(statistics.longestInterval / 1000)) ms"
      return text + ", \(Console.counted(statistics.gaps, "gap"))"
    }
  }

  /// Most frequent first.
  private static func counted(_ table: [String: Int]) -> [String] {
    table.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { "\($0.value) \($0.key)" }
  }

  private static func seconds(_ microseconds: Int64) -> String {
    milliseconds(microseconds / 1000)
  }

  /// The number divided by 1000, with three decimals.
  private static func milliseconds(_ number: Int64) -> String {
    DecimalText.string(number, places: 3)
  }

  private static func hundredths(_ value: Double) -> String {
    value.magnitude < 1e12 ? DecimalText.string(Int64((value * 100).rounded()), places: 2) : "?"
  }
}
