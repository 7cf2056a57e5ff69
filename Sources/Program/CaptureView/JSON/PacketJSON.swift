import ATT
import HCI
import HaloBluetoothCore
import HaloCapture
import HaloDissection
import HaloLineOutput
import RingLink

/// Packets as JSON, one object per line.
struct PacketJSON {
  /// The fields of a layer; used again for each.
  private let fields = FieldList()

  func write(_ packet: DissectedPacket, into output: inout LineWriter) {
    output.write("{\"frame\":")
    output.write(packet.info.number)
    output.write(",\"time\":")
    if let time = packet.info.microseconds {
      PacketText.write(seconds: time, into: &output)
    } else {
      output.write("null")
    }
    switch packet.direction {
    case .hostToController: output.write(",\"direction\":\"sent\"")
    case .controllerToHost: output.write(",\"direction\":\"received\"")
    case nil: output.write(",\"direction\":null")
    }
    if let adapter = packet.info.adapter { Self.number(",\"adapter\":", Int(adapter), &output) }
    if packet.info.originalLength != packet.bytes.count {
      Self.number(",\"original_length\":", packet.info.originalLength, &output)
    }
    if packet.info.drops > 0 { Self.number(",\"dropped\":", packet.info.drops, &output) }
    if packet.isNote { Self.text(",\"note\":", packet.summary, &output) }
    if let air = packet.air { write(air, packet, &output) }
    if let hci = packet.hci { write(hci, packet, &output) }
    if let l2cap = packet.l2cap { Self.write(l2cap, &output) }
    if let signaling = packet.signaling {
      Self.text(",\"signaling\":{\"name\":", signaling.name, &output)
      Self.number(",\"code\":", Int(signaling.code.rawValue), &output)
      Self.number(",\"identifier\":", Int(signaling.identifier), &output)
      write("fields", of: packet, .signaling, &output)
      output.write("}")
    }
    if let smp = packet.smp {
      Self.text(",\"smp\":{\"name\":", smp.name, &output)
      Self.number(",\"code\":", Int(smp.code.rawValue), &output)
      write("fields", of: packet, .smp, &output)
      output.write("}")
    }
    if let profile = packet.profile {
      output.write(",\"\(profile.layer.rawValue)\":{\"psm\":")
      output.write(Int(profile.psm.rawValue))
      Self.text(",\"name\":", profile.name(in: packet.source.span.bytes), &output)
      if let data = profile.data(in: packet.source.span.bytes) {
        Self.bytes(",\"data\":\"", packet.source, data, &output)
        let words = ProfileLayer.words(packet.source.span.bytes.extracting(data))
        if let words { Self.text(",\"text\":", words, &output) }
      }
      write("fields", of: packet, profile.layer, &output)
      output.write("}")
    }
    if let att = packet.att { write(att, packet, &output) }
    if let gatt = packet.gatt { Self.write(gatt, &output) }
    if let ring = packet.ring { write(ring, &output) }
    if !packet.unanswered.isEmpty {
      output.write(",\"unanswered\":[\(packet.unanswered.map(String.init).joined(separator: ","))]")
    }
    output.write("}\n")
  }

  /// Writes the fields of a layer.
  private func write(
    _ key: StaticString, of packet: DissectedPacket, _ layer: Layer, _ output: inout LineWriter
  ) {
    fields.removeAll()
    packet.listFields(of: layer, to: fields)
    FieldJSON.write(key, fields, &output)
  }

  private func write(_ hci: HCILayer, _ packet: DissectedPacket, _ output: inout LineWriter) {
    switch hci.type {
    case .command: output.write(",\"hci\":{\"type\":\"command\"")
    case .event: output.write(",\"hci\":{\"type\":\"event\"")
    case .acl: output.write(",\"hci\":{\"type\":\"acl\"")
    case .synchronous: output.write(",\"hci\":{\"type\":\"synchronous\"")
    case .isochronous: output.write(",\"hci\":{\"type\":\"isochronous\"")
    default: Self.number(",\"hci\":{\"type\":", Int(hci.type.rawValue), &output)
    }
    if let event = hci.event {
      Self.number(",\"event\":", Int(event.rawValue), &output)
      if let subevent = hci.subevent { Self.number(",\"subevent\":", Int(subevent.rawValue), &output) }
      if let name = hci.subevent.map(\.name) ?? event.name { Self.text(",\"name\":", name, &output) }
    }
    if let opcode = hci.opcode {
      Self.number(",\"opcode\":", Int(opcode.rawValue), &output)
      if let name = opcode.name {
        Self.text(hci.type == .command ? ",\"name\":" : ",\"command\":", name, &output)
      }
    }
    if let status = hci.status { Self.number(",\"status\":", Int(status.rawValue), &output) }
    if let connection = hci.connection { Self.number(",\"link\":", Int(connection.rawValue), &output) }
    if let peer = hci.peer {
      output.write(",\"peer\":\"")
      output.write(peer)
      output.write("\"")
    }
    if let name = packet.link?.name { Self.text(",\"peer_name\":", name, &output) }
    Self.number(",\"length\":", hci.length, &output)
    if let command = hci.command { Self.reference(",\"answers\":", command, &output) }
    if let problem = hci.problem { Self.text(",\"problem\":", problem.description, &output) }
    if hci.manufacturer != nil || hci.opcode?.isVendorSpecific == true,
      let name = hci.vendorName(in: packet.bytes.span.bytes)
    {
      Self.text(",\"vendor\":", name, &output)
    }
    if hci.type == .command || hci.type == .event || hci.type == .isochronous {
      fields.removeAll(namesBits: true)
      packet.listParameters(to: fields)
      FieldJSON.write("parameters", fields, &output)
    }
    output.write("}")
  }

  private func write(_ air: AirLayer, _ packet: DissectedPacket, _ output: inout LineWriter) {
    Self.number(",\"ll\":{\"access_address\":", Int(air.accessAddress), &output)
    output.write(",\"kind\":\"\(air.kind)\"")
    if let type = air.advertisingType { Self.number(",\"type\":", Int(type.rawValue), &output) }
    if let opcode = air.opcode { Self.number(",\"opcode\":", Int(opcode.rawValue), &output) }
    if let name = air.name { Self.text(",\"name\":", name, &output) }
    if air.isOfConnection {
      Self.number(",\"llid\":", Int(air.llid), &output)
      Self.number(",\"sn\":", Int(air.sn), &output)
      Self.number(",\"nesn\":", Int(air.nesn), &output)
      output.write(air.hasMoreData ? ",\"md\":true" : ",\"md\":false")
      if let link = packet.link {
        if let central = link.central { output.write(",\"central\":\"\(central)\"") }
        if let peripheral = link.peer { output.write(",\"peripheral\":\"\(peripheral)\"") }
        if let name = link.name { Self.text(",\"peripheral_name\":", name, &output) }
      }
    }
    Self.number(",\"length\":", Int(air.length), &output)
    switch air.crc {
    case .right: output.write(",\"crc\":\"right\"")
    case .wrong: output.write(",\"crc\":\"wrong\"")
    case .unknown: output.write(",\"crc\":null")
    }
    if let event = air.event { Self.number(",\"event\":", Int(event), &output) }
    for (note, key) in [
      (AirLayer.Notes.beginsEvent, "begins_event"), (.retransmission, "retransmission"),
      (.encrypted, "encrypted"),
      (.decrypted, "decrypted"), (.derivedDirection, "derived_direction"),
    ] where air.notes.contains(note) {
      output.write(",\"\(key)\":true")
    }
    if let reception = packet.reception {
      if let channel = reception.channel { Self.number(",\"channel\":", Int(channel), &output) }
      if let rssi = reception.rssi { Self.number(",\"rssi\":", Int(rssi), &output) }
      if let phy = reception.phy { output.write(",\"phy\":\"\(phy)\"") }
    }
    if let problem = air.problem { Self.text(",\"problem\":", problem.description, &output) }
    if air.kind == .advertising || air.kind == .control {
      fields.removeAll(isCut: packet.isCut, namesBits: true)
      packet.listParameters(to: fields)
      FieldJSON.write("fields", fields, &output)
    }
    output.write("}")
  }

  private static func write(_ l2cap: L2CAPLayer, _ output: inout LineWriter) {
    number(",\"l2cap\":{\"cid\":", Int(l2cap.channel.rawValue), &output)
    number(",\"length\":", l2cap.length, &output)
    number(",\"fragments\":", l2cap.fragments, &output)
    if let psm = l2cap.psm { number(",\"psm\":", Int(psm.rawValue), &output) }
    if let credits = l2cap.credits { number(",\"credits\":", credits, &output) }
    if let unit = l2cap.unit { number(",\"unit\":", unit.count, &output) }
    output.write("}")
  }

  private func write(_ att: ATTLayer, _ packet: DissectedPacket, _ output: inout LineWriter) {
    let source = packet.source
    Self.number(",\"att\":{\"opcode\":", Int(att.opcode.rawValue), &output)
    output.write(",\"name\":\"")
    output.write(att.opcode)
    output.write("\"")
    if let handle = att.handle { Self.number(",\"handle\":", Int(handle.rawValue), &output) }
    if let value = att.value {
      Self.bytes(",\"value\":\"", source, value, &output)
      // Between handle and value or after the value: an offset, a range and a type, a signature.
      if value.lowerBound > att.parameters.lowerBound + (att.handle == nil ? 0 : 2)
        || value.upperBound < att.parameters.upperBound
      {
        Self.bytes(",\"parameters\":\"", source, att.parameters, &output)
      }
    } else if !att.parameters.isEmpty {
      Self.bytes(",\"parameters\":\"", source, att.parameters, &output)
    }
    if let error = att.error { Self.number(",\"error\":", Int(error.rawValue), &output) }
    if let failed = att.failed { Self.number(",\"request\":", Int(failed.rawValue), &output) }
    if let problem = att.problem { Self.text(",\"problem\":", problem.description, &output) }
    if att.hasList { write("fields", of: packet, .att, &output) }
    if let parts = att.valueFields(of: source.span.bytes, packet.gatt) {
      fields.removeAll()
      fields.append(parts)
      FieldJSON.write("fields", fields, &output)
    }
    output.write("}")
  }

  private static func write(_ gatt: GATTLayer, _ output: inout LineWriter) {
    output.write(",\"gatt\":{\"procedure\":")
    if let procedure = gatt.procedure { output.writeQuoted(procedure.name) } else { output.write("null") }
    if let start = gatt.start { number(",\"start\":", start, &output) }
    if gatt.start != nil { number(",\"step\":", gatt.step, &output) }
    if let request = gatt.request { reference(",\"request\":", request, &output) }
    if let attribute = gatt.attribute {
      output.write(",\"uuid\":\"")
      output.write(attribute.uuid)
      output.write("\"")
      text(",\"attribute\":", attribute.name, &output)
    }
    if let handle = gatt.handle { number(",\"handle\":", Int(handle.rawValue), &output) }
    if let mtu = gatt.mtu { number(",\"mtu\":", Int(mtu), &output) }
    if let unanswered = gatt.unanswered { number(",\"unanswered\":", unanswered, &output) }
    output.write("}")
  }

  private func write(_ ring: RingLayer, _ output: inout LineWriter) {
    output.write(ring.isFromRing ? ",\"ring\":{\"from\":\"ring\"" : ",\"ring\":{\"from\":\"host\"")
    if ring.isByShape { output.write(",\"by_shape\":true") }
    switch ring.content {
    case .frame(let meaning): Self.write(meaning, of: ring, &output)
    case .bulk(let frame):
      Self.text(",\"name\":", frame.id.description, &output)
      Self.number(",\"bulk\":", Int(frame.id.rawValue), &output)
      Self.bytes(",\"payload\":\"", frame.payload, 0..<frame.payload.count, &output)
      let meaning = frame.meaning(isFromRing: ring.isFromRing)
      if let form = meaning.form { Self.text(",\"form\":", form, &output) }
      fields.removeAll()
      ring.listValues(of: meaning, to: fields)
      FieldJSON.write("fields", fields, &output)
    case .part(let id, let received, let length):
      Self.text(",\"name\":", id.description, &output)
      Self.number(",\"bulk\":", Int(id.rawValue), &output)
      Self.number(",\"received\":", received, &output)
      Self.number(",\"length\":", length, &output)
    case .damaged(let what): Self.text(",\"problem\":", what, &output)
    }
    output.write("}")
  }

  /// Acceleration in g and in counts, as `stream` prints it, and the bytes.
  private static func write(
    _ sample: AccelerometerSample, _ encoding: AccelerometerEncoding?, _ output: inout LineWriter
  ) {
    output.writeMembers(encoding.map { sample.acceleration($0) }, encoding.map { sample.counts($0) })
    number(",\"bytes_x\":", Int(sample.x), &output)
    number(",\"bytes_y\":", Int(sample.y), &output)
    number(",\"bytes_z\":", Int(sample.z), &output)
  }

  private static func write(_ meaning: FrameMeaning, of ring: RingLayer, _ output: inout LineWriter) {
    number(",\"command\":", Int(meaning.frame.command.rawValue), &output)
    if let refusal = meaning.refusal {
      text(",\"refused\":", meaning.name, &output)
      return number(",\"reason\":", Int(refusal.code.rawValue), &output)
    }
    guard meaning.isKnown else { return }
    text(",\"name\":", meaning.name, &output)
    guard let form = meaning.form else { return }
    text(",\"form\":", form.name, &output)
    output.write(",\"fields\":{")
    if case .accelerometer(let sample)? = ring.sample {
      write(sample, ring.encoding, &output)
      return output.write("}")
    }
    for index in form.fields.indices {
      if index > 0 { output.write(",") }
      output.write("\"")
      output.write(form.fields[index].name)
      output.write("\":")
      switch form.fields[index].value(in: meaning.frame) {
      case .number(let number, _, _): output.write(number)
      case .flag(let flag): if flag { output.write("true") } else { output.write("false") }
      case .bytes(let value):
        output.write("\"")
        output.writeHex(value.span.bytes)
        output.write("\"")
      }
    }
    output.write("}")
  }

  // MARK: Values

  private static func number(_ key: StaticString, _ value: Int, _ output: inout LineWriter) {
    output.write(key)
    output.write(value)
  }

  private static func text(_ key: StaticString, _ value: String, _ output: inout LineWriter) {
    output.write(key)
    output.writeQuoted(value)
  }

  /// The key ends with the opening quote.
  private static func bytes(
    _ key: StaticString, _ source: [UInt8], _ range: Range<Int>, _ output: inout LineWriter
  ) {
    output.write(key)
    output.writeHex(source.span.bytes.extracting(range.clamped(to: 0..<source.count)))
    output.write("\"")
  }

  private static func reference(_ key: StaticString, _ value: PacketReference, _ output: inout LineWriter) {
    output.write(key)
    number("{\"frame\":", value.number, &output)
    if let microseconds = value.microseconds {
      output.write(",\"seconds\":")
      PacketText.write(seconds: microseconds, into: &output)
    }
    output.write("}")
  }
}
