import ATT
import HaloBluetoothCore
import HaloGATT

/// Writes (Core Specification Vol 3, Part F, 3.4.5 and 3.4.6).
extension ServerBearer {
  /// Why the client may not write an attribute; nil if it may.
  private func writeRefusal(
    _ entry: AttributeDatabase.Entry, _ access: ServerAttribute.Access
  ) -> ATTErrorCode? {
    guard entry.attribute.access.contains(access) else { return .writeNotPermitted }
    return security.refusal(of: entry.attribute.writeSecurity)
  }

  /// Why a value is not one of this attribute; nil if it is.
  private func refusal(of value: [UInt8], for entry: AttributeDatabase.Entry) -> ATTErrorCode? {
    guard let allowed = entry.attribute.configuration else {
      return value.count <= entry.attribute.capacity ? nil : .invalidAttributeValueLength
    }
    guard let configuration = ClientConfiguration(parsing: value) else { return .invalidAttributeValueLength }
    return configuration.isSubset(of: ClientConfiguration(rawValue: UInt16(allowed)))
      ? nil : .cccdImproperlyConfigured
  }

  /// Stores a value that was checked.
  private func store(_ value: [UInt8], in entry: AttributeDatabase.Entry) -> Event {
    if longValue?.handle == entry.handle { longValue = nil }
    guard entry.attribute.configuration != nil else {
      if entry.write == nil { database.setValue(value, of: entry.handle) }
      return .written(entry.handle, value)
    }
    guard let owner = entry.owner, let configuration = ClientConfiguration(parsing: value) else {
      return .written(entry.handle, value)
    }
    configurations[owner] = configuration.isEmpty ? nil : configuration
    return .configured(owner, configuration)
  }

  // MARK: Single writes

  /// A write without response. It gets no answer, not even an error (3.4.5.3).
  func write(_ value: [UInt8], to handle: AttributeHandle) {
    guard let entry = database.entry(handle), writeRefusal(entry, .writeCommand) == nil,
      refusal(of: value, for: entry) == nil
    else { return }
    guard let handler = entry.write else {
      onEvent?(store(value, in: entry))
      return
    }
    // The handler of a command has no deadline, as nobody waits for it.
    var isOpen = true
    handler(value, self) { [weak self] code in
      guard let self, isOpen, !isClosed else { return }
      isOpen = false
      if code == nil { onEvent?(store(value, in: entry)) }
    }
  }

  func write(_ value: [UInt8], to handle: AttributeHandle, _ answer: Answer) {
    guard let entry = database.entry(handle) else { return answer.refuse(.invalidHandle, handle) }
    if let code = writeRefusal(entry, .write) ?? refusal(of: value, for: entry) {
      return answer.refuse(code, handle)
    }
    offer(value, to: entry) { [weak self] code in
      guard let self else { return }
      if let code { return answer.refuse(code, handle) }
      answer.send(ATTWriteResponse(), [store(value, in: entry)])
    }
  }

  /// Asks the handler of an attribute, if it has one, to take a value.
  private func offer(
    _ value: [UInt8], to entry: AttributeDatabase.Entry, then: @escaping (ATTErrorCode?) -> Void
  ) {
    guard let handler = entry.write else { return then(nil) }
    ask(about: entry.handle, { client, reply in handler(value, client, reply) }, then: then)
  }

  // MARK: Prepared writes

  /// Permissions are checked now, offset and length when the queue is executed. A part that is refused leaves the queue
  /// as it is (3.4.6.1).
  func prepare(_ part: ATTPreparedWrite, _ answer: Answer) {
    guard let entry = database.entry(part.handle) else { return answer.refuse(.invalidHandle, part.handle) }
    if let code = writeRefusal(entry, .write) { return answer.refuse(code, part.handle) }
    guard prepared.append(part) else { return answer.refuse(.prepareQueueFull, part.handle) }
    answer.send(ATTPrepareWriteResponse(part))
  }

  /// Empties the queue, and writes all of it or nothing (3.4.6.3). Handlers are asked one after the other, and values
  /// are stored when all have accepted theirs: what a handler has taken before another one refuses is its own matter.
  func execute(_ flags: ATTExecuteFlags, _ answer: Answer) {
    let groups = prepared.take()
    if flags == .cancel { return answer.send(ATTExecuteWriteResponse()) }
    assemble(groups[...], [], answer)
  }

  private typealias Whole = (entry: AttributeDatabase.Entry, value: [UInt8])

  /// Puts the values together, and checks them.
  private func assemble(_ rest: ArraySlice<PreparedWrites.Group>, _ values: [Whole], _ answer: Answer) {
    guard let group = rest.first else { return carryOut(values[...], values, answer) }
    // The attribute was there when the part was prepared.
    guard let entry = database.entry(group.handle) else {
      return answer.refuse(.databaseOutOfSync, group.handle)
    }
    let take: (Result<[UInt8], ATTErrorCode>) -> Void = { [weak self] result in
      guard let self else { return }
      switch result {
      case .failure(let code): answer.refuse(code, group.handle)
      case .success(let old):
        guard let value = group.value(over: old) else { return answer.refuse(.invalidOffset, group.handle) }
        if let code = refusal(of: value, for: entry) { return answer.refuse(code, group.handle) }
        assemble(rest.dropFirst(), values + [(entry, value)], answer)
      }
    }
    if group.isWhole { take(.success([])) } else { value(entry, then: take) }
  }

  private func carryOut(_ rest: ArraySlice<Whole>, _ all: [Whole], _ answer: Answer) {
    guard let next = rest.first else {
      return answer.send(ATTExecuteWriteResponse(), all.map { store($0.value, in: $0.entry) })
    }
    offer(next.value, to: next.entry) { [weak self] code in
      if let code { return answer.refuse(code, next.entry.handle) }
      self?.carryOut(rest.dropFirst(), all, answer)
    }
  }
}
