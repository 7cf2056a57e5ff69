import ATT
import GATTClient
import HCI
import HaloBluetoothCore
import HaloDissection
import HaloLineOutput
import RingLink

/// A summary as JSON, one object per line. `kind` says what it is about; times are in seconds since 1970-01-01 UTC, and
/// durations in seconds.
struct SummaryJSON: ~Copyable {
  private var output: LineWriter

  static func write(
    _ summary: CaptureSummary, _ servers: [Dissector.KnownServer], into output: inout LineWriter
  ) {
    var json = SummaryJSON(output: output)
    json.write(summary, servers)
    output = json.output
  }

  private mutating func write(_ summary: CaptureSummary, _ servers: [Dissector.KnownServer]) {
    line("capture") {
      $0.field("packets", summary.packets)
      $0.time("start", summary.start)
      $0.time("end", summary.end)
      for (kind, count) in summary.kinds.sorted(by: { $0.key < $1.key }) {
        $0.field(kind.replacing(" ", with: "_"), count)
      }
      $0.field("lost", summary.lost)
      $0.field("omitted", summary.overflow)
    }
    for device in summary.devices.values.sorted(by: { $0.address.value < $1.address.value }) {
      line("device") {
        $0.field("address", device.address.description)
        $0.field("address_type", device.address.kind.description)
        $0.field("name", device.name)
        $0.field("reports", device.reports)
        $0.field("rssi", device.rssi.map(Int.init))
      }
    }
    for link in summary.connections { write(link) }
    for link in summary.airConnections { write(link) }
    for server in servers {
      for handle in server.table.handles {
        if let attribute = server.table[handle] { write(handle, attribute, of: server.name) }
      }
    }
    for procedure in ObservedProcedure.allCases {
      guard let numbers = summary.procedures[procedure] else { continue }
      line("procedure") {
        $0.field("name", procedure.name)
        $0.field("requests", numbers.requests)
        $0.field("errors", numbers.errors)
        $0.time("median", numbers.roundTrips.percentile(0.5))
        $0.time("percentile_95", numbers.roundTrips.percentile(0.95))
        $0.time("longest", numbers.roundTrips.count > 0 ? numbers.roundTrips.longest : nil)
      }
    }
    for (source, values) in summary.values.sorted(by: { $0.key < $1.key }) {
      line("values") {
        $0.field("peer", source.peer)
        $0.field("direction", source.isSent ? "sent" : "received")
        $0.field("handle", Int(source.handle.rawValue))
        $0.field("name", values.name)
        $0.field("count", values.statistics.count)
        $0.field("bytes", values.bytes)
        $0.field("rate", values.statistics.rate)
        $0.time("jitter", values.statistics.jitter.map { Int64($0 * 1e6) })
        $0.time("longest_interval", values.statistics.longestInterval / 1000)
        $0.field("gaps", values.statistics.gaps)
      }
    }
    counts("ring", summary.ringFrames)
    counts("error", summary.errors)
  }

  private mutating func write(_ link: ConnectionSummary) {
    line("connection") { json in
      json.field("adapter", Int(link.adapter))
      json.field("link", Int(link.handle.rawValue))
      json.field("peer", link.peer?.description)
      json.field("peer_name", link.name)
      json.field("type", link.classicType.map { "BR/EDR \($0)" } ?? "LE")
      json.field("role", link.role?.description)
      json.time("start", link.start)
      json.time("end", link.end)
      json.field("reason", link.reason?.description)
      json.field("sent_pdus", link.sentPDUs)
      json.field("received_pdus", link.receivedPDUs)
      json.field("mtu", link.mtu.map(Int.init))
      json.write(link.changes)
      json.output.write(",\"frames\":[")
      for (index, frames) in link.frames.sorted(by: { $0.key.rawValue < $1.key.rawValue }).enumerated() {
        json.output.write(index > 0 ? ",{" : "{")
        json.isFirst = true
        json.field("psm", Int(frames.key.rawValue))
        json.field("protocol", frames.key.description)
        json.field("count", frames.value)
        json.output.write("}")
      }
      json.output.write("]")
    }
  }

  private mutating func write(_ changes: [ConnectionSummary.Change]) {
    output.write(",\"changes\":[")
    for (index, change) in changes.enumerated() {
      output.write(index > 0 ? ",{" : "{")
      isFirst = true
      time("time", change.microseconds)
      field("text", change.words)
      output.write("}")
    }
    output.write("]")
    isFirst = false
  }

  private mutating func write(_ link: AirConnectionSummary) {
    line("air_connection") { json in
      json.field("access_address", Int(link.accessAddress))
      json.field("central", link.central?.description)
      json.field("peripheral", link.peripheral?.description)
      json.field("peripheral_name", link.name)
      json.time("start", link.start)
      json.time("end", link.end)
      json.field("reason", link.reason?.description)
      json.time("interval", link.interval.map { Int64($0.rawValue) * ConnectionInterval.step })
      json.field("events", link.events)
      for (name, side) in [("central", link.fromCentral), ("peripheral", link.fromPeripheral)] {
        json.field("\(name)_packets", side.packets)
        json.field("\(name)_empty", side.empty)
        json.field("\(name)_retransmissions", side.retransmissions)
        json.field("\(name)_att_pdus", side.attPDUs)
      }
      json.field("wrong_crc", link.crcErrors)
      json.field("encrypted", link.encrypted)
      json.field("decrypted", link.decrypted)
      json.field("mtu", link.mtu.map(Int.init))
      json.write(link.changes)
    }
  }

  private mutating func write(_ handle: AttributeHandle, _ attribute: Attribute, of device: String) {
    line("attribute") {
      $0.field("device", device)
      $0.field("handle", Int(handle.rawValue))
      switch attribute.kind {
      case .service(let range):
        $0.field("type", "service")
        $0.field("end", Int(range.end.rawValue))
      case .include: $0.field("type", "include")
      case .declaration: $0.field("type", "declaration")
      case .value: $0.field("type", "value")
      case .descriptor: $0.field("type", "descriptor")
      }
      $0.field("uuid", attribute.uuid.description)
      $0.field("name", attribute.name)
      $0.field("properties", attribute.properties?.description)
      if let included = attribute.included {
        $0.field("included", Int(included.handles.start.rawValue))
        $0.field("included_end", Int(included.handles.end.rawValue))
        $0.field("included_uuid", included.uuid?.description)
      }
    }
  }

  private mutating func counts(_ kind: StaticString, _ table: [String: Int]) {
    for (name, count) in table.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
      line(kind) {
        $0.field("name", name)
        $0.field("count", count)
      }
    }
  }

  // MARK: Fields

  private var isFirst = false

  private init(output: consuming LineWriter) { self.output = output }

  private mutating func line(_ kind: StaticString, _ body: (inout Self) -> Void) {
    output.write("{\"kind\":\"")
    output.write(kind)
    output.write("\"")
    isFirst = false
    body(&self)
    output.write("}\n")
  }

  private mutating func key(_ key: String) {
    output.write(isFirst ? "\"" : ",\"")
    isFirst = false
    output.write(key)
    output.write("\":")
  }

  private mutating func field(_ name: String, _ value: Int?) {
    key(name)
    if let value { output.write(value) } else { output.write("null") }
  }

  private mutating func field(_ name: String, _ value: Double?) {
    key(name)
    if let value { output.write(value) } else { output.write("null") }
  }

  private mutating func field(_ name: String, _ value: String?) {
    key(name)
    if let value { output.writeQuoted(value) } else { output.write("null") }
  }

  private mutating func time(_ name: String, _ microseconds: Int64?) {
    key(name)
    if let microseconds {
      PacketText.write(seconds: microseconds, into: &output)
    } else {
      output.write("null")
    }
  }
}
