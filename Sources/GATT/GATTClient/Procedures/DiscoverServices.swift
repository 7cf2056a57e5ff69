import ATT
import HaloBluetoothCore

/// Discover All Primary Services (Core Specification Vol 3, Part G, 4.4.1).
package struct DiscoverAllServices: GATTProcedure {
  private var cursor: DiscoveryCursor
  private var services: [Service] = []
  private let lastStart: AttributeHandle

  /// - Parameter range: where the services begin; the last one may extend beyond it
  package init(in range: HandleRange = .all) {
    cursor = DiscoveryCursor(HandleRange(range.start, .last))
    lastStart = range.end
  }

  package mutating func start() -> GATTStep<[Service]> {
    guard let range = cursor.remaining, range.start <= lastStart else { return .done(services) }
    return .request(ATTReadByGroupTypeRequest(range, type: GATTUUID.primaryService))
  }

  package mutating func next(_ result: Result<any ATTPDU, StackError>) -> GATTStep<[Service]> {
    switch result {
    case .success(let response as ATTReadByGroupTypeResponse):
      for entry in response.entries {
        // Some devices end their last service at 0xFFFF, others at its last attribute; both are fine.
        if let fault = cursor.advance(over: entry.group) { return .misbehaved(fault) }
        guard let uuid = BluetoothUUID(wireBytes: entry.value) else {
          return .misbehaved("a service UUID of \(entry.value.count) bytes")
        }
        guard entry.group.start <= lastStart else { return .done(services) }
        services.append(Service(uuid: uuid, handles: entry.group))
      }
      return start()
    case .failure(let error) where error.attCode == .attributeNotFound: return .done(services)
    default: return .failed(result)
    }
  }
}

/// Discover Primary Service by Service UUID (4.4.2).
///
/// The server compares the bytes of the UUID. Some store short UUIDs in 16 bytes, so where there is no service with the short
/// form, the long one is searched for.
package struct DiscoverServicesByUUID: GATTProcedure {
  private let uuid: BluetoothUUID
  private let limit: Int
  private var cursor = DiscoveryCursor(.all)
  private var services: [Service] = []
  private var isLong = false

  /// - Parameters:
  ///   - uuid: of the services to find
  ///   - limit: the maximum number; with one, a single round trip is enough
  package init(_ uuid: BluetoothUUID, limit: Int = .max) {
    self.uuid = uuid
    self.limit = limit
  }

  package mutating func start() -> GATTStep<[Service]> {
    guard let range = cursor.remaining else { return .done(services) }
    var value = ByteWriter(capacity: 16)
    if isLong { uuid.writeLong(into: &value) } else { uuid.write(into: &value) }
    return .request(ATTFindByTypeValueRequest(range, type: GATTUUID.primaryServiceType, value: value.bytes))
  }

  package mutating func next(_ result: Result<any ATTPDU, StackError>) -> GATTStep<[Service]> {
    switch result {
    case .success(let response as ATTFindByTypeValueResponse):
      for range in response.ranges {
        if let fault = cursor.advance(over: range) { return .misbehaved(fault) }
        services.append(Service(uuid: uuid, handles: range))
        if services.count >= limit { return .done(services) }
      }
      return start()
    case .failure(let error) where error.attCode == .attributeNotFound:
      guard services.isEmpty, !isLong, uuid.wireLength < 16 else { return .done(services) }
      isLong = true
      return start()
    default: return .failed(result)
    }
  }
}

/// Find Included Services (4.5.1). A 128-bit UUID does not fit into an include declaration, so it is read from the
/// included service.
package struct FindIncludedServices: GATTProcedure {
  private var cursor: DiscoveryCursor
  private var found: [IncludedService] = []
  private var unnamed: [(declaration: AttributeHandle, handles: HandleRange)] = []

  package init(in range: HandleRange) {
    cursor = DiscoveryCursor(range)
  }

  package mutating func start() -> GATTStep<[IncludedService]> {
    if let next = unnamed.first { return .request(ATTReadRequest(next.handles.start)) }
    guard let range = cursor.remaining else { return .done(found) }
    return .request(ATTReadByTypeRequest(range, type: GATTUUID.include))
  }

  package mutating func next(_ result: Result<any ATTPDU, StackError>) -> GATTStep<[IncludedService]> {
    switch result {
    case .success(let response as ATTReadByTypeResponse):
      for entry in response.entries {
        if let fault = cursor.advance(over: HandleRange(entry.handle, entry.handle)) {
          return .misbehaved(fault)
        }
        if let fault = take(entry) { return .misbehaved(fault) }
      }
      return start()
    case .success(let response as ATTReadResponse):
      guard !unnamed.isEmpty, let uuid = BluetoothUUID(wireBytes: response.value) else {
        return .misbehaved("a service UUID of \(response.value.count) bytes")
      }
      let (declaration, handles) = unnamed.removeFirst()
      found.append(
        IncludedService(declaration: declaration, service: Service(uuid: uuid, handles: handles)))
      return start()
    case .failure(let error) where error.attCode == .attributeNotFound && unnamed.isEmpty: return .done(found)
    default: return .failed(result)
    }
  }

  private mutating func take(_ entry: ATTHandleAndValue) -> String? {
    let length = entry.value.count
    guard length == 4 || length == 6 else { return "an include declaration of \(length) bytes" }
    guard let include = IncludeDeclaration(parsing: entry.value), include.handles.isValid else {
      return "an included service with impossible handles"
    }
    if let uuid = include.uuid {
      found.append(
        IncludedService(declaration: entry.handle, service: Service(uuid: uuid, handles: include.handles)))
    } else {
      unnamed.append((entry.handle, include.handles))
    }
    return nil
  }
}
