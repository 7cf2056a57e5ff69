import ATT

/// Writes (Core Specification Vol 3, Part F, 3.4.5 and 3.4.6).
extension ServerBearer {
  /// Why the client may not write an attribute; nil if it may.
  private func writeRefusal(
    _ entry: AttributeDatabase.Entry, _ access: ServerAttribute.Access
  ) -> ATTErrorCode? {
    guard !entry.attribute.access.isDisjoint(with: access) else { return .writeNotPermitted }
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
    longValues.removeAll { $0.handle == entry.handle }
    guard entry.attribute.configuration != nil else {
      if !entry.isHandled { database.change(entry.handle) { $0.attribute.value = value } }
      return .written(entry.handle, value)
    }
    guard let owner = entry.owner, let configuration = ClientConfiguration(parsing: value) else {
      return .written(entry.handle, value)
    }
    configurations[owner] = configuration.isEmpty ? nil : configuration
    onRecordChange?()
    return .configured(owner, configuration)
  }

  // MARK: Single writes

  /// A write without response. It gets no answer, not even an error (3.4.5.3).
  func write(_ value: [UInt8], to handle: AttributeHandle) {
    // Encryption takes the place of a signature.
    let access: ServerAttribute.Access = security.isEncrypted ? [.writeCommand, .signedWrite] : .writeCommand
    guard let entry = database.entry(handle), writeRefusal(entry, access) == nil else { return }
    take(value, entry)
  }

  /// A signed write, whose signature was checked.
  func writeSigned(_ value: [UInt8], to handle: AttributeHandle, isAuthenticated: Bool) {
    guard let entry = database.entry(handle), entry.attribute.access.contains(.signedWrite),
      security.refusal(ofSigned: entry.attribute.writeSecurity, isAuthenticated: isAuthenticated) == nil
    else { return }
    take(value, entry)
  }

  /// Writes the value of a command that is permitted.
  private func take(_ value: [UInt8], _ entry: AttributeDatabase.Entry) {
    guard refusal(of: value, for: entry) == nil else { return }
    if let handler = entry.parts { return handler.write([whole(value, of: entry)], self, nil) }
    guard let handler = entry.write else { return storeAndReport(value, entry) }
    // The handler of a command has no deadline, as no client waits for it.
    var isOpen = true
    handler(value, self) { [self] code in
      guard isOpen, !isClosed else { return }
      isOpen = false
      if code == nil { storeAndReport(value, entry) }
    }
  }

  /// The value is stored also if nobody listens.
  private func storeAndReport(_ value: [UInt8], _ entry: AttributeDatabase.Entry) {
    let event = store(value, in: entry)
    onEvent?(event)
  }

  func write(_ value: [UInt8], to handle: AttributeHandle, _ answer: Answer) {
    guard let entry = database.entry(handle) else { return answer.refuse(.invalidHandle, handle) }
    if let code = writeRefusal(entry, .write) ?? refusal(of: value, for: entry) {
      return answer.refuse(code, handle)
    }
    offer(value, to: entry) { [self] code in
      if let code { return answer.refuse(code, handle) }
      answer.send(ATTWriteResponse(), [store(value, in: entry)])
    }
  }

  /// Asks the handler of an attribute, if it has one, to take a value.
  private func offer(
    _ value: [UInt8], to entry: AttributeDatabase.Entry, then: @escaping (ATTErrorCode?) -> Void
  ) {
    if let handler = entry.parts { return hand([whole(value, of: entry)], to: handler, then: then) }
    guard let handler = entry.write else { return then(nil) }
    ask(about: entry.handle, { client, reply in handler(value, client, reply) }, then: then)
  }

  /// A value in the form of a part.
  private func whole(_ value: [UInt8], of entry: AttributeDatabase.Entry) -> ATTPreparedWrite {
    ATTPreparedWrite(handle: entry.handle, offset: 0, value: value)
  }

  /// Asks a program to take parts.
  private func hand(
    _ parts: [ATTPreparedWrite], to handler: LongValueHandler, then: @escaping (ATTErrorCode?) -> Void
  ) {
    ask(about: parts.first?.handle ?? 0, { handler.write(parts, $0, $1) }, then: then)
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

  /// Empties the queue, and writes all of it or nothing (3.4.6.3). Handlers are asked one after the other, and values are
  /// stored when all have accepted theirs: values that handlers have taken before another one refuses are not taken back.
  func execute(_ flags: ATTExecuteFlags, _ answer: Answer) {
    let parts = prepared.take()
    if flags == .cancel { return answer.send(ATTExecuteWriteResponse()) }
    var execution = Execution()
    for part in parts {
      if let handler = database.entry(part.handle)?.parts { execution.add(part, for: handler) }
    }
    assemble(PreparedWrites.Group.each(of: parts)[...], execution, answer)
  }

  /// The values and the parts that an Execute Write is about to write.
  private struct Execution {
    typealias Whole = (entry: AttributeDatabase.Entry, value: [UInt8])

    /// Values that were put together.
    var values: [Whole] = []
    /// Parts for each program, in the order in which the client has sent them.
    var handed: [(handler: LongValueHandler, parts: [ATTPreparedWrite])] = []

    func adding(_ value: Whole) -> Self {
      var all = self
      all.values.append(value)
      return all
    }

    mutating func add(_ part: ATTPreparedWrite, for handler: LongValueHandler) {
      let place = handed.firstIndex { $0.handler === handler } ?? handed.count
      if place == handed.count { handed.append((handler, [])) }
      handed[place].parts.append(part)
    }
  }

  /// Puts the values together, and checks them.
  private func assemble(_ rest: ArraySlice<PreparedWrites.Group>, _ execution: Execution, _ answer: Answer) {
    guard let group = rest.first else { return perform(execution.values[...], execution, answer) }
    // The attribute was there when the part was prepared.
    guard let entry = database.entry(group.handle) else {
      return answer.refuse(.databaseOutOfSync, group.handle)
    }
    guard entry.parts == nil else {
      guard group.end <= entry.attribute.capacity else {
        return answer.refuse(.invalidAttributeValueLength, group.handle)
      }
      return assemble(rest.dropFirst(), execution, answer)
    }
    let take: (Result<[UInt8], ATTErrorCode>) -> Void = { [self] result in
      switch result {
      case .failure(let code): answer.refuse(code, group.handle)
      case .success(let old):
        guard let value = group.value(over: old) else { return answer.refuse(.invalidOffset, group.handle) }
        if let code = refusal(of: value, for: entry) { return answer.refuse(code, group.handle) }
        assemble(rest.dropFirst(), execution.adding((entry, value)), answer)
      }
    }
    if group.isWhole { take(.success([])) } else { value(entry, then: take) }
  }

  private func perform(_ rest: ArraySlice<Execution.Whole>, _ execution: Execution, _ answer: Answer) {
    guard let next = rest.first else { return handOut(execution.handed[...], execution, answer) }
    offer(next.value, to: next.entry) { [self] code in
      if let code { return answer.refuse(code, next.entry.handle) }
      perform(rest.dropFirst(), execution, answer)
    }
  }

  private func handOut(
    _ rest: ArraySlice<(handler: LongValueHandler, parts: [ATTPreparedWrite])>, _ execution: Execution,
    _ answer: Answer
  ) {
    guard let next = rest.first else {
      return answer.send(
        ATTExecuteWriteResponse(), execution.values.map { store($0.value, in: $0.entry) })
    }
    hand(next.parts, to: next.handler) { [self] code in
      if let code { return answer.refuse(code, next.parts.first?.handle ?? 0) }
      handOut(rest.dropFirst(), execution, answer)
    }
  }
}
