import ATT
import HaloBluetoothCore
import HaloGATT

/// Chooses packets: terms of the form `key=value`, with commas or spaces between them, all of which must hold. A value
/// is a number (`18`, `0x0012`), a range (`1..20`, one end may be missing), or several with bars (`0x0012|0x0014`).
///
/// | key | what |
/// | --- | --- |
/// | `handle` | attribute handle: named by the PDU or its request, or found by discovery |
/// | `link` | connection handle; on the air, the access address of the connection |
/// | `peer` | the device at the other end of the link, by its address, or by how its name begins: see ``hasNames`` |
/// | `opcode` | ATT opcode, or opcode of an HCI command or its answer |
/// | `event`, `subevent` | code of an HCI event |
/// | `address` | a device's address: of the link, or in the command or event |
/// | `time` | seconds since the first packet |
/// | `packet` | number in the capture |
package struct PacketFilter: Sendable {
  /// The property that a term tests.
  package enum Key: String, Sendable, CaseIterable {
    case handle, link, peer, opcode, event, subevent, time, packet, address
  }

  private enum Term: Sendable {
    case ranges(Key, [ClosedRange<Double>])
    case address(BluetoothAddress)
    case peer([Peer])
  }

  private enum Peer: Sendable {
    case address(BluetoothAddress)
    /// In lower case.
    case name(String)

    func matches(_ link: LinkIdentity) -> Bool {
      switch self {
      case .address(let address): link.peer?.value == address.value
      case .name(let name): link.name?.lowercased().hasPrefix(name) == true
      }
    }
  }

  /// Why a filter cannot be parsed, in one line.
  package struct SyntaxError: Error, Hashable, Sendable, CustomStringConvertible {
    package var description: String
  }

  private var terms: [Term] = []
  /// The devices that have one of the names later; empty unless ``learn(_:)`` was called.
  private var named = NamedPeers()

  /// Whether it selects devices by their names. A capture may show a name after the first packets of a link: read it once
  /// with ``learn(_:)``, and then again.
  package var hasNames: Bool {
    terms.contains { term in
      guard case .peer(let peers) = term else { return false }
      return peers.contains { if case .name = $0 { true } else { false } }
    }
  }

  /// Notes the device at the other end of the packet's link, if it has one of the names.
  package mutating func learn(_ packet: DissectedPacket) {
    guard let link = packet.link, link.name != nil else { return }
    for case .peer(let peers) in terms where peers.contains(where: { $0.matches(link) }) {
      named.insert(link, of: packet)
    }
  }

  package init(_ text: String) throws(SyntaxError) {
    for word in text.split(whereSeparator: { $0 == "," || $0 == " " }) { terms.append(try Self.term(word)) }
    if terms.isEmpty { throw SyntaxError(description: "the filter is empty; try handle=0x0012") }
  }

  private static func term(_ word: Substring) throws(SyntaxError) -> Term {
    let parts = word.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false)
    guard let key = Key(rawValue: String(parts[0])) else {
      let keys = Key.allCases.map(\.rawValue).joined(separator: ", ")
      throw SyntaxError(description: "a filter knows no \"\(String(parts[0]).printable)\"; it knows \(keys)")
    }
    guard parts.count == 2 else {
      throw SyntaxError(description: "\(key.rawValue) wants a value: \(key.rawValue)=\(example(key))")
    }
    let wrong = SyntaxError(
      description:
        "\(key.rawValue) wants a value such as \(example(key)), not \"\(String(parts[1]).printable)\"")
    if key == .address {
      guard let address = BluetoothAddress(parts[1]) else { throw wrong }
      return .address(address)
    }
    if key == .peer {
      let peers = parts[1].split(separator: "|").map { part in
        BluetoothAddress(part).map(Peer.address) ?? .name(part.lowercased())
      }
      guard !peers.isEmpty else { throw wrong }
      return .peer(peers)
    }
    var ranges: [ClosedRange<Double>] = []
    for part in parts[1].split(separator: "|", omittingEmptySubsequences: false) {
      // Packets are counted from 1.
      guard let range = range(part), key != .packet || range.upperBound >= 1 else { throw wrong }
      ranges.append(range)
    }
    return .ranges(key, ranges)
  }

  private static func example(_ key: Key) -> String {
    switch key {
    case .handle: "0x0012"
    case .link: "0x0040"
    case .peer: "R02_BEEF"
    case .opcode: "0x1b"
    case .event: "0x0e"
    case .subevent: "1"
    case .time: "1.5..3"
    case .packet: "10..20"
    case .address: "C0:11:22:33:A1:B2"
    }
  }

  private static func range(_ text: Substring) -> ClosedRange<Double>? {
    guard let dots = text.firstRange(of: "..") else { return number(text).map { $0...$0 } }
    let first = text[..<dots.lowerBound]
    let last = text[dots.upperBound...]
    guard let low = first.isEmpty ? -.infinity : number(first),
      let high = last.isEmpty ? .infinity : number(last),
      low <= high
    else { return nil }
    return low...high
  }

  private static func number(_ text: Substring) -> Double? {
    if text.hasPrefix("0x") { return UInt32(text.dropFirst(2), radix: 16).map(Double.init) }
    guard text.allSatisfy({ ("0"..."9").contains($0) || $0 == "." }) else { return nil }
    return Double(text)
  }

  /// - Parameters:
  ///   - packet: the packet to test
  ///   - start: the time of the first packet of the capture
  package func matches(_ packet: DissectedPacket, start: Int64?) -> Bool {
    terms.allSatisfy { term in
      switch term {
      case .address(let address): Self.names(packet, address)
      case .peer(let peers):
        packet.link.map { link in
          peers.contains { $0.matches(link) } || !named.isEmpty && named.contains(link, of: packet)
        } ?? false
      case .ranges(let key, let ranges):
        Self.values(key, packet, start).contains { value in ranges.contains { $0.overlaps(value) } }
      }
    }
  }

  /// The numbers and ranges of numbers that a packet has for a key; none for `address` and `peer`, which are no numbers.
  ///
  /// - Parameters:
  ///   - key: the quantity that a term tests
  ///   - packet: the packet to test
  ///   - start: the time of the first packet of the capture
  package static func values(_ key: Key, _ packet: DissectedPacket, _ start: Int64?) -> [ClosedRange<Double>]
  {
    var values: [Double?]
    switch key {
    case .handle: return handles(of: packet)
    case .address, .peer: values = []
    case .link:
      values = [
        (packet.hci?.connection).map { Double($0.rawValue) }
          ?? packet.air.flatMap { _ in packet.link }.map { Double($0.number) }
      ]
    case .opcode:
      values = [
        packet.att.map { Double($0.opcode.rawValue) }, packet.hci?.opcode.map { Double($0.rawValue) },
      ]
    case .event: values = [packet.hci?.event.map { Double($0.rawValue) }]
    case .subevent: values = [packet.hci?.subevent.map { Double($0.rawValue) }]
    case .packet: values = [Double(packet.info.number)]
    case .time:
      guard let start, let time = packet.info.microseconds else { return [] }
      values = [Double(time &- start) / 1e6]
    }
    return values.compactMap { value in value.map { $0...$0 } }
  }

  /// The handles that the PDU or its request names, and those that a response of a discovery has found.
  private static func handles(of packet: DissectedPacket) -> [ClosedRange<Double>] {
    func range(_ first: AttributeHandle, _ last: AttributeHandle) -> ClosedRange<Double> {
      Double(first.rawValue)...Double(max(first, last).rawValue)
    }
    func one(_ handle: AttributeHandle) -> ClosedRange<Double> { range(handle, handle) }
    guard let att = packet.att else { return [] }
    if let handle = att.handle ?? packet.gatt?.handle { return [one(handle)] }
    let source = packet.source
    switch try? ATTReader.read(source.span.bytes.extracting(att.range.clamped(to: 0..<source.count))) {
    case let pdu as ATTFindInformationResponse: return pdu.entries.map { one($0.handle) }
    case let pdu as ATTFindByTypeValueResponse: return pdu.ranges.map { range($0.start, $0.end) }
    case let pdu as ATTReadByGroupTypeResponse:
      return pdu.entries.map { range($0.group.start, $0.group.end) }
    case let pdu as ATTReadByTypeResponse:
      let isDeclaration = packet.gatt?.type == GATTUUID.characteristic
      return pdu.entries.flatMap { entry in
        // A declaration also names the handle of the value.
        let declared = isDeclaration ? CharacteristicDeclaration(parsing: entry.value)?.valueHandle : nil
        return [one(entry.handle)] + (declared.map { [one($0)] } ?? [])
      }
    case let pdu as any ATTHandlesRequest: return pdu.handles.map(one)
    case let pdu as ATTMultipleHandleValueNotification: return pdu.entries.map { one($0.handle) }
    default: return []
    }
  }

  private static func names(_ packet: DissectedPacket, _ address: BluetoothAddress) -> Bool {
    if packet.hci?.peer?.value == address.value { return true }
    if packet.air != nil, let link = packet.link {
      return link.peer?.value == address.value || link.central?.value == address.value
    }
    guard packet.hci?.type == .command || packet.hci?.type == .event || packet.air?.kind == .advertising
    else { return false }
    var writer = ByteWriter(capacity: 6)
    address.write(into: &writer)
    let wanted = writer.bytes
    let bytes = packet.bytes
    guard bytes.count >= wanted.count else { return false }
    return (0...bytes.count - wanted.count).contains { bytes[$0..<$0 + wanted.count].elementsEqual(wanted) }
  }
}

/// The devices of a capture that a ``PacketFilter`` means by their names, so that it also selects the packets before a name
/// was known. Bounded.
package struct NamedPeers: Sendable {
  private static let capacity = 4096

  /// A link whose peer is unknown.
  private struct Link: Hashable {
    var adapter: UInt16?
    var number: UInt32
  }

  private var addresses: Set<UInt64> = []
  private var links: Set<Link> = []

  package init() {}

  package var isEmpty: Bool { addresses.isEmpty && links.isEmpty }

  /// Adds the device at the other end of a packet's link.
  mutating func insert(_ link: LinkIdentity, of packet: DissectedPacket) {
    guard addresses.count + links.count < Self.capacity else { return }
    if let peer = link.peer {
      addresses.insert(peer.value)
    } else {
      links.insert(Link(adapter: packet.info.adapter, number: link.number))
    }
  }

  /// Whether the device at the other end of a packet's link is one of them.
  func contains(_ link: LinkIdentity, of packet: DissectedPacket) -> Bool {
    if let peer = link.peer { return addresses.contains(peer.value) }
    return links.contains(Link(adapter: packet.info.adapter, number: link.number))
  }
}
