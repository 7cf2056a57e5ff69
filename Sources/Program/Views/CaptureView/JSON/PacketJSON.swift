import HaloBluetoothCore
import HaloDissection
import HaloCommandLine
import RingLink

/// Packets as JSON, one object per line.
struct PacketJSON {
  /// The fields of a layer; used again for each.
  private let fields = FieldList()

  init(showsKeys: Bool) { fields.showsKeys = showsKeys }

  func write(_ packet: DissectedPacket, into output: inout LineWriter) {
    output.write("{")
    output.member("frame", packet.info.number)
    output.key("time")
    output.orNull(packet.info.microseconds) { PacketText.write(seconds: $1, into: &$0) }
    output.key("direction")
    output.orNull(packet.direction) { $0.writeQuoted($1.word) }
    output.member("adapter", packet.info.adapter)
    if packet.info.originalLength != packet.bytes.count {
      output.member("original_length", packet.info.originalLength)
    }
    if packet.info.drops > 0 { output.member("dropped", packet.info.drops) }
    if packet.isNote { output.member("note", packet.summary) }
    if let air = packet.air { output.object("ll") { write(air, packet, &$0) } }
    if let hci = packet.hci { output.object("hci") { write(hci, packet, &$0) } }
    if let l2cap = packet.l2cap { output.object("l2cap") { Self.write(l2cap, &$0) } }
    if let signaling = packet.signaling {
      write(.signaling, signaling.name, signaling.code.rawValue, signaling.identifier, packet, &output)
    }
    if let smp = packet.smp { write(.smp, smp.name, smp.code.rawValue, nil, packet, &output) }
    if let profile = packet.profile { write(profile, packet, &output) }
    if let att = packet.att { output.object("att") { write(att, packet, &$0) } }
    if let gatt = packet.gatt { output.object("gatt") { Self.write(gatt, &$0) } }
    if let ring = packet.ring { output.object("ring") { write(ring, &$0) } }
    if !packet.security.isEmpty {
      output.key("security")
      output.array(packet.security) { output, note in
        output.write("{")
        output.member("kind", note.kind.rawValue)
        output.member("text", note.text)
        output.write("}")
      }
    }
    if !packet.unanswered.isEmpty {
      output.key("unanswered")
      output.array(packet.unanswered) { $0.write($1) }
    }
    output.write("}\n")
  }

  /// Writes the fields that `list` adds to an empty list.
  private func writeFields(
    as key: StaticString = "fields", isCut: Bool = false, namesBits: Bool = false, _ output: inout LineWriter,
    _ list: (FieldList) -> Void
  ) {
    fields.removeAll(isCut: isCut, namesBits: namesBits)
    list(fields)
    FieldJSON.write(key, fields, &output)
  }

  /// Writes a command of a fixed channel.
  private func write(
    _ layer: Layer, _ name: String, _ code: UInt8, _ identifier: UInt8?, _ packet: DissectedPacket,
    _ output: inout LineWriter
  ) {
    output.key(layer.rawValue)
    output.write("{")
    output.member("name", name)
    output.member("code", code)
    output.member("identifier", identifier)
    writeFields(&output) { packet.listFields(of: layer, to: $0) }
    output.write("}")
  }

  private func write(_ profile: ProfileLayer, _ packet: DissectedPacket, _ output: inout LineWriter) {
    output.key(profile.layer.rawValue)
    output.write("{")
    output.member("psm", profile.psm.rawValue)
    output.member("name", profile.name(in: packet.source.span.bytes))
    if let data = profile.data(in: packet.source.span.bytes) {
      output.member("data", packet.source, data)
      output.member("text", ProfileLayer.words(packet.source.span.bytes.extracting(data)))
    }
    writeFields(&output) { packet.listFields(of: profile.layer, to: $0) }
    output.write("}")
  }

  private func write(_ hci: HCILayer, _ packet: DissectedPacket, _ output: inout LineWriter) {
    switch hci.type {
    case .command: output.member("type", "command")
    case .event: output.member("type", "event")
    case .acl: output.member("type", "acl")
    case .synchronous: output.member("type", "synchronous")
    case .isochronous: output.member("type", "isochronous")
    default: output.member("type", hci.type.rawValue)
    }
    if let event = hci.event {
      output.member("event", event.rawValue)
      output.member("subevent", hci.subevent?.rawValue)
      output.member("name", hci.subevent.map(\.name) ?? event.name)
    }
    if let opcode = hci.opcode {
      output.member("opcode", opcode.rawValue)
      output.member(hci.type == .command ? "name" : "command", opcode.name)
    }
    output.member("status", hci.status?.rawValue)
    output.member("link", hci.connection?.rawValue)
    output.member("peer", hci.peer)
    output.member("peer_name", packet.link?.name)
    output.member("length", hci.length)
    output.member("answers", hci.command)
    output.member("problem", hci.problem?.description)
    if hci.manufacturer != nil || hci.opcode?.isVendorSpecific == true {
      output.member("vendor", hci.vendorName(in: packet.bytes.span.bytes))
    }
    if hci.type == .command || hci.type == .event || hci.type == .isochronous {
      writeFields(as: "parameters", namesBits: true, &output) { packet.listParameters(to: $0) }
    }
  }

  private func write(_ air: AirLayer, _ packet: DissectedPacket, _ output: inout LineWriter) {
    output.member("access_address", air.accessAddress)
    output.member("kind", "\(air.kind)")
    output.member("type", air.advertisingType?.rawValue)
    output.member("opcode", air.opcode?.rawValue)
    output.member("name", air.name)
    if air.isOfConnection {
      output.member("llid", air.llid)
      output.member("sn", air.sn)
      output.member("nesn", air.nesn)
      output.member("md", air.hasMoreData)
      output.member("central", packet.link?.central)
      output.member("peripheral", packet.link?.peer)
      output.member("peripheral_name", packet.link?.name)
    }
    output.member("length", air.length)
    output.key("crc")
    output.orNull(air.crc == .unknown ? nil : air.crc) { $0.writeQuoted("\($1)") }
    output.member("event", air.event)
    for (note, key) in [
      (AirLayer.Notes.beginsEvent, "begins_event" as StaticString), (.retransmission, "retransmission"),
      (.encrypted, "encrypted"), (.decrypted, "decrypted"), (.derivedDirection, "derived_direction"),
    ] where air.notes.contains(note) {
      output.member(key, true)
    }
    output.member("channel", packet.reception?.channel)
    output.member("rssi", packet.reception?.rssi)
    output.member("phy", packet.reception?.phy?.description)
    output.member("problem", air.problem?.description)
    if air.kind == .advertising || air.kind == .control {
      writeFields(isCut: packet.isCut, namesBits: true, &output) { packet.listParameters(to: $0) }
    }
  }

  private static func write(_ l2cap: L2CAPLayer, _ output: inout LineWriter) {
    output.member("cid", l2cap.channel.rawValue)
    output.member("length", l2cap.length)
    output.member("fragments", l2cap.fragments)
    output.member("psm", l2cap.psm?.rawValue)
    output.member("credits", l2cap.credits)
    output.member("unit", l2cap.unit?.count)
  }

  private func write(_ att: ATTLayer, _ packet: DissectedPacket, _ output: inout LineWriter) {
    let source = packet.source
    output.member("opcode", att.opcode.rawValue)
    output.member("name", att.opcode)
    output.member("handle", att.handle?.rawValue)
    if let value = att.value {
      output.member("value", source, value)
      // Between handle and value or after the value: an offset, a range and a type, a signature.
      if value.lowerBound > att.parameters.lowerBound + (att.handle == nil ? 0 : 2)
        || value.upperBound < att.parameters.upperBound
      {
        output.member("parameters", source, att.parameters)
      }
    } else if !att.parameters.isEmpty {
      output.member("parameters", source, att.parameters)
    }
    output.member("error", att.error?.rawValue)
    output.member("request", att.failed?.rawValue)
    output.member("problem", att.problem?.description)
    if att.hasList { writeFields(&output) { packet.listFields(of: .att, to: $0) } }
    if let parts = att.valueFields(of: source.span.bytes, packet.gatt) {
      writeFields(&output) { $0.append(parts) }
    }
  }

  private static func write(_ gatt: GATTLayer, _ output: inout LineWriter) {
    output.key("procedure")
    output.orNull(gatt.procedure) { $0.writeQuoted($1.name) }
    output.member("start", gatt.start)
    if gatt.start != nil { output.member("step", gatt.step) }
    output.member("request", gatt.request)
    output.member("uuid", gatt.attribute?.uuid)
    output.member("attribute", gatt.attribute?.name)
    output.member("handle", gatt.handle?.rawValue)
    output.member("mtu", gatt.mtu)
    output.member("unanswered", gatt.unanswered)
  }

  private func write(_ ring: RingLayer, _ output: inout LineWriter) {
    output.member("from", ring.isFromRing ? "ring" : "host")
    if ring.isByShape { output.member("by_shape", true) }
    switch ring.content {
    case .frame(let meaning): Self.write(meaning, of: ring, &output)
    case .bulk(let frame):
      output.member("name", frame.id.description)
      output.member("bulk", frame.id.rawValue)
      output.member("payload", frame.payload, 0..<frame.payload.count)
      let meaning = frame.meaning(isFromRing: ring.isFromRing)
      output.member("form", meaning.form)
      writeFields(&output) { ring.listValues(of: meaning, to: $0) }
    case .part(let id, let received, let length):
      output.member("name", id.description)
      output.member("bulk", id.rawValue)
      output.member("received", received)
      output.member("length", length)
    case .damaged(let what): output.member("problem", what)
    }
  }

  private static func write(_ meaning: DecodedFrame, of ring: RingLayer, _ output: inout LineWriter) {
    output.member("command", meaning.frame.command.rawValue)
    if let refusal = meaning.refusal {
      output.member("refused", meaning.name)
      return output.member("reason", refusal.code.rawValue)
    }
    guard meaning.isKnown else { return }
    output.member("name", meaning.name)
    guard let form = meaning.form else { return }
    output.member("form", form.name)
    output.object("fields") { output in
      if case .accelerometer(let sample)? = ring.sample { return write(sample, ring.encoding, &output) }
      for field in form.fields {
        output.key(field.name)
        switch field.value(in: meaning.frame) {
        case .number(let number, _, _): output.write(number)
        case .flag(let flag): output.write(flag ? "true" : "false")
        case .bytes(let value): output.writeQuotedHex(value.span.bytes)
        }
      }
    }
  }

  /// Acceleration in g and in counts, as `stream` prints it, and the bytes.
  private static func write(
    _ sample: AccelerometerSample, _ encoding: AccelerometerEncoding?, _ output: inout LineWriter
  ) {
    output.writeMembers(encoding.map { sample.acceleration($0) }, encoding.map { sample.counts($0) })
    output.member("bytes_x", sample.x)
    output.member("bytes_y", sample.y)
    output.member("bytes_z", sample.z)
  }
}
