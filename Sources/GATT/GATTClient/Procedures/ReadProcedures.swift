import ATT
import HaloBluetoothCore

/// Read Characteristic Value and Read Long Characteristic Values in one (Vol 3, Part G, 4.8.1, 4.8.3): reads on
/// for as long as the answers fill the MTU, so that the value is whole. The peer may exchange another MTU during the read:
/// an answer is compared with the smaller of those that were in force when it was asked for and when it came, as it may have
/// crossed the exchange. That costs one more request at most.
package struct ReadValue: GATTProcedure {
  private let handle: AttributeHandle
  private let mtu: () -> Int
  /// The MTU when the last part was asked for.
  private var lastMTU = 0
  private var value: [UInt8] = []

  /// - Parameters:
  ///   - handle: the attribute to read
  ///   - beginning: the known beginning of the value; reading continues after it
  ///   - mtu: the ATT_MTU of the link, in bytes; evaluated for each part
  package init(
    _ handle: AttributeHandle, after beginning: [UInt8] = [], mtu: @autoclosure @escaping () -> Int
  ) {
    self.handle = handle
    self.mtu = mtu
    value = beginning
  }

  package mutating func start() -> GATTStep<[UInt8]> {
    lastMTU = mtu()
    if value.isEmpty { return .request(ATTReadRequest(handle)) }
    return .request(ATTReadBlobRequest(handle, offset: UInt16(truncatingIfNeeded: value.count)))
  }

  /// The errors that mean that the value was exactly as long as the part that has been read (Part F, 3.4.4.5). A server without
  /// Read Blob has no longer values.
  private static let ends: Set<ATTErrorCode?> = [.attributeNotLong, .invalidOffset, .requestNotSupported]

  package mutating func next(_ result: Result<any ATTPDU, StackError>) -> GATTStep<[UInt8]> {
    switch result {
    case .success(let response as ATTReadResponse): return take(response.value)
    case .success(let response as ATTReadBlobResponse): return take(response.value)
    case .failure(let error) where !value.isEmpty && Self.ends.contains(error.attCode):
      return .done(value)
    default: return .failed(result)
    }
  }

  private mutating func take(_ part: [UInt8]) -> GATTStep<[UInt8]> {
    guard value.count + part.count <= ATTBearer.maximumValueLength else {
      return .misbehaved("a value of more than \(ATTBearer.maximumValueLength) bytes at \(handle)")
    }
    value += part
    let isFull = part.count >= min(lastMTU, mtu()) - 1
    guard isFull, value.count < ATTBearer.maximumValueLength else { return .done(value) }
    return start()
  }
}

/// Read Using Characteristic UUID (4.8.2): all values of that type in a range.
package struct ReadByUUID: GATTProcedure {
  private let uuid: BluetoothUUID
  private let limit: Int
  private var cursor: DiscoveryCursor
  private var values: [ATTHandleAndValue] = []

  /// - Parameters:
  ///   - uuid: the type
  ///   - range: the handles to search
  ///   - limit: the maximum number; with one, a single round trip is enough
  package init(_ uuid: BluetoothUUID, in range: HandleRange = .all, limit: Int = .max) {
    self.uuid = uuid
    self.limit = limit
    cursor = DiscoveryCursor(range)
  }

  package mutating func start() -> GATTStep<[ATTHandleAndValue]> {
    guard let range = cursor.remaining else { return .done(values) }
    return .request(ATTReadByTypeRequest(range, type: uuid))
  }

  package mutating func next(_ result: Result<any ATTPDU, StackError>) -> GATTStep<[ATTHandleAndValue]> {
    switch result {
    case .success(let response as ATTReadByTypeResponse):
      for entry in response.entries {
        if let fault = cursor.advance(over: HandleRange(entry.handle, entry.handle)) {
          return .misbehaved(fault)
        }
        values.append(entry)
        if values.count >= limit { return .done(values) }
      }
      return start()
    case .failure(let error) where error.attCode == .attributeNotFound: return .done(values)
    // The values up to one that may not be read.
    case .failure(let error) where error.code == .refused && !values.isEmpty: return .done(values)
    default: return .failed(result)
    }
  }
}

/// Find Information of one handle (Vol 3, Part F, 3.4.3.1): the type of its attribute; nil if there is none.
struct FindAttributeType: GATTProcedure {
  let handle: AttributeHandle

  mutating func start() -> GATTStep<BluetoothUUID?> {
    .request(ATTFindInformationRequest(HandleRange(handle, handle)))
  }

  mutating func next(_ result: Result<any ATTPDU, StackError>) -> GATTStep<BluetoothUUID?> {
    switch result {
    case .success(let response as ATTFindInformationResponse):
      .done(response.entries.first { $0.handle == handle }?.type)
    case .failure(let error) where error.attCode == .attributeNotFound: .done(nil)
    default: .failed(result)
    }
  }
}
