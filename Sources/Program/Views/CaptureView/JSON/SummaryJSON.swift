import ATT
import HCI
import HaloBluetoothCore
import HaloDissection
import HaloCommandLine

/// A summary as JSON, one object per line. `kind` is its subject; times are in seconds since 1970-01-01 UTC, and durations in
/// seconds.
enum SummaryJSON {
  static func write(
    _ summary: CaptureSummary, _ servers: [Dissector.KnownServer], into output: inout LineWriter
  ) {
    output.line("capture") {
      $0.field("packets", summary.packets)
      $0.time("start", summary.start)
      $0.time("end", summary.end)
      for (kind, count) in summary.kinds.sorted(by: { $0.key < $1.key }) {
        $0.field(kind.replacing(" ", with: "_"), count)
      }
      $0.field("lost", summary.lost)
      $0.field("omitted", summary.overflow)
    }
    for device in summary.devices.sorted(by: { $0.address.value < $1.address.value }) {
      output.line("device") {
        $0.field("address", device.address.description)
        $0.field("address_type", device.address.kind.description)
        $0.field("name", device.name)
        $0.field("reports", device.reports)
        $0.field("rssi", device.rssi)
      }
    }
    for link in summary.connections { output.write(link) }
    for link in summary.airConnections { output.write(link) }
    for server in servers {
      for handle in server.table.handles {
        if let attribute = server.table[handle] { output.write(handle, attribute, of: server.name) }
      }
    }
    for device in summary.usedDevices {
      for form in device.writes { output.write(form, of: device, isLocal: false) }
      for form in device.writesToHost { output.write(form, of: device, isLocal: true) }
    }
    for procedure in ObservedProcedure.allCases {
      guard let numbers = summary.procedure(procedure) else { continue }
      output.line("procedure") {
        $0.field("name", procedure.name)
        $0.field("requests", numbers.requests)
        $0.field("errors", numbers.errors)
        $0.time("median", numbers.roundTrips.percentile(0.5))
        $0.time("percentile_95", numbers.roundTrips.percentile(0.95))
        $0.time("longest", numbers.roundTrips.count > 0 ? numbers.roundTrips.longest : nil)
      }
    }
    for (source, values) in summary.values.sorted(by: { $0.key < $1.key }) {
      output.line("values") {
        $0.field("peer", source.peer)
        $0.field("direction", source.isSent ? "sent" : "received")
        $0.field("handle", source.handle.rawValue)
        $0.field("name", values.name)
        $0.field("count", values.statistics.count)
        $0.field("bytes", values.bytes)
        $0.field("rate", values.statistics.rate)
        $0.time("jitter", values.statistics.jitter.map { Int64($0 * 1e6) })
        $0.time("longest_interval", values.statistics.longestInterval / 1000)
        $0.field("gaps", values.statistics.gaps)
      }
    }
    output.counts("ring", summary.ringFrames)
    output.counts("error", summary.errors)
  }
}

extension LineWriter {
  fileprivate mutating func write(_ link: ConnectionSummary) {
    line("connection") { json in
      json.field("adapter", link.adapter)
      json.field("link", link.handle.rawValue)
      json.field("peer", link.peer?.description)
      json.field("peer_name", link.name)
      json.field("type", link.classicType.map { "BR/EDR \($0)" } ?? "LE")
      json.field("role", link.role?.description)
      json.time("start", link.start)
      json.time("end", link.end)
      json.field("reason", link.reason?.description)
      json.field("sent_pdus", link.sentPDUs)
      json.field("received_pdus", link.receivedPDUs)
      json.field("mtu", link.mtu)
      json.write(link.changes)
      json.list("frames", link.frames.sorted { $0.key.rawValue < $1.key.rawValue }) {
        $0.field("psm", $1.key.rawValue)
        $0.field("protocol", $1.key.description)
        $0.field("count", $1.value)
      }
    }
  }

  fileprivate mutating func write(_ changes: [ConnectionSummary.Change]) {
    list("changes", changes) {
      $0.time("time", $1.microseconds)
      $0.field("text", $1.words)
    }
  }

  fileprivate mutating func write(_ link: AirConnectionSummary) {
    line("air_connection") { json in
      json.field("access_address", link.accessAddress)
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
      json.field("mtu", link.mtu)
      json.write(link.changes)
    }
  }

  fileprivate mutating func write(_ form: WrittenForm, of device: UsedDevice, isLocal: Bool) {
    line("writes") { json in
      json.field("peer", device.address?.description)
      json.field("direction", isLocal ? "received" : "sent")
      json.field("handle", form.handle.rawValue)
      json.field("name", form.name)
      json.field("operation", form.operation.description)
      json.write(form.pattern)
      json.field("distinct", form.distinct)
      json.field("words", form.words)
      json.list("answers", form.answers) {
        $0.field("operation", $1.operation.description)
        $0.field("handle", $1.handle?.rawValue)
        $0.write($1.pattern)
      }
    }
  }

  /// - Parameter pattern: of values; `value` is the first of them, as far as all are as long
  fileprivate mutating func write(_ pattern: BytePattern) {
    field("count", pattern.count)
    field("shortest", pattern.lengths.lowerBound)
    field("longest", pattern.lengths.upperBound)
    field("value", Hex.string(pattern.bytes))
    key("varying")
    array(pattern.varyingBytes) { $0.write($1) }
  }

  fileprivate mutating func write(_ handle: AttributeHandle, _ attribute: Attribute, of device: String) {
    line("attribute") {
      $0.field("device", device)
      $0.field("handle", handle.rawValue)
      switch attribute.kind {
      case .service(let range):
        $0.field("type", "service")
        $0.field("end", range.end.rawValue)
      case .include: $0.field("type", "include")
      case .declaration: $0.field("type", "declaration")
      case .value: $0.field("type", "value")
      case .descriptor: $0.field("type", "descriptor")
      }
      $0.field("uuid", attribute.uuid.description)
      $0.field("name", attribute.name)
      $0.field("properties", attribute.properties?.description)
      if let included = attribute.included {
        $0.field("included", included.handles.start.rawValue)
        $0.field("included_end", included.handles.end.rawValue)
        $0.field("included_uuid", included.uuid?.description)
      }
    }
  }

  fileprivate mutating func counts(_ kind: StaticString, _ table: [String: Int]) {
    for (name, count) in table.sorted(by: { ($1.value, $0.key) < ($0.value, $1.key) }) {
      line(kind) {
        $0.field("name", name)
        $0.field("count", count)
      }
    }
  }

  // MARK: Fields

  fileprivate mutating func line(_ kind: StaticString, _ body: (inout Self) -> Void) {
    write("{\"kind\":\"")
    write(kind)
    write("\"")
    body(&self)
    write("}\n")
  }

  /// Writes an array of objects.
  fileprivate mutating func list<Item>(
    _ name: StaticString, _ items: [Item], _ body: (inout Self, Item) -> Void
  ) {
    key(name)
    array(items) { output, item in
      output.write("{")
      body(&output, item)
      output.write("}")
    }
  }

  fileprivate mutating func field(_ name: String, _ value: (some BinaryInteger)?) {
    key(name)
    orNull(value) { $0.write(Int(truncatingIfNeeded: $1)) }
  }

  fileprivate mutating func field(_ name: String, _ value: Double?) {
    key(name)
    orNull(value) { $0.write($1) }
  }

  fileprivate mutating func field(_ name: String, _ value: String?) {
    key(name)
    orNull(value) { $0.writeQuoted($1) }
  }

  fileprivate mutating func time(_ name: StaticString, _ microseconds: Int64?) {
    key(name)
    orNull(microseconds) { PacketText.write(seconds: $1, into: &$0) }
  }
}
