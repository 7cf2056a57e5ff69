import HCI
import HaloBluetoothCore
import HaloCapture

extension AirLayer {
  /// Writes a one-line summary of the packet.
  ///
  /// - Parameter fields: memory for the fields; its contents are overwritten
  func writeSummary(
    of bytes: RawSpan, _ reception: AirReception?, isCut: Bool, to text: inout TextBuffer,
    using fields: FieldList
  ) {
    let isWrong = crc == .wrong
    switch kind {
    case .unknown: text.write("the beginning of a packet")
    case .isochronous:
      text.write("isochronous data, ")
      writeLength(to: &text)
    case .advertising:
      text.write(name ?? "advertising PDU of type \(header & 0x0F)")
      if !isWrong { writeAdvertisement(bytes, isCut: isCut, to: &text, using: fields) }
    case .data, .control:
      if isWrong {
        text.write("PDU of a connection, ")
        writeLength(to: &text)
      } else if notes.contains(.encrypted) {
        text.write("encrypted, ")
        writeLength(to: &text)
      } else if kind == .control {
        writeControl(bytes, isCut: isCut, to: &text, using: fields)
      } else {
        writeData(to: &text)
      }
      if notes.contains(.retransmission) { text.write(", retransmission") }
      if let event { text.write(", event ", Int(event)) }
    }
    if let channel = reception?.channel { text.write(", channel ", Int(channel)) }
    if kind == .advertising, let rssi = reception?.rssi { text.write(", ", Int(rssi), " dBm") }
    if let problem { text.write("; ", problem) }
  }

  private func writeLength(to text: inout TextBuffer) { text.write("", Int(length), " bytes") }

  private func writeData(to text: inout TextBuffer) {
    if isEmpty { return text.write("empty") }
    switch llid {
    case 1: text.write("continues an L2CAP frame, ")
    case 2: text.write("starts an L2CAP frame, ")
    default: text.write("reserved LLID 0, ")
    }
    writeLength(to: &text)
  }

  private func writeControl(
    _ bytes: RawSpan, isCut: Bool, to text: inout TextBuffer, using fields: FieldList
  ) {
    guard let opcode else { return text.write("LL Control PDU") }
    text.write(opcode.name ?? "LL Control PDU with opcode \(Hex.string(opcode.rawValue))")
    fields.removeAll(isCut: isCut)
    listControl(bytes, to: fields)
    // The first one is the opcode.
    text.write(fields, after: ": ") { $0 == 0 }
  }

  private func writeAdvertisement(
    _ bytes: RawSpan, isCut: Bool, to text: inout TextBuffer, using fields: FieldList
  ) {
    let report = AirAdvertisement(self, bytes)
    if let sender = report.sender {
      text.write(" from ", sender)
      text.write(" (", sender.kind.description, ")")
    }
    if let receiver = report.receiver { text.write(" to ", receiver) }
    text.writeName(in: bytes.extracting(report.data))
    if let request = report.request {
      text.write(": access address ", request.accessAddress.description, ", interval ")
      request.interval.writeField(to: &text)
      text.write(", latency ", Int(request.latency), ", timeout ")
      request.timeout.writeField(to: &text)
      text.write(", hop ", Int(request.hop.hop))
    } else if report.hasData {
      text.write(", ", report.data.count, " bytes")
    }
    if let pointer = report.pointer, pointer.offset > 0 {
      text.write(", continued on channel ", Int(pointer.channel))
    }
    if report.isDamaged, !isCut { text.write("; damaged") }
  }
}
