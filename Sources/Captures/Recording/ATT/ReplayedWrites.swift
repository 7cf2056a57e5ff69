import ATT
import HaloBluetoothCore
import HaloGATT

/// Answers writes as the recorded server did: the same value, or one that is alike.
@BluetoothActor
final class ReplayedWrites {
  private let context: ReplayContext
  private var matcher: ExchangeMatcher
  private var prepared: [ATTPreparedWrite] = []
  private static let preparedLimit = 1024

  init(_ context: ReplayContext) {
    self.context = context
    matcher = ExchangeMatcher(context.dialogue)
  }

  func write(_ value: [UInt8], to handle: AttributeHandle, _ opcode: ATTOpcode) {
    context.peripheral.meet(.write(value), at: handle)
    if let owner = context.peripheral.attributes.owner(ofConfiguration: handle) {
      return configure(owner, handle, value, opcode)
    }
    context.add(.ask)
    guard let exchange = matchWrite(value, to: handle) else {
      if answerWithoutData(to: value, at: handle, opcode) { return }
      return context.refuse(
        opcode, handle, context.peripheral.attributes[handle] == nil ? .invalidHandle : .writeRequestRejected,
        because: context.dialogue.bySubject[.write(handle)] == nil
          ? "nothing was written to it"
          : "\(Hex.string(value.prefix(24), separator: " ")) was not written to it")
    }
    answer(exchange, to: opcode, handle)
  }

  /// The recorded write with this value; without one, the next with the longest common beginning.
  private func matchWrite(_ value: [UInt8], to handle: AttributeHandle) -> RecordedDialogue.Exchange? {
    let subject = RecordedDialogue.Subject.write(handle)
    if let exchange = context.taken(matcher.next(subject, value)) { return exchange }
    guard context.peripheral.matching == .similar else { return nil }
    let (dialect, uuid) = (context.peripheral.dialect, context.peripheral.attributes[handle]?.type)
    let alike = matcher.nextAlike(subject, value) { dialect?.accepts($0, for: value, at: uuid) }
    guard let exchange = context.taken(alike) else { return nil }
    noteAdapted(AdaptedWrite(handle: handle, sent: value, recorded: exchange.value, packet: exchange.packet))
    return exchange
  }

  /// Answers that there is no data, where the device has a way to say so.
  private func answerWithoutData(
    to value: [UInt8], at handle: AttributeHandle, _ opcode: ATTOpcode
  ) -> Bool {
    let attributes = context.peripheral.attributes
    guard context.peripheral.matching == .similar,
      let answer = context.peripheral.dialect?.answerWithoutData(to: value, at: attributes[handle]?.type),
      let notified = attributes.handles(of: answer.characteristic).first
    else { return false }
    noteAdapted(AdaptedWrite(handle: handle, sent: value))
    context.peripheral.matched += 1
    if opcode.kind == .request { context.reply(ATTWriteResponse().bytes) }
    context.add(.notify(notified, answer.value))
    return true
  }

  private func noteAdapted(_ write: AdaptedWrite) {
    if context.peripheral.adapted.count < ReplayedPeripheral.mostReports {
      context.peripheral.adapted.append(write)
    }
  }

  /// Answers a write of a Client Characteristic Configuration. It needs no recorded answer, as its effect is specified.
  private func configure(
    _ owner: AttributeHandle, _ handle: AttributeHandle, _ value: [UInt8], _ opcode: ATTOpcode
  ) {
    let exchange = context.taken(matcher.next(.write(handle), value))
    if exchange?.errorCode == nil {
      context.values[handle] = value
      if value.first ?? 0 != 0 {
        context.peripheral.meet(.subscription, at: owner)
        context.add(.subscribe(owner, exchange))
      } else {
        context.add(.unsubscribe(owner))
      }
    }
    if let exchange { return answer(exchange, to: opcode, handle) }
    context.peripheral.matched += 1
    if opcode.kind == .request { context.reply(ATTWriteResponse().bytes) }
  }

  /// Sends the recorded answer, in the form that the request has.
  private func answer(
    _ exchange: RecordedDialogue.Exchange, to opcode: ATTOpcode, _ handle: AttributeHandle
  ) {
    guard opcode.kind == .request else { return }
    let delay = Duration.microseconds(exchange.responseDelay)
    if let code = exchange.errorCode {
      context.refuse(opcode, handle, code, after: delay)
    } else if opcode == .executeWriteRequest {
      context.reply(ATTExecuteWriteResponse().bytes, delay)
    } else {
      context.reply(ATTWriteResponse().bytes, delay)
    }
  }

  func prepare(_ part: ATTPreparedWrite) {
    guard
      context.peripheral.attributes[part.handle] != nil
        || context.dialogue.bySubject[.write(part.handle)] != nil
    else {
      return context.refuse(
        .prepareWriteRequest, part.handle, .invalidHandle, because: "nothing was written to it")
    }
    guard prepared.count < Self.preparedLimit else {
      return context.refuse(.prepareWriteRequest, part.handle, .prepareQueueFull)
    }
    prepared.append(part)
    context.reply(ATTPrepareWriteResponse(part).bytes)
  }

  func execute(_ flags: ATTExecuteFlags) {
    let parts = prepared
    prepared = []
    guard flags == .write, let first = parts.first else {
      return context.reply(ATTExecuteWriteResponse().bytes)
    }
    write(parts.filter { $0.handle == first.handle }.flatMap(\.value), to: first.handle, .executeWriteRequest)
  }
}
