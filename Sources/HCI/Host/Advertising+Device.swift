import HaloBluetoothCore

/// The advertisement of a device as scanners expect it.
extension Advertising {
  /// An advertisement and the parts that had to be left out of it.
  package struct Composition: Hashable, Sendable {
    package var advertising: Advertising
    /// The services that there was no room for. The lists say that they are incomplete.
    package var leftOut: [BluetoothUUID]
    /// Whether the name was cut, which the advertisement says, too.
    package var isNameShortened: Bool
  }

  /// Composes an advertisement with legacy PDUs: Flags, services and data in the advertisement, by which scanners choose, and the
  /// name in the scan response.
  ///
  /// Parts that have no room and can be incomplete - services, the end of the name - are left out.
  ///
  /// - Parameters:
  ///   - name: the name of the device; nil or empty for none
  ///   - services: the services that it offers
  ///   - serviceData: a structure for each
  ///   - manufacturerData: a structure for each
  ///   - appearance: its external appearance; nil for none
  ///   - kind: who may connect. One that is not connectable and not scannable has its name in the advertisement.
  /// - Throws: if the data do not fit
  package static func device(
    name: String?, services: [BluetoothUUID] = [], serviceData: [AdvertisingData.ServiceData] = [],
    manufacturerData: [AdvertisingData.ManufacturerData] = [], appearance: Appearance? = nil,
    kind: Kind = .connectable
  ) throws(AdvertisingFault) -> Composition {
    var structures: [ADStructure] = [.flags([.generalDiscoverable, .brEDRNotSupported])]
    if let appearance { structures.append(.appearance(appearance)) }
    structures +=
      AdvertisingData(localName: nil, serviceData: serviceData, manufacturerData: manufacturerData).structures
    let hasResponse = kind == .connectable || kind == .scannable
    var room = LegacyAdvertisingData.capacity - AdvertisingData(structures).bytes.count
    var response: [ADStructure] = []
    var isShortened = false
    if let name, !name.isEmpty {
      let (structure, isCut) = nameStructure(name, hasResponse ? LegacyAdvertisingData.capacity : room)
      isShortened = isCut
      if hasResponse { response.append(structure) } else { structures.append(structure) }
    }
    room = LegacyAdvertisingData.capacity - AdvertisingData(structures).bytes.count
    let lists = serviceLists(services, &room)
    let advertising = try Advertising(
      AdvertisingData(structures + lists.structures), scanResponse: AdvertisingData(response), kind: kind)
    return Composition(advertising: advertising, leftOut: lists.leftOut, isNameShortened: isShortened)
  }

  /// - Parameter room: in bytes, for the whole structure
  private static func nameStructure(_ name: String, _ room: Int) -> (ADStructure, isCut: Bool) {
    let bytes = Array(name.utf8)
    guard bytes.count > max(0, room - 2) else { return (.localName(bytes, isComplete: true), false) }
    var kept = ""
    for character in name where kept.utf8.count + String(character).utf8.count <= room - 2 {
      kept.append(character)
    }
    return (.localName(Array(kept.utf8), isComplete: false), true)
  }

  /// A list for each width of UUIDs, the short ones first.
  private static func serviceLists(
    _ services: [BluetoothUUID], _ room: inout Int
  ) -> (structures: [ADStructure], leftOut: [BluetoothUUID]) {
    var structures: [ADStructure] = []
    var leftOut: [BluetoothUUID] = []
    for width in [UUIDWidth.two, .four, .sixteen] {
      var uuids: [BluetoothUUID] = []
      for uuid in services where UUIDWidth(for: [uuid]) == width && !uuids.contains(uuid) {
        uuids.append(uuid)
      }
      let fitting = max(0, min(uuids.count, (room - 2) / width.rawValue))
      leftOut += uuids[fitting...]
      guard fitting > 0 else { continue }
      structures.append(
        .serviceUUIDs(Array(uuids[..<fitting]), width: width, isComplete: fitting == uuids.count))
      room -= 2 + fitting * width.rawValue
    }
    return (structures, leftOut)
  }
}
