import HCI
import HaloBluetoothCore
import HaloCapture
import HaloGATT

/// A packet, layer by layer. A layer that it does not have, or that is not complete yet, is nil.
package struct DissectedPacket: Hashable, Sendable {
  package var info: CaptureRecordInfo
  /// The packet; of HCI, with its H4 type byte.
  package var bytes: [UInt8]
  /// An L2CAP frame with its header that was sent in several packets; this is the last.
  package var reassembled: [UInt8]?
  /// The link layer's PDU of a packet of the air.
  package var air: AirLayer? {
    get { airBox?.layer }
    set { airBox = newValue.map(AirBox.init) }
  }
  private var airBox: AirBox?
  /// Nil for records that are not HCI packets, such as a monitor's notes.
  package var hci: HCILayer?
  /// The link that it is about or was sent on, if there is one.
  package var link: LinkIdentity?
  package var l2cap: L2CAPLayer?
  package var signaling: SignalingLayer?
  package var smp: SMPLayer?
  /// A protocol of BR/EDR on a channel of its own.
  package var profile: ProfileLayer?
  package var att: ATTLayer?
  package var gatt: GATTLayer?
  package var ring: RingLayer?
  /// What it says about the security of its link.
  package var security: [SecurityNote] = []
  /// Requests that will never be answered, as their link is gone: the numbers of their packets.
  package var unanswered: [Int] = []
  /// Whether a link begins or ends with it: whether it is a `LinkChange`.
  var changesLinks = false

  /// No packet, for `Dissector.dissect(_:_:into:)`.
  package init() {
    bytes = []
    info = CaptureRecordInfo(number: 0, microseconds: nil, content: .hci(nil), originalLength: 0)
  }

  /// Becomes another packet, with no layer above HCI. The memory of ``bytes`` is used again.
  mutating func begin(_ bytes: RawSpan, _ info: CaptureRecordInfo) {
    self.bytes.removeAll(keepingCapacity: true)
    bytes.withUnsafeBytes { self.bytes.append(contentsOf: $0) }
    self.info = info
    // One by one: a whole new packet would be made first, and copied.
    reassembled = nil
    hci = if case .hci = info.content { HCILayer(bytes) } else { nil }
    airBox = nil
    link = nil
    l2cap = nil
    signaling = nil
    smp = nil
    profile = nil
    att = nil
    gatt = nil
    ring = nil
    changesLinks = false
    if !unanswered.isEmpty { unanswered = [] }
    if !security.isEmpty { security = [] }
  }

  /// The bytes that the layers from L2CAP up point into.
  package var source: [UInt8] { reassembled ?? bytes }

  /// Whether the capture has only its beginning (snap length).
  package var isCut: Bool { info.originalLength > bytes.count }

  /// The direction, seen from the host; nil if unknown.
  package var direction: CaptureDirection? {
    if let known = info.direction { return known }
    switch hci?.type {
    case .command?: return .hostToController
    case .event?: return .controllerToHost
    default: return air?.direction
    }
  }

  /// Whether it is a record that is no packet.
  package var isNote: Bool { hci == nil && air == nil }

  /// The bytes that a layer points into.
  package func bytes(of layer: Layer) -> [UInt8] { layer == .hci || layer == .ll ? bytes : source }

  /// How a sniffer has received it; nil if it was not on the air.
  package var reception: AirReception? {
    if case .air(let reception) = info.content { reception } else { nil }
  }

  /// The layers that it has, from the wire up.
  package var layers: [Layer] { Layer.allCases.filter(has) }

  package func has(_ layer: Layer) -> Bool {
    switch layer {
    case .ll: air != nil
    case .hci: hci != nil
    case .l2cap: l2cap != nil
    case .signaling: signaling != nil
    case .smp: smp != nil
    case .sdp, .rfcomm, .avdtp, .avctp: profile?.layer == layer
    case .att: att != nil
    case .gatt: gatt != nil
    case .ring: ring != nil
    }
  }

  /// The highest layer that has bytes of its own; GATT only explains those of ATT.
  package var top: Layer? {
    if ring != nil { return .ring }
    if att != nil { return .att }
    if let profile { return profile.layer }
    if smp != nil { return .smp }
    if signaling != nil { return .signaling }
    if l2cap != nil { return .l2cap }
    if hci != nil { return .hci }
    return air == nil ? nil : .ll
  }

  /// Writes one line about one layer; nothing if the packet does not have it.
  ///
  /// - Parameters:
  ///   - layer: a layer of this packet
  ///   - text: receives the line, without its end
  ///   - fields: memory that can be used for many packets; its contents are overwritten
  ///   - commands: the known HCI commands; nil for the standard ones
  package func writeSummary(
    of layer: Layer, to text: inout TextBuffer, using fields: FieldList = FieldList(),
    commands: HCICommandCatalog? = nil
  ) {
    let source = source
    let span = source.span.bytes
    switch layer {
    case .ll: air?.writeSummary(of: bytes.span.bytes, reception, isCut: isCut, to: &text, using: fields)
    case .hci: hci?.writeSummary(of: bytes.span.bytes, commands ?? .standard, to: &text, using: fields)
    case .l2cap: l2cap?.writeSummary(to: &text)
    case .signaling: signaling?.writeSummary(of: span, to: &text)
    case .smp: smp?.writeSummary(of: span, to: &text, using: fields)
    case .sdp, .rfcomm, .avdtp, .avctp: profile?.writeSummary(of: span, to: &text)
    case .att: att?.writeSummary(of: span, gatt, to: &text)
    case .gatt: gatt?.writeSummary(to: &text)
    case .ring: ring?.writeSummary(of: span, to: &text)
    }
  }

  /// One line about one layer; nil if the packet does not have it.
  package func summary(of layer: Layer, commands: HCICommandCatalog? = nil) -> String? {
    has(layer) ? TextBuffer.string { writeSummary(of: layer, to: &$0, commands: commands) } : nil
  }

  /// Writes one line about the whole packet: its highest layer, and its purpose.
  ///
  /// - Parameters:
  ///   - text: receives the line, without its end
  ///   - top: the same as ``top``
  ///   - fields: memory that can be used for many packets; its contents are overwritten
  package func writeSummary(to text: inout TextBuffer, top: Layer?, using fields: FieldList = FieldList()) {
    guard let top else { return text.write(RecordNote.summary(of: self)) }
    writeSummary(of: top, to: &text, using: fields)
    guard top == .att, let gatt else { return }
    text.write(" · ")
    gatt.writeSummary(to: &text)
  }

  /// Notes a problem of the fragment of an L2CAP frame.
  mutating func note(_ problem: PacketProblem) {
    if hci != nil { hci?.problem = problem } else { air?.problem = problem }
  }

  /// The capture has only the beginning of this packet: missing bytes are no damage.
  mutating func noteCut() {
    hci?.isCut = true
    if hci?.problem?.isOfLength == true { hci?.problem = nil }
    if att?.problem?.isOfLength == true { att?.problem = .cut }
  }

  /// One line about the whole packet: its highest layer, and its purpose.
  package var summary: String { TextBuffer.string { writeSummary(to: &$0, top: top) } }

  /// Adds the fields of one layer to a list; none if the packet does not have it.
  ///
  /// - Parameters:
  ///   - layer: a layer of this packet
  ///   - list: receives the fields
  ///   - commands: the known HCI commands; nil for the standard ones
  package func listFields(of layer: Layer, to list: FieldList, commands: HCICommandCatalog? = nil) {
    let source = source
    let span = source.span.bytes
    if isCut { list.noteCut() }
    switch layer {
    case .ll: air?.list(bytes.span.bytes, reception, hasUpperLayer: l2cap != nil, to: list)
    case .hci: hci?.list(bytes.span.bytes, hasUpperLayer: l2cap != nil, commands ?? .standard, to: list)
    case .l2cap: l2cap?.list(span, hasUpperLayer: top != .l2cap, to: list)
    case .signaling: signaling?.list(span, to: list)
    case .smp: smp?.list(span, to: list)
    case .sdp, .rfcomm, .avdtp, .avctp: profile?.list(span, to: list)
    case .att: att?.list(span, gatt, to: list)
    case .gatt: gatt?.list(at: att?.range.lowerBound ?? 0, to: list)
    case .ring: ring?.list(to: list)
    }
  }

  /// Adds the parameters of a command or an event, the headers of isochronous data, or the payload of a PDU of the link
  /// layer, to a list.
  package func listParameters(to list: FieldList) {
    hci?.listParameters(bytes.span.bytes, .standard, to: list)
    air?.listContent(bytes.span.bytes, to: list)
  }

  /// The fields of one layer, as values of their own.
  ///
  /// - Parameters:
  ///   - layer: whose fields are wanted
  ///   - commands: the commands that are known; nil for those of the specification
  ///   - namesBits: whether bits that have names are listed, below the field that they are in
  package func fields(
    of layer: Layer, commands: HCICommandCatalog? = nil, namesBits: Bool = false
  ) -> [PacketField] {
    let list = FieldList()
    list.removeAll(namesBits: namesBits)
    listFields(of: layer, to: list, commands: commands)
    return list.fields
  }

  /// The same packet with zeros in place of keys.
  package var withoutKeys: DissectedPacket {
    let list = FieldList()
    var packet = self
    for layer in [Layer.hci, .smp] where has(layer) && (layer == .smp || l2cap == nil) {
      listFields(of: layer, to: list)
    }
    for entry in list.entries where entry.isHidden {
      for index in entry.range.clamped(to: 0..<source.count) {
        if packet.reassembled == nil { packet.bytes[index] = 0 } else { packet.reassembled?[index] = 0 }
      }
    }
    // The end of a frame with a key is in the packet itself, too.
    if packet.reassembled != nil, list.entries.contains(where: \.isHidden) {
      for index in packet.bytes.indices.dropFirst(hci?.type.headerLength ?? 0) { packet.bytes[index] = 0 }
    }
    return packet
  }

  /// The text of a characteristic's value in a response, if the request was for that characteristic.
  package func readText(of uuid: BluetoothUUID) -> String? {
    readRange(of: uuid).map { String(printable: source[$0]) }
  }

  /// The range of a characteristic's value in a response, in ``source``.
  func readRange(of uuid: BluetoothUUID) -> Range<Int>? {
    guard let att, att.opcode == .readResponse || att.opcode == .readByTypeResponse,
      gatt?.type == uuid || gatt?.attribute?.uuid == uuid
    else { return nil }
    switch att.opcode {
    case .readResponse: return att.value
    default:
      // The length of an entry, the handle, the value.
      let first = att.range.lowerBound + 1
      guard att.range.count >= 4, Int(source[first]) >= 2 else { return nil }
      return first + 3..<min(first + 1 + Int(source[first]), att.range.upperBound)
    }
  }

  /// The range of the peer's Device Name, if it is in this response.
  var deviceName: Range<Int>? {
    direction == .controllerToHost ? readRange(of: GATTUUID.deviceName) : nil
  }

}

/// Keeps the layer of the air out of the packets of HCI, which are copied more often than any others.
private final class AirBox: Hashable, Sendable {
  let layer: AirLayer

  init(_ layer: AirLayer) { self.layer = layer }

  static func == (left: AirBox, right: AirBox) -> Bool { left.layer == right.layer }

  func hash(into hasher: inout Hasher) { hasher.combine(layer) }
}

/// The layers of a packet, from the wire up.
package enum Layer: String, Hashable, Sendable, CaseIterable {
  /// The link layer, in captures of the air.
  case ll
  case hci
  case l2cap
  case signaling
  case smp
  case sdp
  case rfcomm
  case avdtp
  case avctp
  case att
  case gatt
  case ring
}

/// An earlier packet that one belongs to: the command of an event, the request of a response.
package struct PacketReference: Hashable, Sendable, TextWritable {
  /// As in the capture, counted from 1.
  package var number: Int
  /// From it to this packet; nil if one of them has no time, or if the capture's clock was set back between them.
  package var microseconds: Int64?

  init(_ earlier: PacketTime, to later: PacketTime) {
    number = earlier.number
    if let start = earlier.microseconds, let end = later.microseconds, end >= start {
      microseconds = end &- start
    }
  }

  /// `after 12.345 ms (packet 7)`.
  package func write(to text: inout TextBuffer) {
    if let microseconds {
      text.write("after ")
      text.write(microseconds, places: 3)
      text.write(" ms (packet ", number, ")")
    } else {
      text.write("packet ", number)
    }
  }
}

/// The packet's number and time.
struct PacketTime: Hashable {
  var number: Int
  var microseconds: Int64?

  init(_ info: CaptureRecordInfo) {
    number = info.number
    microseconds = info.microseconds
  }
}

/// Records of a capture that are not HCI packets, as text.
enum RecordNote {
  static func summary(of packet: DissectedPacket) -> String {
    let adapter = packet.info.adapter.map { "hci\($0)" } ?? "no adapter"
    switch packet.info.content {
    case .hci: return "empty"
    case .monitor(let opcode): return monitor(opcode, packet.bytes, adapter)
    case .packetLogger(let type):
      let name = type.map { "record of type \(Hex.string($0.rawValue))" } ?? "record without a type"
      return "\(name): \(text(packet.bytes))"
    case .air: return "empty"
    case .foreign(let type): return "no Bluetooth HCI: link type \(type)"
    }
  }

  private static func monitor(_ opcode: MonitorOpcode, _ bytes: [UInt8], _ adapter: String) -> String {
    switch opcode {
    case .newIndex:
      // Type, bus, address, name.
      return "new adapter \(adapter): \(address(bytes.dropFirst(2))) \"\(text(bytes.dropFirst(8)))\""
    case .deleteIndex: return "adapter \(adapter) is gone"
    case .openIndex: return "adapter \(adapter) is opened"
    case .closeIndex: return "adapter \(adapter) is closed"
    case .indexInfo: return "adapter \(adapter): \(address(bytes[...]))"
    case .vendorDiagnostic: return "diagnostics of the maker of \(adapter): \(bytes.count) bytes"
    case .systemNote: return "kernel: \(text(bytes))"
    case .userLogging:
      // Priority, length of the name, name with its zero, text.
      let length = bytes.count > 1 ? Int(bytes[1]) : 0
      return "\(text(bytes.dropFirst(2).prefix(length))): \(text(bytes.dropFirst(2 + length)))"
    case .controlOpen: return "management socket opened"
    case .controlClose: return "management socket closed"
    case .controlCommand: return "management command, \(bytes.count) bytes"
    case .controlEvent: return "management event, \(bytes.count) bytes"
    default: return "monitor record \(opcode.rawValue), \(bytes.count) bytes"
    }
  }

  private static func text(_ bytes: some Collection<UInt8>) -> String {
    String(printable: bytes.prefix { $0 != 0 })
  }

  private static func address(_ bytes: some Collection<UInt8>) -> String {
    let address = Array(bytes.prefix(6)).withReader { try? BluetoothAddress(parsing: &$0, kind: .public) }
    return address.map(\.description) ?? "no address"
  }
}
