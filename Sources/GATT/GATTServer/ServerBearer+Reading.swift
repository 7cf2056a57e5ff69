import ATT

/// Reads (Core Specification Vol 3, Part F, 3.4.4).
extension ServerBearer {
  /// Why the client may not read an attribute; nil if it may.
  func readRefusal(_ entry: AttributeDatabase.Entry) -> ATTErrorCode? {
    guard entry.attribute.access.contains(.read) else { return .readNotPermitted }
    return security.refusal(of: entry.attribute.readSecurity)
  }

  /// The value that the client reads, unless a handler has it.
  func storedValue(_ entry: AttributeDatabase.Entry) -> [UInt8] {
    guard let owner = entry.owner else { return entry.attribute.value }
    return (configurations[owner] ?? []).bytes
  }

  /// Reads an attribute for the client.
  func read(_ entry: AttributeDatabase.Entry, then: @escaping (Result<[UInt8], ATTErrorCode>) -> Void) {
    if let code = readRefusal(entry) { return then(.failure(code)) }
    value(entry, then: then)
  }

  /// The value of an attribute, whether the client may read it or not.
  func value(_ entry: AttributeDatabase.Entry, then: @escaping (Result<[UInt8], ATTErrorCode>) -> Void) {
    if let handler = entry.parts { return part(of: entry, from: 0, handler, then: then) }
    guard let handler = entry.read else { return then(.success(storedValue(entry))) }
    ask(about: entry.handle, handler, then: then)
  }

  /// The value that a program has, from an offset on.
  private func part(
    of entry: AttributeDatabase.Entry, from offset: Int, _ handler: LongValueHandler,
    then: @escaping (Result<[UInt8], ATTErrorCode>) -> Void
  ) {
    ask(about: entry.handle, { handler.read(entry.handle, offset, $0, $1) }, then: then)
  }

  /// Reads a value, or a part of it.
  ///
  /// - Parameter response: the response that carries the part
  func readValue(
    _ handle: AttributeHandle, from offset: Int, _ answer: Answer, response: @escaping ([UInt8]) -> any ATTPDU
  ) {
    guard let entry = database.entry(handle) else { return answer.refuse(.invalidHandle, handle) }
    if let code = readRefusal(entry) { return answer.refuse(code, handle) }
    if let handler = entry.parts {
      return part(of: entry, from: offset, handler) { [self] result in
        switch result {
        case .failure(let code): answer.refuse(code, handle)
        case .success(let rest): answer.send(response(Array(rest.prefix(mtu - 1))))
        }
      }
    }
    if offset > 0, let known = longValues.first(where: { $0.handle == handle && $0.end == offset }) {
      return sendPart(known.value, handle, offset, answer, response)
    }
    value(entry) { [self] result in
      switch result {
      case .failure(let code): answer.refuse(code, handle)
      case .success(let value):
        sendPart(value, handle, offset, answer, response)
      }
    }
  }

  /// A part at the end of the value is empty; one behind it does not exist (3.4.4.5). A part that fills its response may not be
  /// the last: the value is kept, so that the next part is one of it, and not of a value that is there by then.
  private func sendPart(
    _ value: [UInt8], _ handle: AttributeHandle, _ offset: Int, _ answer: Answer,
    _ response: ([UInt8]) -> any ATTPDU
  ) {
    longValues.removeAll { $0.handle == handle }
    guard offset <= value.count else { return answer.refuse(.invalidOffset, handle) }
    let part = value.dropFirst(offset).prefix(mtu - 1)
    if part.count == mtu - 1 {
      if longValues.count == Self.longValueCount { longValues.removeFirst() }
      longValues.append((handle, value, part.endIndex))
    }
    answer.send(response(Array(part)))
  }

  /// Reads several values (3.4.4.7, 3.4.4.11). The first that can't be read is named, also if there is no room for it.
  func readSeveral(_ handles: [AttributeHandle], _ answer: Answer, hasLengths: Bool) {
    for handle in handles {
      guard let entry = database.entry(handle) else { return answer.refuse(.invalidHandle, handle) }
      if let code = readRefusal(entry) { return answer.refuse(code, handle) }
    }
    readSeveral(handles[...], SeveralValues(hasLengths: hasLengths), answer)
  }

  private func readSeveral(_ rest: ArraySlice<AttributeHandle>, _ values: SeveralValues, _ answer: Answer) {
    guard let handle = rest.first, values.hasRoom(in: mtu) else {
      return answer.send(values.response(mtu: mtu))
    }
    guard let entry = database.entry(handle) else { return answer.refuse(.invalidHandle, handle) }
    value(entry) { [self] result in
      switch result {
      case .failure(let code): answer.refuse(code, handle)
      case .success(let value): readSeveral(rest.dropFirst(), values.appending(value), answer)
      }
    }
  }
}

/// The values of one response: they are sent up to the MTU, so that the last may be cut.
package struct SeveralValues: Hashable, Sendable {
  /// Whether each has its length before it: Read Multiple Variable Response.
  private let hasLengths: Bool
  private var values: [[UInt8]] = []
  private var size = 1

  package init(hasLengths: Bool, _ values: [[UInt8]] = []) {
    self.hasLengths = hasLengths
    for value in values { append(value) }
  }

  /// Whether something of another value fits. A length is sent whole or not at all (3.4.4.12).
  func hasRoom(in mtu: Int) -> Bool { size + (hasLengths ? 2 : 1) <= mtu }

  mutating func append(_ value: [UInt8]) {
    values.append(value)
    size += (hasLengths ? 2 : 0) + value.count
  }

  func appending(_ value: [UInt8]) -> Self {
    var other = self
    other.append(value)
    return other
  }

  /// The bytes of the response, cut at the MTU: the length of a value that is cut is that of the whole.
  package func responseBytes(mtu: Int) -> [UInt8] { Array(response(mtu: mtu).bytes.prefix(mtu)) }

  /// The response, which is still to be cut.
  func response(mtu: Int) -> any ATTPDU {
    guard hasLengths else { return ATTReadMultipleResponse(Array(values.joined().prefix(mtu - 1))) }
    var fitting = Self(hasLengths: true)
    for value in values where fitting.hasRoom(in: mtu) { fitting.append(value) }
    return ATTReadMultipleVariableResponse(fitting.values)
  }
}
