import ATT
import BluetoothCore
import HaloGATT

/// The server of an ATT bearer (Core Specification Vol 3, Part F, 3.4). PDUs in, responses out; independent of the
/// meaning of its attributes.
public struct AttributeServer: Sendable {
  /// The largest PDU that both ends take.
  public private(set) var mtu = ATTBearer.defaultMTU
  public var attributes: [ServerAttribute]

  private let grantedMTU: UInt16
  private var hasExchanged = false
  private var prepared: [ATTPreparedWrite] = []
  private static let preparedLimit = 64

  /// The result of a PDU.
  public struct Outcome: Sendable {
    public var answer: ATTPDU?
    /// The bytes to send. An answer to Read Multiple Variable ends where the MTU does, also within a value, whose length
    /// is still that of the whole (3.4.4.12).
    public var answerBytes: [UInt8]? { answer.map { Array($0.bytes.prefix(mtu)) } }
    /// The written values, in order.
    public var writes: [(handle: AttributeHandle, value: [UInt8])] = []
    fileprivate var mtu = ATTBearer.defaultMTU
  }

  public init(attributes: [ServerAttribute], mtu: UInt16) {
    self.attributes = attributes
    grantedMTU = mtu
  }

  /// Handles the client's MTU: the smaller of both applies, never less than the default, and where each end has sent a
  /// request, the smaller result (3.4.2.2).
  public mutating func adopt(theirs: UInt16) {
    let agreed = max(ATTBearer.defaultMTU, Int(min(theirs, grantedMTU)))
    mtu = hasExchanged ? min(mtu, agreed) : agreed
    hasExchanged = true
  }

  /// Whether the characteristic with this value sends notifications (1) or indications (2).
  public func configuration(of value: AttributeHandle) -> UInt8 {
    guard let index = index(of: value), attributes.indices.contains(index + 1),
      attributes[index + 1].configuration != nil
    else { return 0 }
    return attributes[index + 1].value.first ?? 0
  }

  /// Handles a request or a command.
  public mutating func receive(_ bytes: RawSpan) -> Outcome {
    guard let first = bytes.byte(at: 0) else { return Outcome() }
    let opcode = ATTOpcode(rawValue: first)
    do throws(Refusal) {
      guard let pdu = try? ATTPDU(bytes) else { throw Refusal(opcode, 0, .invalidPDU) }
      var outcome = try answer(to: pdu)
      outcome.mtu = mtu
      return outcome
    } catch {
      // Commands are never answered, not even with an error.
      return Outcome(
        answer: opcode.kind == .request || opcode.kind == .unknown ? .errorResponse(error.response) : nil)
    }
  }

  private mutating func answer(to pdu: ATTPDU) throws(Refusal) -> Outcome {
    switch pdu {
    case .exchangeMTURequest(let theirs):
      adopt(theirs: theirs)
      return Outcome(answer: .exchangeMTUResponse(serverMTU: grantedMTU))
    case .findInformationRequest(let range): return Outcome(answer: try findInformation(range))
    case .findByTypeValueRequest(let range, let type, let value):
      return Outcome(answer: try findByTypeValue(range, BluetoothUUID(type), value))
    case .readByTypeRequest(let range, let type): return Outcome(answer: try readByType(range, type))
    case .readByGroupTypeRequest(let range, let type): return Outcome(answer: try readByGroup(range, type))
    case .readRequest(let handle):
      return Outcome(answer: .readResponse(Array(try read(handle, .readRequest).prefix(mtu - 1))))
    case .readBlobRequest(let handle, let offset):
      let value = try read(handle, .readBlobRequest)
      guard Int(offset) <= value.count else { throw Refusal(.readBlobRequest, handle, .invalidOffset) }
      return Outcome(answer: .readBlobResponse(Array(value.dropFirst(Int(offset)).prefix(mtu - 1))))
    case .readMultipleRequest(let handles):
      var all: [UInt8] = []
      for handle in handles { all += try read(handle, .readMultipleRequest) }
      return Outcome(answer: .readMultipleResponse(Array(all.prefix(mtu - 1))))
    case .readMultipleVariableRequest(let handles):
      return Outcome(answer: .readMultipleVariableResponse(try readVariable(handles)))
    case .writeRequest(let handle, let value):
      let write = try write(value, to: handle, .write, .writeRequest)
      return Outcome(answer: .writeResponse, writes: [write])
    case .writeCommand(let handle, let value):
      return Outcome(writes: [try write(value, to: handle, .writeCommand, .writeCommand)])
    case .prepareWriteRequest(let part): return Outcome(answer: try prepare(part))
    case .executeWriteRequest(let flags): return try execute(flags)
    default: throw Refusal(pdu.opcode, 0, .requestNotSupported)
    }
  }

  // MARK: Finding

  private func find(_ range: HandleRange, _ request: ATTOpcode) throws(Refusal) -> ArraySlice<ServerAttribute>
  {
    guard range.isValid else { throw Refusal(request, range.start, .invalidHandle) }
    let start = attributes.firstIndex { $0.handle >= range.start } ?? attributes.endIndex
    let end = attributes.firstIndex { $0.handle > range.end } ?? attributes.endIndex
    return attributes[start..<end]
  }

  private func findInformation(_ range: HandleRange) throws(Refusal) -> ATTPDU {
    let found = try find(range, .findInformationRequest)
    guard let first = found.first else {
      throw Refusal(.findInformationRequest, range.start, .attributeNotFound)
    }
    let length = first.type.wireLength
    let entries = found.prefix { $0.type.wireLength == length }.prefix((mtu - 2) / (2 + length))
    return .findInformationResponse(entries.map { ATTHandleAndType(handle: $0.handle, type: $0.type) })
  }

  private func findByTypeValue(
    _ range: HandleRange, _ type: BluetoothUUID, _ value: [UInt8]
  ) throws(Refusal) -> ATTPDU {
    let found = try find(range, .findByTypeValueRequest).filter { $0.type == type && $0.value == value }
    guard !found.isEmpty else { throw Refusal(.findByTypeValueRequest, range.start, .attributeNotFound) }
    return .findByTypeValueResponse(
      found.prefix((mtu - 1) / 4).map { HandleRange($0.handle, $0.groupEnd ?? $0.handle) })
  }

  private func readByType(_ range: HandleRange, _ type: BluetoothUUID) throws(Refusal) -> ATTPDU {
    let found = try find(range, .readByTypeRequest).filter { $0.type == type }
    guard let first = found.first else { throw Refusal(.readByTypeRequest, range.start, .attributeNotFound) }
    let length = min(try read(first.handle, .readByTypeRequest).count, mtu - 4, 253)
    let entries = found.prefix {
      $0.access.contains(.read) && !$0.access.contains(.authenticated)
        && min($0.value.count, mtu - 4, 253) == length
    }
    return .readByTypeResponse(
      entries.prefix((mtu - 2) / (2 + length)).map {
        ATTHandleAndValue(handle: $0.handle, value: Array($0.value.prefix(length)))
      })
  }

  private func readByGroup(_ range: HandleRange, _ type: BluetoothUUID) throws(Refusal) -> ATTPDU {
    let request = ATTOpcode.readByGroupTypeRequest
    let inRange = try find(range, request)
    guard type == GATTUUID.primaryService || type == GATTUUID.secondaryService else {
      throw Refusal(request, range.start, .unsupportedGroupType)
    }
    let found = inRange.filter { $0.type == type }
    guard let first = found.first else { throw Refusal(request, range.start, .attributeNotFound) }
    let length = first.value.count
    let entries = found.prefix { $0.value.count == length }.prefix((mtu - 2) / (4 + length))
    return .readByGroupTypeResponse(
      entries.map {
        ATTGroupAndValue(group: HandleRange($0.handle, $0.groupEnd ?? $0.handle), value: $0.value)
      })
  }

  // MARK: Reading and writing

  private func index(of handle: AttributeHandle) -> Int? {
    attributes.firstIndex { $0.handle == handle }
  }

  private func read(_ handle: AttributeHandle, _ request: ATTOpcode) throws(Refusal) -> [UInt8] {
    guard let index = index(of: handle) else { throw Refusal(request, handle, .invalidHandle) }
    let attribute = attributes[index]
    guard attribute.access.contains(.read) else { throw Refusal(request, handle, .readNotPermitted) }
    guard !attribute.access.contains(.authenticated) else {
      throw Refusal(request, handle, .insufficientAuthentication)
    }
    return attribute.value
  }

  /// The values of which the length, at least, has room.
  private func readVariable(_ handles: [AttributeHandle]) throws(Refusal) -> [[UInt8]] {
    var values: [[UInt8]] = []
    var room = mtu - 1
    for handle in handles {
      let value = try read(handle, .readMultipleVariableRequest)
      guard room >= 2 else { continue }
      room -= 2 + value.count
      values.append(value)
    }
    return values
  }

  private func writable(
    _ handle: AttributeHandle, _ access: ServerAttribute.Access, _ request: ATTOpcode
  ) throws(Refusal) -> Int {
    guard let index = index(of: handle) else { throw Refusal(request, handle, .invalidHandle) }
    guard attributes[index].access.contains(access) else {
      throw Refusal(request, handle, .writeNotPermitted)
    }
    return index
  }

  private mutating func write(
    _ value: [UInt8], to handle: AttributeHandle, _ access: ServerAttribute.Access, _ request: ATTOpcode
  ) throws(Refusal) -> (handle: AttributeHandle, value: [UInt8]) {
    let index = try writable(handle, access, request)
    try check(value, for: attributes[index], request)
    attributes[index].value = value
    return (handle, value)
  }

  private func check(
    _ value: [UInt8], for attribute: ServerAttribute, _ request: ATTOpcode
  ) throws(Refusal) {
    guard value.count <= attribute.capacity else {
      throw Refusal(request, attribute.handle, .invalidAttributeValueLength)
    }
    guard let allowed = attribute.configuration else { return }
    guard value.count == 2 else { throw Refusal(request, attribute.handle, .invalidAttributeValueLength) }
    guard value[0] & ~allowed == 0, value[1] == 0 else {
      throw Refusal(request, attribute.handle, .cccdImproperlyConfigured)
    }
  }

  private mutating func prepare(_ part: ATTPreparedWrite) throws(Refusal) -> ATTPDU {
    _ = try writable(part.handle, .write, .prepareWriteRequest)
    guard prepared.count < Self.preparedLimit else {
      throw Refusal(.prepareWriteRequest, part.handle, .prepareQueueFull)
    }
    prepared.append(part)
    return .prepareWriteResponse(part)
  }

  /// Executes the whole queue or nothing of it (3.4.6.3).
  private mutating func execute(_ flags: ATTExecuteFlags) throws(Refusal) -> Outcome {
    let request = ATTOpcode.executeWriteRequest
    defer { prepared = [] }
    if flags == .cancel { return Outcome(answer: .executeWriteResponse) }
    guard flags == .write else { throw Refusal(request, 0, .invalidPDU) }
    var values: [(handle: AttributeHandle, value: [UInt8])] = []
    for part in prepared {
      let place = values.firstIndex { $0.handle == part.handle } ?? values.count
      if place == values.count {
        // From the start, the new value replaces the old one; from further on, it is laid over it.
        values.append((part.handle, part.offset == 0 ? [] : try read(part.handle, request)))
      }
      guard Int(part.offset) <= values[place].value.count else {
        throw Refusal(request, part.handle, .invalidOffset)
      }
      let kept = values[place].value.dropFirst(Int(part.offset) + part.value.count)
      values[place].value = values[place].value.prefix(Int(part.offset)) + part.value + kept
    }
    for (handle, value) in values {
      try check(value, for: attributes[try writable(handle, .write, request)], request)
    }
    for (handle, value) in values { _ = try write(value, to: handle, .write, request) }
    return Outcome(answer: .executeWriteResponse, writes: values)
  }
}

/// Why a request is refused.
private struct Refusal: Error {
  var response: ATTErrorResponse

  init(_ request: ATTOpcode, _ handle: AttributeHandle, _ code: ATTErrorCode) {
    response = ATTErrorResponse(request: request, handle: handle, code: code)
  }
}
