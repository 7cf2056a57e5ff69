import BluetoothCore
import Capture
import Dissection
import LineOutput

/// Packets as text: a line each, or a block with all fields.
struct PacketText {
  private let isColored: Bool

  init(isColored: Bool) { self.isColored = isColored }

  /// - Parameter start: the time of the first packet
  func writeLine(_ packet: DissectedPacket, start: Int64?, into output: inout LineWriter) {
    output.write(packet.info.number, width: 7)
    writeHeader(packet, start, &output)
    output.write(packet.summary)
    writeLoose(packet, &output)
    writePlace(packet, &output)
    output.write("\n")
  }

  /// The adapter, the link and the device at its other end: `  [hci0 0x0040 30:35:38:41:BE:EF R02_BEEF]`.
  private func writePlace(_ packet: DissectedPacket, _ output: inout LineWriter) {
    guard packet.hci != nil, packet.link != nil || packet.info.adapter != nil else { return }
    output.write("  [")
    if let adapter = packet.info.adapter {
      output.write("hci")
      output.write(Int(adapter))
    }
    if let link = packet.link {
      if packet.info.adapter != nil { output.write(" ") }
      output.write(link.text)
    }
    output.write("]")
  }

  func writeBlock(_ packet: DissectedPacket, start: Int64?, into output: inout LineWriter) {
    writeLine(packet, start: start, into: &output)
    if packet.hci == nil { writeBytes(packet.bytes, into: &output) }
    for layer in packet.layers {
      color(layer, &output)
      output.write("  \(layer.rawValue)")
      plain(&output)
      output.write("  \(packet.summary(of: layer) ?? "")\n")
      let bytes = layer == .hci ? packet.bytes : packet.source
      for field in packet.fields(of: layer) { write(field, bytes, &output) }
    }
    output.write("\n")
  }

  private func writeHeader(_ packet: DissectedPacket, _ start: Int64?, _ output: inout LineWriter) {
    output.write("  ")
    if let start, let time = packet.info.microseconds {
      Self.write(seconds: time &- start, width: 14, into: &output)
    } else {
      output.write("       no time")
    }
    switch packet.direction {
    case .hostToController: output.write("  ->  ")
    case .controllerToHost: output.write("  <-  ")
    case nil: output.write("  --  ")
    }
    let name = packet.top?.rawValue ?? "note"
    if let top = packet.top { color(top, &output) }
    output.write(name)
    if packet.top != nil { plain(&output) }
    output.space(10 - name.utf8.count)
  }

  /// Remarks that belong to no layer.
  private func writeLoose(_ packet: DissectedPacket, _ output: inout LineWriter) {
    if !packet.unanswered.isEmpty {
      output.write("; never answered: packet \(packet.unanswered.map(String.init).joined(separator: ", "))")
    }
    if packet.info.drops > 0 {
      output.write("; \(Console.counted(packet.info.drops, "packet")) before it lost by the recorder")
    }
    if packet.info.originalLength < packet.bytes.count, packet.hci != nil {
      output.write("; the file states a length of \(packet.info.originalLength) bytes")
    }
    if packet.info.originalLength > packet.bytes.count {
      output.write("; the capture has \(packet.bytes.count) of \(packet.info.originalLength) bytes")
    }
  }

  private func write(_ field: PacketField, _ bytes: [UInt8], _ output: inout LineWriter) {
    let name = Self.padding(4 + 2 * field.depth) + field.name
    let part = bytes[field.range.clamped(to: 0..<bytes.count)]
    let digits =
      part.count > 8 ? Hex.string(part.prefix(7), separator: " ") + " .." : Hex.string(part, separator: " ")
    let columns = name + Self.padding(34 - name.utf8.count) + " " + digits
    let left = columns + Self.padding(60 - columns.utf8.count) + " " + field.value
    output.write(left + Self.padding(100 - left.utf8.count) + "  ")
    if isColored { output.write("\u{1B}[2m") }
    output.write(field.reference)
    plain(&output)
    output.write("\n")
  }

  private func writeBytes(_ bytes: [UInt8], into output: inout LineWriter) {
    for start in stride(from: 0, to: bytes.count, by: 16) {
      output.write("    " + Hex.string(bytes[start..<min(start + 16, bytes.count)], separator: " ") + "\n")
    }
  }

  private func color(_ layer: Layer, _ output: inout LineWriter) {
    guard isColored else { return }
    switch layer {
    case .hci: output.write("\u{1B}[34m")
    case .l2cap, .signaling, .smp, .sdp, .rfcomm, .avdtp, .avctp: output.write("\u{1B}[36m")
    case .att, .gatt: output.write("\u{1B}[32m")
    case .ring: output.write("\u{1B}[35m")
    }
  }

  private func plain(_ output: inout LineWriter) {
    if isColored { output.write("\u{1B}[0m") }
  }

  private static func padding(_ count: Int) -> String {
    String(repeating: " ", count: max(0, count))
  }

  /// Writes seconds with six decimals.
  static func write(seconds microseconds: Int64, width: Int = 0, into output: inout LineWriter) {
    let magnitude = microseconds.magnitude
    let whole = Int(magnitude / 1_000_000)
    if microseconds < 0, whole == 0 {
      output.space(width - 9)
      output.write("-0")
    } else {
      output.write(microseconds < 0 ? -whole : whole, width: width - 7)
    }
    output.write(".")
    var decimals = Int(magnitude % 1_000_000)
    var place = 100_000
    while place > 0 {
      output.write(decimals / place)
      decimals %= place
      place /= 10
    }
  }
}
