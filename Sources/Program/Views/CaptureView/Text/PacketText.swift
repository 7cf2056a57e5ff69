import HaloBluetoothCore
import HaloCommandLine
import HaloDissection

/// Packets as text: a line each, or a block with all fields.
struct PacketText {
  private let isColored: Bool
  /// The fields of a layer; used again for each.
  private let fields = FieldList()

  init(isColored: Bool, showsKeys: Bool = false) {
    self.isColored = isColored
    fields.showsKeys = showsKeys
  }

  /// - Parameter start: the time of the first packet
  func writeLine(_ packet: DissectedPacket, start: Int64?, into output: inout LineWriter) {
    let top = packet.top
    output.write(packet.info.number, width: 7)
    writeHeader(packet, top, start, &output)
    packet.writeSummary(to: &output.text, top: top, using: fields)
    writeLoose(packet, &output)
    writePlace(packet, &output)
    output.write("\n")
  }

  /// The adapter, the link and the device at its other end: `  [hci0 0x0040 30:35:38:41:BE:EF R02_BEEF]`.
  private func writePlace(_ packet: DissectedPacket, _ output: inout LineWriter) {
    guard !packet.isNote, packet.link != nil || packet.info.adapter != nil else { return }
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
    if packet.isNote { writeBytes(packet.bytes, into: &output) }
    for layer in Layer.allCases where packet.has(layer) {
      color(layer, &output)
      output.write("  ")
      output.write(layer.rawValue)
      plain(&output)
      output.write("  ")
      packet.writeSummary(of: layer, to: &output.text, using: fields)
      output.write("\n")
      let bytes = packet.bytes(of: layer)
      fields.removeAll(namesBits: true)
      packet.listFields(of: layer, to: fields)
      for entry in fields.entries { write(entry, bytes.span.bytes, &output.text) }
    }
    output.write("\n")
  }

  private func writeHeader(
    _ packet: DissectedPacket, _ top: Layer?, _ start: Int64?, _ output: inout LineWriter
  ) {
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
    let name = top?.rawValue ?? "note"
    if let top { color(top, &output) }
    output.write(name)
    if top != nil { plain(&output) }
    output.space(10 - name.utf8.count)
  }

  /// Remarks that belong to no layer, or to several.
  private func writeLoose(_ packet: DissectedPacket, _ output: inout LineWriter) {
    for note in packet.security {
      output.write("; ")
      output.write(note.text)
    }
    if !packet.unanswered.isEmpty {
      output.write("; never answered: packet \(packet.unanswered.map(String.init).joined(separator: ", "))")
    }
    if packet.info.drops > 0 {
      output.write("; \(Console.counted(packet.info.drops, "packet")) before it lost by the recorder")
    }
    if packet.info.originalLength < packet.bytes.count, !packet.isNote {
      output.write("; the file states a length of \(packet.info.originalLength) bytes")
    }
    if packet.isCut {
      output.write("; the capture has \(packet.bytes.count) of \(packet.info.originalLength) bytes")
    }
  }

  /// The columns begin at least this far from the start of the line, in characters.
  private enum Column {
    static let bytes = 34
    static let value = 60
    static let reference = 100
  }

  private func write(_ field: FieldList.Entry, _ bytes: RawSpan, _ text: inout TextBuffer) {
    let start = text.count
    text.space(4 + 2 * field.depth)
    text.write(fields.bytes(field.name))
    text.space(start + Column.bytes - text.count)
    text.write(" ")
    let part = field.range.clamped(to: 0..<bytes.byteCount)
    if field.isHidden {
      text.write("..")
    } else if part.count > 8 {
      text.writeSpacedHex(bytes.extracting(part.prefix(7)))
      text.write(" ..")
    } else {
      text.writeSpacedHex(bytes.extracting(part))
    }
    text.space(start + Column.value - text.count)
    text.write(" ")
    let value = fields.bytes(field.value)
    text.write(value)
    // A character of several bytes, as in °C, has one place.
    var reference = start + Column.reference
    for index in 0..<value.byteCount where (value.byte(at: index) ?? 0) & 0xC0 == 0x80 { reference += 1 }
    text.space(reference - text.count)
    text.write("  ")
    if isColored { text.write("\u{1B}[2m") }
    text.write(fields.references[field.reference])
    if isColored { text.write("\u{1B}[0m") }
    text.write("\n")
  }

  private func writeBytes(_ bytes: [UInt8], into output: inout LineWriter) {
    for start in stride(from: 0, to: bytes.count, by: 16) {
      output.write("    ")
      output.text.writeSpacedHex(bytes.span.bytes.extracting(start..<min(start + 16, bytes.count)))
      output.write("\n")
    }
  }

  private func color(_ layer: Layer, _ output: inout LineWriter) {
    guard isColored else { return }
    switch layer {
    case .ll, .hci: output.write("\u{1B}[34m")
    case .l2cap, .signaling, .smp, .sdp, .rfcomm, .avdtp, .avctp: output.write("\u{1B}[36m")
    case .att, .gatt: output.write("\u{1B}[32m")
    case .ring: output.write("\u{1B}[35m")
    }
  }

  private func plain(_ output: inout LineWriter) {
    if isColored { output.write("\u{1B}[0m") }
  }

  /// Writes seconds with six decimals.
  static func write(seconds microseconds: Int64, width: Int = 0, into output: inout LineWriter) {
    let (whole, fraction) = microseconds.magnitude.quotientAndRemainder(dividingBy: 1_000_000)
    if microseconds < 0, whole == 0 {
      output.space(width - 9)
      output.write("-0")
    } else {
      output.write(microseconds < 0 ? -Int(whole) : Int(whole), width: width - 7)
    }
    output.write(".")
    output.text.write(magnitude: fraction, digits: 6)
  }
}
