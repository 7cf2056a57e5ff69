import HaloBluetoothCore
import HaloGATT

/// Finds the data about people and their devices in a packet: in the fields whose description marks them, and in the values of
/// characteristics that are names or numbers of a device.
package struct PersonalFinder {
  private let fields = FieldList()

  /// Device Name and Serial Number String (Assigned Numbers, 3.8).
  private static let named = [GATTUUID.deviceName, BluetoothUUID(0x2A25 as UInt16)]
  /// AD types whose value is an address, followed by its kind or by other addresses.
  private static let addressTypes: Set<UInt64> = [0x17, 0x18, 0x1B]

  package init() { fields.collectsPersonal = true }

  /// Adds the data of a packet to those of its capture.
  package func learn(_ packet: DissectedPacket, into data: inout PersonalData) {
    let source = packet.source
    for field in found(in: packet) { data.add(field.kind, source[field.range.clamped(to: 0..<source.count)]) }
    for address in [packet.link?.peer, packet.link?.central] {
      if let address { data.add(address: address.value) }
    }
    switch packet.info.content {
    // Kind and bus precede the address of an adapter.
    case .monitor(.newIndex): data.add(.address, packet.bytes.dropFirst(2).prefix(6))
    case .monitor(.indexInfo): data.add(.address, packet.bytes.prefix(6))
    default: break
    }
  }

  /// The fields of a packet, with ranges in its ``DissectedPacket/source``.
  func found(in packet: DissectedPacket) -> [PersonalField] {
    fields.removeAll(isCut: packet.isCut)
    for layer in [Layer.ll, .hci, .smp] where packet.has(layer) && (layer == .smp || packet.l2cap == nil) {
      packet.listFields(of: layer, to: fields)
    }
    var found = fields.personal + addressesInAdvertisingData + secrets
    if let value = packet.att?.value, let attribute = packet.gatt?.attribute?.uuid,
      Self.named.contains(attribute)
    {
      found.append(PersonalField(kind: .name, range: value))
    }
    for uuid in Self.named {
      if let range = packet.readRange(of: uuid) { found.append(PersonalField(kind: .name, range: range)) }
    }
    return found
  }

  /// The values that users enter to pair; and bytes of unknown meaning, in packets that can have keys: a part that is cut may
  /// be the beginning of one.
  private var secrets: [PersonalField] {
    fields.entries.indices.filter { index in
      fields.isNamed(index, "PIN") || fields.isNamed(index, "passkey") || fields.isNamed(index, "the rest")
        || fields.isNamed(index, "damaged")
    }.map { PersonalField(kind: .key, range: fields.entries[$0].range) }
  }

  private var addressesInAdvertisingData: [PersonalField] {
    var found: [PersonalField] = []
    var type: UInt64?
    for index in fields.entries.indices {
      let entry = fields.entries[index]
      if fields.isNamed(index, "type") {
        type = entry.number.map { UInt64(bitPattern: $0.value) }
      } else if let known = type, Self.addressTypes.contains(known), fields.isNamed(index, "value") {
        for start in stride(from: entry.range.lowerBound, through: entry.range.upperBound - 6, by: 6) {
          found.append(PersonalField(kind: .address, range: start..<start + 6))
        }
        type = nil
      }
    }
    return found
  }
}

/// The addresses, names and keys of a capture, with their substitutes in a copy that can be shown to others. The substitute of
/// an address or a name depends on their order in the capture, and on nothing else: two copies are equal, and reveal nothing
/// about the originals.
package struct PersonalData {
  /// The most entries of each kind; see ``isFull``.
  private static let capacity = 1 << 17
  /// A shorter name is replaced where it is a name, and not wherever its bytes occur.
  static let shortestFoundName = 4

  private(set) var addresses: [UInt64: UInt64] = [:]
  private(set) var names: [[UInt8]: [UInt8]] = [:]
  /// The keys, each of 16 bytes as in packets.
  private(set) var keys: Set<[UInt8]> = []
  /// Whether a capture has more than can be kept: a copy of it would not be complete.
  package private(set) var isFull = false

  /// Which values the two lowest bytes of the addresses have.
  private var ends = [Bool](repeating: false, count: 1 << 16)

  package init() {}

  /// Without addresses and names: they stay in a copy.
  package var keysOnly: PersonalData {
    var data = PersonalData()
    data.keys = keys
    return data
  }

  /// Adds the data of a field.
  ///
  /// - Parameter bytes: of the field
  mutating func add(_ kind: PersonalField.Kind, _ bytes: ArraySlice<UInt8>) {
    guard addresses.count < Self.capacity, names.count < Self.capacity, keys.count < Self.capacity else {
      isFull = true
      return
    }
    switch kind {
    case .address: if bytes.count == 6 { add(address: bytes.reversed().reduce(0) { $0 << 8 | UInt64($1) }) }
    case .name: add(name: Array(bytes.prefix { $0 != 0 }))
    case .key: if bytes.count == 16, bytes.contains(where: { $0 != 0 }) { keys.insert(Array(bytes)) }
    }
  }

  /// - Parameter address: 48 bits; one that stands for no address, such as zero, stays as it is
  mutating func add(address: UInt64) {
    guard addresses[address] == nil, Self.isTelling(address) else { return }
    // The two highest bits are the kind of a random address. The bit of 0x02 marks a number that is not assigned.
    let kind = address & 0xC000_0000_0000
    addresses[address] = kind | 0x0200_0000_0000 | UInt64(addresses.count + 1)
    ends[Int(address & 0xFFFF)] = true
  }

  /// Whether an address is one of a device: most of its bytes are neither 0 nor 0xFF.
  private static func isTelling(_ address: UInt64) -> Bool {
    var telling = 0
    for index in 0..<6 {
      let byte = UInt8(truncatingIfNeeded: address >> UInt64(8 * index))
      if byte != 0, byte != 0xFF { telling += 1 }
    }
    return telling >= 3
  }

  private mutating func add(name: [UInt8]) {
    guard !name.isEmpty, names[name] == nil else { return }
    let number = Array(String(names.count + 1).utf8)
    // A text of the same length, so that no length in the packets changes; "name0001" if there is room.
    let word = Array("name".utf8.prefix(max(0, name.count - number.count)))
    let zeros = [UInt8](repeating: UInt8(ascii: "0"), count: max(0, name.count - word.count - number.count))
    names[name] = Array((word + zeros + number).suffix(name.count))
  }

  /// The substitute of an address, if it is known. Its two lowest bytes are looked at first, as most numbers are no address.
  func substitute(for address: UInt64) -> UInt64? {
    ends[Int(address & 0xFFFF)] ? addresses[address] : nil
  }

  static func reversed(_ address: UInt64) -> UInt64 { address.byteSwapped >> 16 }
}
