import ATT
import BluetoothCore

/// Discover All Characteristics of a Service (Core Specification Vol 3, Part G, 4.6.1).
public struct DiscoverCharacteristics: GATTProcedure {
  private let service: Service
  private var cursor: DiscoveryCursor
  private var characteristics: [Characteristic] = []

  public init(in service: Service) {
    self.service = service
    cursor = DiscoveryCursor(service.handles)
  }

  public mutating func start() -> GATTStep<[Characteristic]> {
    // A characteristic takes two attributes at least.
    guard let range = cursor.remaining, range.start < range.end else { return .done(characteristics) }
    return .request(.readByTypeRequest(range, type: GATTUUID.characteristic))
  }

  public mutating func next(_ result: Result<ATTPDU, ATTError>) -> GATTStep<[Characteristic]> {
    switch result {
    case .success(.readByTypeResponse(let entries)):
      for entry in entries {
        if let fault = take(entry) { return .misbehaved(fault) }
      }
      return start()
    case .failure(let error) where error.code == .attributeNotFound: return .done(characteristics)
    default: return .failed(result)
    }
  }

  private mutating func take(_ entry: ATTHandleAndValue) -> String? {
    guard let declared = CharacteristicDeclaration(parsing: entry.value) else {
      return "a characteristic declaration of \(entry.value.count) bytes"
    }
    let valueHandle = declared.valueHandle
    guard valueHandle > entry.handle, valueHandle <= service.handles.end else {
      return "a characteristic at \(entry.handle) with its value at \(valueHandle)"
    }
    if let last = characteristics.last {
      guard entry.handle > last.valueHandle else {
        return "a characteristic at \(entry.handle), before the value of the one at \(last.declaration)"
      }
      characteristics[characteristics.count - 1].end = AttributeHandle(entry.handle.rawValue - 1)
    }
    // The value directly follows the declaration, so the search can continue after it.
    if let fault = cursor.advance(over: HandleRange(entry.handle, valueHandle)) { return fault }
    characteristics.append(
      Characteristic(
        uuid: declared.uuid, properties: declared.properties,
        declaration: entry.handle, valueHandle: valueHandle, end: service.handles.end))
    return nil
  }
}

/// Discover All Characteristic Descriptors (4.7.1).
public struct DiscoverDescriptors: GATTProcedure {
  private var cursor: DiscoveryCursor?
  private var descriptors: [Descriptor] = []

  public init(of characteristic: Characteristic) {
    cursor = characteristic.descriptorHandles.map { DiscoveryCursor($0) }
  }

  public mutating func start() -> GATTStep<[Descriptor]> {
    guard let range = cursor?.remaining else { return .done(descriptors) }
    return .request(.findInformationRequest(range))
  }

  public mutating func next(_ result: Result<ATTPDU, ATTError>) -> GATTStep<[Descriptor]> {
    switch result {
    case .success(.findInformationResponse(let entries)):
      for entry in entries {
        if let fault = cursor?.advance(over: HandleRange(entry.handle, entry.handle)) {
          return .misbehaved(fault)
        }
        descriptors.append(Descriptor(uuid: entry.type, handle: entry.handle))
      }
      return start()
    case .failure(let error) where error.code == .attributeNotFound: return .done(descriptors)
    default: return .failed(result)
    }
  }
}
