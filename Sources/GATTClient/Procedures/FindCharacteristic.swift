import ATT
import HaloBluetoothCore
import HaloGATT

/// Finds the first characteristic with a UUID in some services: reads the declarations in the order of their handles,
/// up to the one after it, which says where it ends (Core Specification Vol 3, Part G, 4.6.1).
struct FindCharacteristic: GATTProcedure {
  /// A service, and its characteristics up to the one that was wanted, which is the last.
  struct Place: Sendable {
    var service: Service
    var characteristics: [Characteristic]
  }

  private let uuid: BluetoothUUID
  /// The services whose characteristics are still to come, in the order of their handles.
  private var services: ArraySlice<Service>
  private var cursor: DiscoveryCursor
  /// The characteristics of the first of ``services``.
  private var declared: DeclaredCharacteristics?
  /// The position of the wanted one among them.
  private var wanted: Int?

  /// - Parameters:
  ///   - uuid: the type of the characteristic
  ///   - services: in the order of their handles, none within another
  init(_ uuid: BluetoothUUID, in services: [Service]) {
    self.uuid = uuid
    self.services = services[...]
    cursor = DiscoveryCursor(
      HandleRange(services.first?.handles.start ?? .last, services.last?.handles.end ?? .first))
  }

  mutating func start() -> GATTStep<Place?> {
    guard var range = cursor.remaining else { return .done(place) }
    // The one that was found ends within its service.
    if wanted != nil, let service = services.first { range = HandleRange(range.start, service.handles.end) }
    // A characteristic takes two attributes at least.
    guard range.start < range.end else { return .done(place) }
    return .request(ATTReadByTypeRequest(range, type: GATTUUID.characteristic))
  }

  mutating func next(_ result: Result<any ATTPDU, ATTError>) -> GATTStep<Place?> {
    switch result {
    case .success(let response as ATTReadByTypeResponse):
      for entry in response.entries {
        if wanted != nil, services.first?.handles.contains(entry.handle) != true { return .done(place) }
        if let fault = take(entry) { return .misbehaved(fault) }
        if let wanted, let declared, declared.all.count > wanted + 1 { return .done(place) }
      }
      return start()
    case .failure(let error) where error.code == .attributeNotFound: return .done(place)
    default: return .failed(result)
    }
  }

  private var place: Place? {
    guard let wanted, let declared else { return nil }
    return Place(service: declared.service, characteristics: Array(declared.all.prefix(wanted + 1)))
  }

  private mutating func take(_ entry: ATTHandleAndValue) -> String? {
    while let service = services.first, service.handles.end < entry.handle {
      services.removeFirst()
      declared = nil
    }
    guard let service = services.first, service.handles.contains(entry.handle) else {
      // A characteristic of a secondary service, or of a primary service that is not searched.
      return cursor.advance(over: HandleRange(entry.handle, entry.handle))
    }
    var list = declared ?? DeclaredCharacteristics(service: service)
    if let fault = list.take(entry, &cursor) { return fault }
    declared = list
    if wanted == nil, list.all.last?.uuid == uuid { wanted = list.all.count - 1 }
    return nil
  }
}
