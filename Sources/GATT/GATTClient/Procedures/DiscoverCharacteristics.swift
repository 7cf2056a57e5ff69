import ATT
import HaloBluetoothCore

/// The characteristics of a service, as their declarations arrive.
struct DeclaredCharacteristics {
  let service: Service
  /// In the order of their handles. The last one ends with the service, until another one follows.
  private(set) var all: [Characteristic] = []

  init(service: Service) {
    self.service = service
  }

  /// Checks a declaration, moves the cursor past its value, and adds it.
  ///
  /// - Returns: nil if it is valid, otherwise the error
  mutating func take(_ entry: ATTHandleAndValue, _ cursor: inout DiscoveryCursor) -> String? {
    guard let declared = CharacteristicDeclaration(parsing: entry.value) else {
      return "a characteristic declaration of \(entry.value.count) bytes"
    }
    let valueHandle = declared.valueHandle
    guard valueHandle > entry.handle, valueHandle <= service.handles.end else {
      return "a characteristic at \(entry.handle) with its value at \(valueHandle)"
    }
    if let last = all.last {
      guard entry.handle > last.valueHandle else {
        return "a characteristic at \(entry.handle), before the value of the one at \(last.declaration)"
      }
      all[all.count - 1].end = AttributeHandle(entry.handle.rawValue - 1)
    }
    // The value directly follows the declaration, so the search can continue after it.
    if let fault = cursor.advance(over: HandleRange(entry.handle, valueHandle)) { return fault }
    all.append(
      Characteristic(
        uuid: declared.uuid, properties: declared.properties,
        declaration: entry.handle, valueHandle: valueHandle, end: service.handles.end))
    return nil
  }
}

/// Discover All Characteristics of a Service (Core Specification Vol 3, Part G, 4.6.1).
package struct DiscoverCharacteristics: GATTProcedure {
  private var declared: DeclaredCharacteristics
  private var cursor: DiscoveryCursor

  package init(in service: Service) {
    declared = DeclaredCharacteristics(service: service)
    cursor = DiscoveryCursor(service.handles)
  }

  package mutating func start() -> GATTStep<[Characteristic]> {
    // A characteristic takes two attributes at least.
    guard let range = cursor.remaining, range.start < range.end else { return .done(declared.all) }
    return .request(ATTReadByTypeRequest(range, type: GATTUUID.characteristic))
  }

  package mutating func next(_ result: Result<any ATTPDU, StackError>) -> GATTStep<[Characteristic]> {
    switch result {
    case .success(let response as ATTReadByTypeResponse):
      for entry in response.entries {
        if let fault = declared.take(entry, &cursor) { return .misbehaved(fault) }
      }
      return start()
    case .failure(let error) where error.attCode == .attributeNotFound: return .done(declared.all)
    default: return .failed(result)
    }
  }
}

/// Discover All Characteristic Descriptors (4.7.1).
package struct DiscoverDescriptors: GATTProcedure {
  private var cursor: DiscoveryCursor?
  private var descriptors: [Descriptor] = []

  package init(of characteristic: Characteristic) {
    cursor = characteristic.descriptorHandles.map { DiscoveryCursor($0) }
  }

  package mutating func start() -> GATTStep<[Descriptor]> {
    guard let range = cursor?.remaining else { return .done(descriptors) }
    return .request(ATTFindInformationRequest(range))
  }

  package mutating func next(_ result: Result<any ATTPDU, StackError>) -> GATTStep<[Descriptor]> {
    switch result {
    case .success(let response as ATTFindInformationResponse):
      for entry in response.entries {
        if let fault = cursor?.advance(over: HandleRange(entry.handle, entry.handle)) {
          return .misbehaved(fault)
        }
        descriptors.append(Descriptor(uuid: entry.type, handle: entry.handle))
      }
      return start()
    case .failure(let error) where error.attCode == .attributeNotFound: return .done(descriptors)
    default: return .failed(result)
    }
  }
}
