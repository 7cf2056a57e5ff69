import ATT
import BluetoothCore
import Capture
import Dissection
import HCI
import LineOutput
import RingLink

/// Packets as JSON, one object per line.
enum PacketJSON {
  static func write(_ packet: DissectedPacket, into output: inout LineWriter) {
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
    if let adapter = packet.info.adapter { number(",\"adapter\":", Int(adapter), &output) }
    if packet.info.originalLength > packet.bytes.count {
      number(",\"original_length\":", packet.info.originalLength, &output)
    }
    if packet.hci == nil { text(",\"note\":", packet.summary, &output) }
    if let hci = packet.hci { write(hci, &output) }
    if let l2cap = packet.l2cap { write(l2cap, &output) }
    if let signaling = packet.signaling {
      text(",\"signaling\":{\"name\":", signaling.name, &output)
      number(",\"code\":", Int(signaling.code.rawValue), &output)
      number(",\"identifier\":", Int(signaling.identifier), &output)
      output.write("}")
    }
    if let smp = packet.smp {
      text(",\"smp\":{\"name\":", smp.name, &output)
      number(",\"code\":", Int(smp.code.rawValue), &output)
      output.write("}")
    }
    if let att = packet.att { write(att, packet.source, &output) }
    if let gatt = packet.gatt { write(gatt, &output) }
    if let ring = packet.ring { write(ring, &output) }
    if !packet.unanswered.isEmpty {
      output.write(",\"unanswered\":[\(packet.unanswered.map(String.init).joined(separator: ","))]")
    }
    output.write("}\n")
  }

  private static func write(_ hci: HCILayer, _ output: inout LineWriter) {
    switch hci.type {
    case .command: output.write(",\"hci\":{\"type\":\"command\"")
    case .event: output.write(",\"hci\":{\"type\":\"event\"")
    case .acl: output.write(",\"hci\":{\"type\":\"acl\"")
    case .synchronous: output.write(",\"hci\":{\"type\":\"synchronous\"")
    case .isochronous: output.write(",\"hci\":{\"type\":\"isochronous\"")
    default: number(",\"hci\":{\"type\":", Int(hci.type.rawValue), &output)
    }
    if let event = hci.event {
      number(",\"event\":", Int(event.rawValue), &output)
      if let subevent = hci.subevent { number(",\"subevent\":", Int(subevent.rawValue), &output) }
      if let name = hci.subevent.map(\.name) ?? event.name { text(",\"name\":", name, &output) }
    }
    if let opcode = hci.opcode {
      number(",\"opcode\":", Int(opcode.rawValue), &output)
      if let name = opcode.name {
        text(hci.type == .command ? ",\"name\":" : ",\"command\":", name, &output)
      }
    }
    if let status = hci.status { number(",\"status\":", Int(status.rawValue), &output) }
    if let connection = hci.connection { number(",\"link\":", Int(connection.rawValue), &output) }
    if let peer = hci.peer {
      output.write(",\"peer\":\"")
      output.write(peer)
      output.write("\"")
    }
    number(",\"length\":", hci.length, &output)
    if let command = hci.command { reference(",\"answers\":", command, &output) }
    if let problem = hci.problem { text(",\"problem\":", problem.description, &output) }
    output.write("}")
  }

  private static func write(_ l2cap: L2CAPLayer, _ output: inout LineWriter) {
    number(",\"l2cap\":{\"cid\":", Int(l2cap.channel.rawValue), &output)
    number(",\"length\":", l2cap.length, &output)
    number(",\"fragments\":", l2cap.fragments, &output)
    output.write("}")
  }

  private static func write(_ att: ATTLayer, _ source: [UInt8], _ output: inout LineWriter) {
    number(",\"att\":{\"opcode\":", Int(att.opcode.rawValue), &output)
    output.write(",\"name\":\"")
    output.write(att.opcode)
    output.write("\"")
    if let handle = att.handle { number(",\"handle\":", Int(handle.rawValue), &output) }
    if let value = att.value {
      bytes(",\"value\":\"", source, value, &output)
      // Between handle and value or after the value: an offset, a range and a type, a signature.
      if value.lowerBound > att.parameters.lowerBound + (att.handle == nil ? 0 : 2)
        || value.upperBound < att.parameters.upperBound
      {
        bytes(",\"parameters\":\"", source, att.parameters, &output)
      }
    } else if !att.parameters.isEmpty {
      bytes(",\"parameters\":\"", source, att.parameters, &output)
    }
    if let error = att.error { number(",\"error\":", Int(error.rawValue), &output) }
    if let failed = att.failed { number(",\"request\":", Int(failed.rawValue), &output) }
    if let problem = att.problem { text(",\"problem\":", problem.description, &output) }
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

  private static func write(_ ring: RingLayer, _ output: inout LineWriter) {
    output.write(ring.isFromRing ? ",\"ring\":{\"from\":\"ring\"" : ",\"ring\":{\"from\":\"host\"")
    if ring.isByShape { output.write(",\"by_shape\":true") }
    switch ring.content {
    case .frame(let meaning): write(meaning, &output)
    case .bulk(let frame):
      text(",\"name\":", frame.id.description, &output)
      number(",\"bulk\":", Int(frame.id.rawValue), &output)
      bytes(",\"payload\":\"", frame.payload, 0..<frame.payload.count, &output)
    case .part(let id, let received, let length):
      text(",\"name\":", id.description, &output)
      number(",\"bulk\":", Int(id.rawValue), &output)
      number(",\"received\":", received, &output)
      number(",\"length\":", length, &output)
    case .damaged(let what): text(",\"problem\":", what, &output)
    }
    output.write("}")
  }

  private static func write(_ meaning: FrameMeaning, _ output: inout LineWriter) {
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
