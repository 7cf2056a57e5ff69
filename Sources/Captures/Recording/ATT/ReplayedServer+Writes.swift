import ATT
import HaloBluetoothCore

/// Answers writes as the recorded server did: the same value, or one that is alike.
extension ReplayedServer {
  func write(_ value: [UInt8], to handle: AttributeHandle, _ opcode: ATTOpcode) {
    peripheral.meet(.write(value), at: handle)
    if let owner = peripheral.attributes.owner(ofConfiguration: handle) {
      return configure(owner, handle, value, opcode)
    }
    queue.ask()
    guard let exchange = matchWrite(value, to: handle) else {
      if answerWithoutData(to: value, at: handle, opcode) { return }
      return refuse(
        opcode, handle, peripheral.attributes[handle] == nil ? .invalidHandle : .writeRequestRejected,
        because: dialogue.bySubject[.write(handle)] == nil
          ? "nothing was written to it"
          : "\(Hex.string(value.prefix(24), separator: " ")) was not written to it")
    }
    answer(exchange, to: opcode, handle)
  }

  /// The recorded write with this value; without one, the next with the longest common beginning.
  private func matchWrite(_ value: [UInt8], to handle: AttributeHandle) -> RecordedDialogue.Exchange? {
    let subject = RecordedDialogue.Subject.write(handle)
    if let exchange = taken(matcher.next(subject, value)) { return exchange }
    guard peripheral.matching == .similar else { return nil }
    let (dialect, uuid) = (peripheral.dialect, peripheral.attributes[handle]?.type)
    let alike = matcher.nextAlike(subject, value) { dialect?.accepts($0, for: value, at: uuid) }
    guard let exchange = taken(alike) else { return nil }
    noteAdapted(AdaptedWrite(handle: handle, sent: value, recorded: exchange.value, packet: exchange.packet))
    return exchange
  }

  /// Answers that there is no data, where the device has such an answer.
  private func answerWithoutData(to value: [UInt8], at handle: AttributeHandle, _ opcode: ATTOpcode) -> Bool {
    let attributes = peripheral.attributes
    guard peripheral.matching == .similar,
      let answer = peripheral.dialect?.answerWithoutData(to: value, at: attributes[handle]?.type),
      let notified = attributes.handles(of: answer.characteristic).first
    else { return false }
    noteAdapted(AdaptedWrite(handle: handle, sent: value))
    peripheral.matched += 1
    if opcode.kind == .request { reply(ATTWriteResponse().bytes) }
    let bytes = ATTHandleValueNotification(notified, value: answer.value).bytes
    queue.add(
      .init(packet: 0, time: 0, bytes: bytes, handle: notified), at: timers.now + Self.answerDelay)
    return true
  }

  private func noteAdapted(_ write: AdaptedWrite) {
    if peripheral.adapted.count < ReplayedPeripheral.mostReports { peripheral.adapted.append(write) }
  }

  /// Answers a write of a Client Characteristic Configuration. It needs no recorded answer, as its effect is specified.
  private func configure(
    _ owner: AttributeHandle, _ handle: AttributeHandle, _ value: [UInt8], _ opcode: ATTOpcode
  ) {
    let exchange = taken(matcher.next(.write(handle), value))
    if exchange?.errorCode == nil {
      values[handle] = value
      if value.first ?? 0 != 0 {
        peripheral.meet(.subscription, at: owner)
        queue.subscribe(owner, exchange, at: timers.now)
        if isLossDue { _ = queue.releaseRest(at: timers.now) }
      } else {
        queue.unsubscribe(owner)
      }
    }
    if let exchange { return answer(exchange, to: opcode, handle) }
    peripheral.matched += 1
    if opcode.kind == .request { reply(ATTWriteResponse().bytes) }
  }

  /// Sends the recorded answer, in the form that the request has.
  private func answer(
    _ exchange: RecordedDialogue.Exchange, to opcode: ATTOpcode, _ handle: AttributeHandle
  ) {
    guard opcode.kind == .request else { return }
    let delay = Duration.microseconds(exchange.responseDelay)
    if let code = exchange.errorCode {
      refuse(opcode, handle, code, after: delay)
    } else if opcode == .executeWriteRequest {
      reply(ATTExecuteWriteResponse().bytes, delay)
    } else {
      reply(ATTWriteResponse().bytes, delay)
    }
  }

  func prepare(_ part: ATTPreparedWrite) {
    guard peripheral.attributes[part.handle] != nil || dialogue.bySubject[.write(part.handle)] != nil else {
      return refuse(.prepareWriteRequest, part.handle, .invalidHandle, because: "nothing was written to it")
    }
    guard prepared.count < Self.preparedCapacity else {
      return refuse(.prepareWriteRequest, part.handle, .prepareQueueFull)
    }
    prepared.append(part)
    reply(ATTPrepareWriteResponse(part).bytes)
  }

  func execute(_ flags: ATTExecuteFlags) {
    let parts = prepared
    prepared = []
    guard flags == .write, let first = parts.first else { return reply(ATTExecuteWriteResponse().bytes) }
    write(parts.filter { $0.handle == first.handle }.flatMap(\.value), to: first.handle, .executeWriteRequest)
  }
}
