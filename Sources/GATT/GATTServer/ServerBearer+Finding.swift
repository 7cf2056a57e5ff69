import ATT
import HaloBluetoothCore

/// Requests that find attributes (Core Specification Vol 3, Part F, 3.4.3), and reads by type (3.4.4.1, 3.4.4.9).
extension ServerBearer {
  /// The most bytes of a value in Read By Type Response: the length of an entry is one byte.
  private static let longestEntry = 253
  /// The same for Read By Group Type Response.
  private static let longestGroupEntry = 251

  /// Types of one width.
  func findInformation(_ range: HandleRange, _ answer: Answer) {
    let found = database.entries(in: range)
    guard let width = found.first?.attribute.type.wireLength else {
      return answer.refuse(.attributeNotFound, range.start)
    }
    let entries = found.prefix((mtu - 2) / (2 + width)).prefix { $0.attribute.type.wireLength == width }
    answer.send(
      ATTFindInformationResponse(entries.map { ATTHandleAndType(handle: $0.handle, type: $0.attribute.type) })
    )
  }

  /// A value that may not be read is not compared, and neither is that of a handler: the answer would reveal it. The UUIDs of
  /// services are equal in both forms.
  func findByTypeValue(_ range: HandleRange, _ type: BluetoothUUID, _ value: [UInt8], _ answer: Answer) {
    let service = ServiceDeclaration.isType(type) ? BluetoothUUID(wireBytes: value) : nil
    var ranges: [HandleRange] = []
    for handle in database.handles(of: type, in: range) where ranges.count < (mtu - 1) / 4 {
      guard let entry = database.entry(handle), entry.read == nil, readRefusal(entry) == nil
      else { continue }
      let found = storedValue(entry)
      guard service.map({ BluetoothUUID(wireBytes: found) == $0 }) ?? (found == value) else { continue }
      ranges.append(HandleRange(handle, database.groupEnd(of: entry)))
    }
    guard !ranges.isEmpty else { return answer.refuse(.attributeNotFound, range.start) }
    answer.send(ATTFindByTypeValueResponse(ranges))
  }

  /// Services whose UUIDs have one length.
  func readByGroup(_ range: HandleRange, _ type: BluetoothUUID, _ answer: Answer) {
    var groups: [ATTGroupAndValue] = []
    for handle in database.handles(of: type, in: range) {
      guard let entry = database.entry(handle) else { break }
      let longest = min(mtu - 6, Self.longestGroupEntry)
      let value = Array(storedValue(entry).prefix(longest))
      if let first = groups.first {
        guard first.value.count == value.count, groups.count < (mtu - 2) / (4 + value.count) else { break }
      }
      groups.append(ATTGroupAndValue(group: HandleRange(handle, database.groupEnd(of: entry)), value: value))
    }
    guard !groups.isEmpty else { return answer.refuse(.attributeNotFound, range.start) }
    answer.send(ATTReadByGroupTypeResponse(groups))
  }

  /// Values of one length. If the first can't be read, the response says why; a later one ends the list.
  func readByType(_ range: HandleRange, _ type: BluetoothUUID, _ answer: Answer) {
    let handles = database.handles(of: type, in: range)
    guard !handles.isEmpty else { return answer.refuse(.attributeNotFound, range.start) }
    readByType(handles, [], answer, range.start)
  }

  private func readByType(
    _ rest: ArraySlice<AttributeHandle>, _ found: [ATTHandleAndValue], _ answer: Answer,
    _ start: AttributeHandle
  ) {
    // The MTU may change while a handler is asked, so that it counts again for each.
    let longest = min(mtu - 4, Self.longestEntry)
    func length(_ value: [UInt8]) -> Int { min(value.count, longest) }
    guard let handle = rest.first, let entry = database.entry(handle),
      found.first.map({ found.count < (mtu - 2) / (2 + length($0.value)) }) ?? true
    else { return sendEntries(found, longest, answer, start) }
    read(entry) { [self] result in
      switch result {
      case .failure(let code) where found.isEmpty: answer.refuse(code, handle)
      case .success(let value) where found.first.map({ length($0.value) == length(value) }) ?? true:
        readByType(rest.dropFirst(), found + [ATTHandleAndValue(handle: handle, value: value)], answer, start)
      default: sendEntries(found, longest, answer, start)
      }
    }
  }

  private func sendEntries(
    _ found: [ATTHandleAndValue], _ longest: Int, _ answer: Answer, _ start: AttributeHandle
  ) {
    // It was removed while the handler of another one was asked.
    guard !found.isEmpty else { return answer.refuse(.attributeNotFound, start) }
    let entries = found.map { ATTHandleAndValue(handle: $0.handle, value: Array($0.value.prefix(longest))) }
    let length = entries.first?.value.count ?? 0
    let room = (mtu - 2) / (2 + length)
    answer.send(ATTReadByTypeResponse(Array(entries.prefix { $0.value.count == length }.prefix(room))))
  }
}
