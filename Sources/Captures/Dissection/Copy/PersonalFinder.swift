import HCI
import HaloBluetoothCore
import HaloCapture
import HaloGATT

/// Finds what a packet tells about people and their devices: in the fields whose description says so, and in the values of
/// characteristics that are names or numbers of a device.
package struct PersonalFinder {
  private let fields = FieldList()

  /// Device Name and Serial Number String (Assigned Numbers, 3.8).
  private static let named = [GATTUUID.deviceName, BluetoothUUID(0x2A25 as UInt16)]
  /// AD types whose value is an address, followed by its kind or by other addresses.
  private static let addressTypes: Set<UInt64> = [0x17, 0x18, 0x1B]

  package init() { fields.collectsPersonal = true }

  /// Adds what a packet has to the data of its capture.
  package func learn(_ packet: DissectedPacket, into data: inout PersonalData) {
    let source = packet.source
    for field in found(in: packet) { data.add(field.kind, source[field.range.clamped(to: 0..<source.count)]) }
    if let peer = packet.link?.peer { data.add(address: peer.value) }
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
    for layer in [Layer.hci, .smp] where packet.has(layer) && (layer != .hci || packet.l2cap == nil) {
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

  /// What users enter to pair; and bytes of which nobody knows what they are, in packets that can have keys: a part that is
  /// cut may be the beginning of one.
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
