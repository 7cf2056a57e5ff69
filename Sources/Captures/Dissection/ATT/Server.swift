import ATT
import BluetoothCore
import HaloGATT

/// A device's attributes, shared by all links to it: a later link needs no discovery.
final class Server {
  /// The most configurations that are inferred.
  private static let inferredCapacity = 64

  @exclusivity(unchecked) var table = AttributeTable()
  /// Attributes that were not discovered, but are written as Client Characteristic Configurations are; with the handle
  /// of the characteristic whose values followed.
  @exclusivity(unchecked) private var inferred: [AttributeHandle: AttributeHandle?] = [:]
  /// The number of those without such a handle.
  @exclusivity(unchecked) private var unconfirmed = 0

  subscript(handle: AttributeHandle) -> Attribute? {
    if let attribute = table[handle] { return attribute }
    guard !inferred.isEmpty, let subscribed = inferred[handle] else { return nil }
    return Attribute(inferredFor: subscribed)
  }

  /// Two bytes that switch notifications or indications on, written to an unknown attribute: a Client Characteristic
  /// Configuration (Core Specification Vol 3, Part G, 3.3.3.3).
  func noteWrite(_ handle: AttributeHandle?, _ value: RawSpan) {
    guard let handle, value.byteCount == 2, value.byte(at: 1) == 0, let bits = value.byte(at: 0),
      (1...3).contains(bits), table.attributes[handle] == nil, inferred[handle] == nil,
      inferred.count < Self.inferredCapacity
    else { return }
    inferred[handle] = .some(nil)
    unconfirmed += 1
  }

  /// A value is sent by the characteristic before the configuration: it was subscribed to.
  func noteValue(_ handle: AttributeHandle?) {
    guard unconfirmed > 0, let handle, table.attributes[handle] == nil else { return }
    // Other descriptors may be between them.
    for distance in UInt16(1)...4 where handle.rawValue <= .max - distance {
      let descriptor = AttributeHandle(handle.rawValue + distance)
      guard case .some(nil) = inferred[descriptor] else { continue }
      inferred[descriptor] = handle
      unconfirmed -= 1
      return
    }
  }

  /// Adds the attributes in a response.
  ///
  /// - Returns: the first handle of a request that would continue the procedure; nil if it is complete
  func learn(_ pdu: ATTPDU, _ request: GATTTracker.Request) -> AttributeHandle? {
    var last: AttributeHandle?
    switch pdu {
    case .readByGroupTypeResponse(let entries):
      for entry in entries {
        let uuid = entry.value.withReader { try? BluetoothUUID(parsing: &$0, length: entry.value.count) }
        if let uuid { table.learnService(entry.group, uuid) }
      }
      last = entries.last?.group.end
    case .findByTypeValueResponse(let ranges):
      if let uuid = request.service { for range in ranges { table.learnService(range, uuid) } }
      last = ranges.last?.end
    case .readByTypeResponse(let entries):
      for entry in entries {
        switch request.type {
        case GATTUUID.characteristic?: table.learnDeclaration(entry.handle, entry.value)
        case GATTUUID.include?: table.learnInclude(entry.handle, entry.value)
        case let type?: table.learnValue(entry.handle, type)
        case nil: break
        }
      }
      last = entries.last?.handle
    case .findInformationResponse(let entries):
      for entry in entries { table.learnType(entry.handle, entry.type) }
      last = entries.last?.handle
    case .readResponse, .readBlobResponse, .prepareWriteResponse: return request.handle
    default: return nil
    }
    // A response that reaches the end of the range completes the procedure.
    guard let last, last != request.range?.end else { return nil }
    return last.next
  }
}
