import ATT
import HaloBluetoothCore
import HaloCommandLine
import HaloDissection
import HaloGATT

/// A device of a summary as text: its links, its attributes, the values written to them, and those that it has answered and
/// sent.
struct DeviceText {
  private let device: UsedDevice
  private let summary: CaptureSummary
  private let table: AttributeTable?

  init(_ device: UsedDevice, _ summary: CaptureSummary, _ servers: [Dissector.KnownServer]) {
    self.device = device
    self.summary = summary
    table = servers.first { $0.device == device.key }?.table
  }

  /// The device, and how well it was heard.
  var title: String { name + (advertiser.map { ", \(SummaryText.heard($0))" } ?? "") }

  /// Its address and name.
  var name: String {
    (device.address.map { "\($0)" } ?? unknown)
      + ((device.name ?? advertiser?.name).map { " \"\($0)\"" } ?? "")
  }

  private var advertiser: CaptureSummary.Device? { device.address.flatMap(summary.device) }

  private var unknown: String {
    guard case .link(let number) = device.key else { return "an unknown device" }
    return number > UInt32(UInt16.max)
      ? "the peripheral of \(Hex.string(UInt64(number), bytes: 4))"
      : "the peer of link \(Hex.string(UInt16(truncatingIfNeeded: number)))"
  }

  var lines: [String] {
    var lines = links
    func add(_ title: String, _ more: [String]) {
      if !more.isEmpty { lines += [title] + more.map { "  \($0)" } }
    }
    if let table { add("attributes", Self.lines(table, reads: device.reads)) }
    add("written", WriteText.lines(device.writes))
    let host = device.airConnections.isEmpty ? "this host" : "the central"
    add("written by it to \(host)", WriteText.lines(device.writesToHost))
    add("notified and indicated", device.values.map { value($0, $1, host) })
    return lines
  }

  // MARK: Links

  /// The most links that are shown with all that is known of them, and the most that are shown.
  private static let mostLinks = (detailed: 3, shown: 12)

  private var links: [String] {
    let count = device.connections.count + device.airConnections.count
    let isDetailed = count <= Self.mostLinks.detailed
    let connections = device.connections.prefix(Self.mostLinks.shown)
    let onAir = device.airConnections.prefix(Self.mostLinks.shown - connections.count)
    let others = count - connections.count - onAir.count
    var lines: [String] = []
    for link in connections {
      lines.append(connection(link))
      if isDetailed { lines += changes(link.changes) }
    }
    for link in onAir {
      lines.append(airConnection(link))
      if isDetailed { lines += sides(link) + changes(link.changes) }
    }
    if others > 0 { lines.append(CountedText.line(others, "more links")) }
    return lines
  }

  /// A time since the start, for a line about a link.
  private func time(_ value: Int64?) -> String {
    guard let start = summary.start, let value else { return "?" }
    return "\(SummaryText.seconds(value &- start)) s"
  }

  private func span(_ start: Int64?, _ end: Int64?, _ reason: String?) -> String {
    "\(time(start)) to \(end == nil ? "the end of the capture" : time(end))"
      + (reason.map { ": \($0)" } ?? "")
  }

  private func changes(_ changes: [ConnectionSummary.Change]) -> [String] {
    changes.map { "  \(time($0.microseconds)): \($0.words)" }
  }

  private func connection(_ link: ConnectionSummary) -> String {
    var first = "hci\(link.adapter) \(link.handle)"
    if let type = link.classicType { first += ", BR/EDR \(type)" }
    if let role = link.role { first += ", as \(role)" }
    first += ", \(span(link.start, link.end, link.reason?.description))"
    first += "; \(link.sentPDUs) PDUs sent, \(link.receivedPDUs) received"
    if let mtu = link.mtu { first += ", MTU \(mtu)" }
    let frames = link.frames.sorted { ($1.value, $0.key.rawValue) < ($0.value, $1.key.rawValue) }
    if !frames.isEmpty {
      first += "; frames: " + frames.map { "\($0.value) \($0.key)" }.joined(separator: ", ")
    }
    return first
  }

  private func airConnection(_ link: AirConnectionSummary) -> String {
    var first = Hex.string(UInt64(link.accessAddress), bytes: 4)
    if let central = link.central { first += " from \(central)" }
    first += ", \(span(link.start, link.end, link.reason?.description))"
    first += "; \(Console.counted(link.events, "connection event"))"
    if link.crcErrors > 0 { first += ", \(Console.counted(link.crcErrors, "packet")) with a wrong CRC" }
    if link.encrypted > 0 { first += ", \(link.encrypted) encrypted" }
    if link.decrypted > 0 { first += ", \(link.decrypted) decrypted in the capture" }
    if let mtu = link.mtu { first += ", MTU \(mtu)" }
    return first
  }

  private func sides(_ link: AirConnectionSummary) -> [String] {
    [("central", link.fromCentral), ("peripheral", link.fromPeripheral)].map { name, side in
      "  \(name): \(Console.counted(side.packets, "packet")), \(side.empty) empty, "
        + "\(Console.counted(side.retransmissions, "retransmission")), \(CountedText.line(side.attPDUs, "ATT PDUs"))"
    }
  }

  // MARK: Values

  /// The most bytes of the common part of values.
  private static let shownBytes = 12

  private func value(_ source: CaptureSummary.Source, _ values: CaptureSummary.Values, _ host: String)
    -> String
  {
    let statistics = values.statistics
    let name = values.name.map { " \($0)" } ?? ""
    var text = source.isSent ? "by \(host), \(source.handle)\(name)" : "\(source.handle)\(name)"
    text += ": \(statistics.count), \(values.bytes) bytes"
    if let rate = statistics.rate { text += ", \(SummaryText.hundredths(rate)) a second" }
    if let jitter = statistics.jitter { text += ", jitter \(SummaryText.hundredths(jitter * 1000)) ms" }
    text += ", longest interval \(SummaryText.milliseconds(statistics.longestInterval / 1000)) ms"
    text += ", \(Console.counted(statistics.gaps, "gap"))"
    return text + ": \(WriteText.digits(values.pattern, min(values.pattern.bytes.count, Self.shownBytes)))"
  }

  // MARK: Attributes

  /// - Parameter reads: the last value of each attribute that was read
  static func lines(_ table: AttributeTable, reads: [AttributeHandle: [UInt8]]) -> [String] {
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
      let read = reads[handle].map { ": \(DecodedValue($0, of: attribute.valueType).brief)" } ?? ""
      lines.append(
        "\(attribute.kind == .value ? "  " : "    ")\(handle) \(attribute.longName)\(words)\(read)")
    }
    return lines
  }

}
