import ATT
import BluetoothCore
import GATTClient

/// A device's attributes, shared by all links to it: a later link needs no discovery.
final class Server {
  var table = AttributeTable()

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
        case GATTUUID.include?: table.learnInclude(entry.handle)
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
