import ATT
import HaloBluetoothCore

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
  func receive(_ pdu: any ATTPDU, _ bytes: RawSpan) -> [Effect] {
    answer(pdu, bytes)
    return context.takeEffects()
  }

  /// Refuses a request that can't be parsed.
  func refuse(_ opcode: ATTOpcode) -> [Effect] {
    context.refuse(opcode, nil, .invalidPDU)
    return context.takeEffects()
  }

  private func answer(_ pdu: any ATTPDU, _ bytes: RawSpan) {
    let opcode = pdu.opcode
    switch pdu {
    case is ATTExchangeMTURequest: reads.exchangeMTU(bytes)
    case let find as ATTFindInformationRequest: reads.discover(pdu, .information, find.range, bytes)
    case let find as ATTFindByTypeValueRequest:
      reads.discover(pdu, .group(BluetoothUUID(find.type)), find.range, bytes)
    case let read as ATTReadByGroupTypeRequest: reads.discover(pdu, .group(read.type), read.range, bytes)
    case let read as ATTReadByTypeRequest:
      for handle in context.peripheral.attributes.handles(of: read.type) where read.range.contains(handle) {
        context.peripheral.meet(.read, at: handle)
      }
      reads.discover(pdu, .byType(read.type), read.range, bytes)
    case let read as ATTReadRequest: reads.read(read.handle, opcode)
    case let read as ATTReadBlobRequest: reads.readBlob(read.handle, Int(read.offset))
    case let read as any ATTHandlesRequest: reads.readSeveral(read.handles, opcode, bytes)
    case let write as any ATTWrite: writes.write(write.value, to: write.handle, opcode)
    case let write as ATTPrepareWriteRequest: writes.prepare(write.part)
    case let write as ATTExecuteWriteRequest: writes.execute(write.flags)
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
