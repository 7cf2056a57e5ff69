import ATT
import BluetoothCore

/// Finds the recorded answers to the requests of a client, by their meaning. What follows from a request is returned: it
/// keeps no time, and sends nothing.
@BluetoothActor
final class ReplayedAnswers {
  /// What follows from a PDU of the client.
  enum Effect {
    /// A response, after some time.
    case reply([UInt8], Duration)
    /// A recorded request was made; whether it was not made before.
    case match(RecordedDialogue.Exchange, isNew: Bool)
    /// The client has written something that is no subscription.
    case ask
    /// The client has subscribed to the characteristic with its value at this handle, as in a recorded exchange.
    case subscribe(AttributeHandle, RecordedDialogue.Exchange?)
    case unsubscribe(AttributeHandle)
    /// A made-up notification.
    case notify(AttributeHandle, [UInt8])
    /// A request that the capture has no answer for.
    case miss
  }

  private let context: ReplayContext
  private let reads: ReplayedReads
  private let writes: ReplayedWrites

  init(_ peripheral: ReplayedPeripheral, _ dialogue: RecordedDialogue) {
    context = ReplayContext(peripheral, dialogue)
    reads = ReplayedReads(context)
    writes = ReplayedWrites(context)
  }

  /// Handles a request or a command.
  func receive(_ pdu: ATTPDU, _ bytes: RawSpan) -> [Effect] {
    answer(pdu, bytes)
    return context.takeEffects()
  }

  /// Refuses a request that can't be parsed.
  func refuse(_ opcode: ATTOpcode) -> [Effect] {
    context.refuse(opcode, nil, .invalidPDU)
    return context.takeEffects()
  }

  private func answer(_ pdu: ATTPDU, _ bytes: RawSpan) {
    let opcode = pdu.opcode
    switch pdu {
    case .exchangeMTURequest: reads.exchangeMTU(bytes)
    case .findInformationRequest(let range): reads.discover(pdu, .information, range, bytes)
    case .findByTypeValueRequest(let range, let type, _):
      reads.discover(pdu, .group(BluetoothUUID(type)), range, bytes)
    case .readByGroupTypeRequest(let range, let type): reads.discover(pdu, .group(type), range, bytes)
    case .readByTypeRequest(let range, let type):
      for handle in context.peripheral.attributes.handles(of: type) where range.contains(handle) {
        context.peripheral.meet(.read, at: handle)
      }
      reads.discover(pdu, .byType(type), range, bytes)
    case .readRequest(let handle): reads.read(handle, opcode)
    case .readBlobRequest(let handle, let offset): reads.readBlob(handle, Int(offset))
    case .readMultipleRequest(let handles), .readMultipleVariableRequest(let handles):
      reads.readSeveral(handles, opcode, bytes)
    case .writeRequest(let handle, let value): writes.write(value, to: handle, opcode)
    case .writeCommand(let handle, let value), .signedWriteCommand(let handle, let value, _):
      writes.write(value, to: handle, opcode)
    case .prepareWriteRequest(let part): writes.prepare(part)
    case .executeWriteRequest(let flags): writes.execute(flags)
    default:
      guard opcode.kind == .request || opcode.kind == .unknown, !opcode.isCommand else { return }
      if !reads.replyAsRecorded(.exact(Array(bytes))) {
        context.refuse(opcode, nil, .requestNotSupported, because: "the capture has no such request")
      }
    }
  }
}

extension ATTOpcode {
  /// The command flag: never answered (Core Specification Vol 3, Part F, 3.3.1).
  fileprivate var isCommand: Bool { rawValue & 0x40 != 0 }
}
