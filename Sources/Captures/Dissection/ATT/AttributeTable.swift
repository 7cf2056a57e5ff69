import ATT
import HaloBluetoothCore
import HaloCaptureLinks
import HaloGATT
import RingLink

/// The attributes of one server with their names, as far as they were discovered. Bounded as `LearnedAttributes` is.
package struct AttributeTable: Sendable {
  var learned = LearnedAttributes(keepsValues: false)
  var inferred = InferredConfigurations()
  /// The handles of a ring that were known before the capture: their service is known, but not its range.
  private var ringHandles: Set<AttributeHandle> = []

  /// Whether no attribute is known.
  package var isEmpty: Bool { learned.count == 0 }
  /// The handles of the attributes, in order.
  package var handles: [AttributeHandle] { learned.handles }

  /// An attribute that was discovered, or recognized by what is written to it.
  package subscript(handle: AttributeHandle) -> Attribute? {
    guard let entry = learned[handle] else {
      return inferred.contains(handle) ? Attribute(inferredFor: inferred.sender(before: handle)) : nil
    }
    let service = serviceUUID(of: handle)
    switch entry.type {
    case GATTUUID.primaryService, GATTUUID.secondaryService:
      let range = HandleRange(handle, entry.groupEnd ?? handle)
      return Attribute(.service(range), entry.service ?? entry.type)
    case GATTUUID.include:
      var included = entry.value.flatMap(IncludeDeclaration.init(parsing:))
      // A declaration has no room for a long UUID.
      if let range = included?.handles, included?.uuid == nil {
        included?.uuid = learned[range.start]?.service
      }
      return Attribute(.include, entry.type, included: included)
    case GATTUUID.characteristic:
      let declared = entry.value.flatMap(CharacteristicDeclaration.init(parsing:))
      return Attribute(
        .declaration, declared?.uuid ?? entry.type, properties: declared?.properties, in: service)
    case let type where learned.isValue(handle):
      let properties = learned.declaration(ofValue: handle)?.properties
      let isOfGlasses = service == RingGATT.bulkService && isOfGlasses
      return Attribute(.value, type, properties: properties, in: service, isOfGlasses: isOfGlasses)
    case let type:
      let owner = learned.owner(ofDescriptor: handle)
      return Attribute(
        .descriptor, type, owner: owner.flatMap { learned[$0]?.type }, in: owner.flatMap(serviceUUID))
    }
  }

  /// Whether the services are not those of a ring: the maker's glasses have the bulk service alone, beside those of other kinds.
  private var isOfGlasses: Bool {
    let services = learned.serviceRanges.compactMap { learned[$0.start]?.service }
    return services.contains(RingGATT.bulkService) && !services.contains(RingGATT.commandService)
      && services.count > 1 && ringHandles.isEmpty
  }

  private func serviceUUID(of handle: AttributeHandle) -> BluetoothUUID? {
    if let range = learned.service(of: handle) { return learned[range.start]?.service }
    return ringHandles.contains(handle) ? RingGATT.commandService : nil
  }

  /// The service that an attribute is in.
  func service(of handle: AttributeHandle) -> Attribute? {
    learned.service(of: handle).flatMap { self[$0.start] }
  }

  /// Adds the attributes discovered before the capture.
  mutating func learn(_ device: Dissector.KnownDevice) {
    for known in device.characteristics {
      let declaration = CharacteristicDeclaration(known.uuid, known.properties, at: known.valueHandle)
      learned.insert(known.declaration, GATTUUID.characteristic, declaration.bytes)
      if known.uuid == RingGATT.commandWrite || known.uuid == RingGATT.commandNotify {
        ringHandles.formUnion([known.declaration, known.valueHandle])
      }
    }
    for descriptor in device.descriptors { learned.insert(descriptor.handle, descriptor.uuid) }
  }
}
