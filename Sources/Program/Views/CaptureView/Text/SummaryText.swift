import HaloBluetoothCore
import HaloCommandLine
import HaloDissection

/// A summary as text: the devices that were used, that with the most traffic first; then the facts about the whole capture.
enum SummaryText {
  static func lines(_ summary: CaptureSummary, _ servers: [Dissector.KnownServer]) -> String {
    var text = head(summary)
    func add(_ title: String, _ lines: [String]) {
      if !lines.isEmpty { text += "\n\(title)\n" + lines.map { "  \($0)\n" }.joined() }
    }
    let all = summary.usedDevices
    let used = all.filter { $0.traffic > 0 }
    // Without any, the links and the advertisers are the subject of the capture.
    let shown = used.isEmpty ? all : used
    for device in shown {
      let block = DeviceText(device, summary, servers)
      add(block.title, block.lines)
    }
    if used.isEmpty {
      add("Devices", summary.advertisers.map(advertiser))
    } else {
      text += bystanders(summary, all)
    }
    for server in servers where server.device.map({ key in !shown.contains { $0.key == key } }) ?? true {
      add("Attributes of \(server.name)", DeviceText.lines(server.table, reads: [:]))
    }
    add("Procedures", procedures(summary))
    add("Ring", counted(summary.ringFrames))
    add("Errors", counted(summary.errors))
    if summary.overflow > 0 { text += "\nToo much of some kinds: \(summary.overflow) entries are left out\n" }
    return text
  }

  /// The device with the most traffic, with the number of writes and notifications; empty if there is none.
  static func mostUsed(_ summary: CaptureSummary) -> String {
    guard let device = summary.usedDevices.first, device.traffic > 0 else { return "" }
    let writes = device.writes.reduce(0) { $0 + $1.pattern.count }
    let values = device.values.reduce(0) { $0 + ($1.source.isSent ? 0 : $1.values.statistics.count) }
    let counts = [(writes, "write"), (values, "notification")].filter { $0.0 > 0 }.map(Console.counted)
    return DeviceText(device, summary, []).name
      + (counts.isEmpty ? "" : ": \(counts.joined(separator: ", "))")
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

  private static func advertiser(_ device: CaptureSummary.Device) -> String {
    "\(device.address) (\(device.address.kind))" + (device.name.map { " \"\($0)\"" } ?? "") + ", "
      + heard(device)
  }

  /// How often a device was heard, and how well.
  static func heard(_ device: CaptureSummary.Device) -> String {
    Console.counted(device.reports, "report") + (device.rssi.map { ", at best \($0) dBm" } ?? "")
  }

  /// The most advertisers that are named.
  private static let namedBystanders = 3

  /// Who else was there, in one line.
  private static func bystanders(_ summary: CaptureSummary, _ devices: [UsedDevice]) -> String {
    let linked = Set(devices.compactMap { $0.address?.value })
    let idle = devices.filter { $0.traffic == 0 }
    let others = summary.advertisers.filter { !linked.contains($0.address.value) }
    var parts: [String] = []
    if !others.isEmpty {
      var names = others.prefix(namedBystanders).map { device in
        "\(device.address)" + (device.name.map { " \"\($0)\"" } ?? "")
          + " \(CountedText.line(device.reports, "reports"))"
      }
      if others.count > names.count { names.append("\(others.count - names.count) more") }
      parts.append("\(CountedText.line(others.count, "advertisers")) (\(names.joined(separator: ", ")))")
    }
    if !idle.isEmpty {
      let count = idle.reduce(0) { $0 + $1.connections.count + $1.airConnections.count }
      parts.append("\(CountedText.line(count, "links")) without ATT")
    }
    return parts.isEmpty ? "" : "\nBystanders: \(parts.joined(separator: "; "))\n"
  }

  private static func procedures(_ summary: CaptureSummary) -> [String] {
    ObservedProcedure.allCases.compactMap { procedure in
      guard let numbers = summary.procedure(procedure) else { return nil }
      var text = "\(procedure.name): \(CountedText.line(numbers.requests, noun(procedure)))"
      if numbers.errors > 0 { text += ", \(Console.counted(numbers.errors, "error"))" }
      if numbers.roundTrips.count == 1 {
        text += ", round trip \(milliseconds(numbers.roundTrips.longest)) ms"
      } else if let half = numbers.roundTrips.percentile(0.5), let most = numbers.roundTrips.percentile(0.95)
      {
        text +=
          ", round trip \(milliseconds(half)) ms at the median, 95 percent within \(milliseconds(most)) ms, "
        text += "longest \(milliseconds(numbers.roundTrips.longest)) ms"
      }
      return text
    }
  }

  private static func noun(_ procedure: ObservedProcedure) -> String {
    switch procedure {
    case .writeWithoutResponse, .signedWrite: "commands"
    case .indications: "indications"
    default: "requests"
    }
  }

  /// Most frequent first.
  private static func counted(_ table: [String: Int]) -> [String] {
    table.sorted { ($1.value, $0.key) < ($0.value, $1.key) }.map { CountedText.line($0.value, $0.key) }
  }

  static func seconds(_ microseconds: Int64) -> String {
    milliseconds(microseconds / 1000)
  }

  /// The number divided by 1000, with three decimals.
  static func milliseconds(_ number: Int64) -> String {
    DecimalText.string(number, places: 3)
  }

  static func hundredths(_ value: Double) -> String {
    value.magnitude < 1e12 ? DecimalText.string(Int64((value * 100).rounded()), places: 2) : "?"
  }
}

/// A number with its noun.
enum CountedText {
  private static let nouns: Set<Substring> = [
    "packets", "PDUs", "commands", "events", "requests", "beginnings", "samples", "records", "texts",
    "indications", "notifications", "advertisers", "reports", "links", "ends", "diagnostics",
  ]

  /// - Parameter plural: the noun: `packets with a wrong CRC`
  static func line(_ count: Int, _ plural: String) -> String {
    guard count == 1 else { return "\(count) \(plural)" }
    // By bytes, as characters take longer to find.
    var words = plural.utf8.split(separator: UInt8(ascii: " "), omittingEmptySubsequences: false)
      .map { Substring($0) }
    // The noun; the words behind it may have others.
    guard let index = words.firstIndex(where: nouns.contains) else { return "\(count) \(plural)" }
    words[index].removeLast()
    if let verb = words.firstIndex(of: "were") { words[verb] = "was" }
    return "\(count) \(words.joined(separator: " "))"
  }
}
