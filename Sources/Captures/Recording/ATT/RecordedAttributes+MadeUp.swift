import ATT
import HaloBluetoothCore
import HaloGATT

/// What a client needs to use an attribute that was discovered before the capture: a characteristic, and a service around
/// it. Their UUIDs are made up.
extension RecordedAttributes {
  /// The UUID of services that are made up, `68616C6F-2D72-4177-A072-65706C610000`. That of a characteristic ends with the
  /// handle of its value.
  package static let madeUpUUID = BluetoothUUID(0x6861_6C6F_2D72_4177_A072_6570_6C61_0000)

  /// The UUID of the characteristic that is made up for a value.
  package static func madeUpUUID(_ handle: AttributeHandle) -> BluetoothUUID {
    BluetoothUUID(madeUpUUID.value | UInt128(handle.rawValue))
  }

  /// Adds a characteristic for each attribute that was used and is unknown, where its declaration has a place: at the
  /// handle before the value, as in the tables of all known servers.
  mutating func addMissingCharacteristics(_ uses: Uses) {
    for (handle, properties) in uses.sorted(by: { $0.key < $1.key }) where learned[handle] == nil {
      let declaration = AttributeHandle(handle.rawValue &- 1)
      guard declaration.isValid, hasRoom, learned[declaration] == nil, uses[declaration] == nil else {
        continue
      }
      let uuid = Self.madeUpUUID(handle)
      learned.insert(
        declaration, GATTUUID.characteristic, CharacteristicDeclaration(uuid, properties, at: handle).bytes)
      learned.insert(handle, uuid)
      madeUp.append(handle)
      guard properties.canNotify, !hasConfiguration(handle),
        let configuration = handle.next, learned[configuration] == nil, uses[configuration] == nil
      else { continue }
      addConfiguration(configuration, of: handle)
    }
  }

  /// Puts the characteristics whose service the capture does not show into a service that is made up, declared at the
  /// last free handle before them: one service, or as many as there are others between them.
  mutating func addMissingServices() {
    let service = ServiceDeclaration(Self.madeUpUUID)
    let all = learned.handles
    guard let last = all.last else { return }
    let services = learned.serviceRanges
    var (next, covered) = (0, AttributeHandle(0))
    for first in all where learned[first]?.type == GATTUUID.characteristic {
      while next < services.count, services[next].start <= first {
        covered = max(covered, services[next].end)
        next += 1
      }
      guard first > covered,
        let handle = (1..<first.rawValue).last(where: { learned[AttributeHandle($0)] == nil })
      else { continue }
      let end = next < services.count ? AttributeHandle(services[next].start.rawValue - 1) : last
      let range = HandleRange(AttributeHandle(handle), end)
      learned.insertService(service.type, range, service.bytes)
      for type in [GATTUUID.characteristic, GATTUUID.include] { cover(.byType(type), range) }
      cover(.information, range)
      cover(.group(GATTUUID.primaryService), .all)
      covered = end
    }
  }
}
