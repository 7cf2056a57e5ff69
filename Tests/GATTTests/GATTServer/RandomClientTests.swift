import ATT
import HaloBluetoothCore
import HaloGATT
import TestSupport
import Testing

@testable import HaloGATT

/// Random databases, and clients that send anything.
@Suite struct RandomClientTests {
  private static let properties: [CharacteristicProperties] = [
    .read, [.read, .write], .write, .writeWithoutResponse, [.read, .notify], [.read, .write, .indicate],
    [.write, .notify, .indicate],
  ]
  private static let securities: [SecurityRequirement] = [.none, .none, .none, .encrypted, .authorized]

  private final class Kept {
    var replies: [() -> Void] = []
  }

  /// - Parameter kept: gets the answers of handlers that are given later
  private func database(_ random: inout SeededGenerator, _ kept: Kept) -> AttributeDatabase {
    let database = AttributeDatabase()
    if Bool.random(using: &random) {
      database.addGenericAttribute { Array(repeating: UInt8(truncatingIfNeeded: $0.count), count: 16) }
    }
    for _ in 0..<Int.random(in: 0...4, using: &random) {
      let service: BluetoothUUID =
        Bool.random(using: &random) ? uuid("180f") : BluetoothUUID(random.next128())
      let start = UInt16.random(in: 0...60, using: &random)
      database.addService(service, at: AttributeHandle(start), isPrimary: Bool.random(using: &random))
      if Bool.random(using: &random) { database.addInclude(range(1, 9), service) }
      for _ in 0..<Int.random(in: 0...4, using: &random) {
        let type = BluetoothUUID(UInt16.random(in: 0x2A00...0x2A03, using: &random))
        let value = random.bytes(Int.random(in: 0...300, using: &random))
        let isLate = Bool.random(using: &random)
        let hasHandler = Int.random(in: 0..<4, using: &random) == 0
        database.addCharacteristic(
          type, Self.properties.randomElement(using: &random) ?? .read, value: value,
          security: Self.securities.randomElement(using: &random) ?? .none,
          read: !hasHandler
            ? nil
            : { _, reply in
              if isLate { kept.replies.append { reply(.success(value)) } } else { reply(.success(value)) }
            },
          write: !hasHandler
            ? nil : { _, _, reply in if isLate { kept.replies.append { reply(nil) } } else { reply(nil) } })
        if Bool.random(using: &random) { database.addDescriptor(uuid("2901"), value: [1, 2]) }
      }
    }
    return database
  }

  private func pdu(_ random: inout SeededGenerator) -> [UInt8] {
    func handle() -> AttributeHandle { AttributeHandle(UInt16.random(in: 0...70, using: &random)) }
    let types: [BluetoothUUID] = [
      GATTUUID.primaryService, GATTUUID.secondaryService, GATTUUID.characteristic, GATTUUID.include,
      GATTUUID.clientCharacteristicConfiguration, uuid("2a00"), uuid("2a01"),
    ]
    let type = types.randomElement(using: &random) ?? .zero
    let value = random.bytes(Int.random(in: 0...20, using: &random))
    let offset = UInt16.random(in: 0...30, using: &random)
    let part = ATTPreparedWrite(
      handle: handle(), offset: Bool.random(using: &random) ? 0 : offset, value: value)
    let pdus: [any ATTPDU] = [
      ATTExchangeMTURequest(clientMTU: UInt16.random(in: 0...600, using: &random)),
      ATTFindInformationRequest(HandleRange(handle(), handle())), ATTFindInformationRequest(.all),
      ATTFindByTypeValueRequest(.all, type: 0x2800, value: [0x0F, 0x18]),
      ATTReadByTypeRequest(HandleRange(handle(), .last), type: type),
      ATTReadByGroupTypeRequest(HandleRange(handle(), .last), type: type), ATTReadRequest(handle()),
      ATTReadBlobRequest(handle(), offset: UInt16.random(in: 0...310, using: &random)),
      ATTReadMultipleRequest([handle(), handle()]),
      ATTReadMultipleVariableRequest([handle(), handle(), handle()]),
      ATTWriteRequest(handle(), value: value), ATTWriteRequest(handle(), value: [3, 0]),
      ATTWriteCommand(handle(), value: value), ATTPrepareWriteRequest(part), ATTPrepareWriteRequest(part),
      ATTPrepareWriteRequest(part), ATTExecuteWriteRequest(Bool.random(using: &random) ? .write : .cancel),
      ATTHandleValueConfirmation(),
    ]
    var bytes = pdus.randomElement(using: &random)?.bytes ?? []
    switch Int.random(in: 0..<8, using: &random) {
    case 0: bytes = Array(bytes.prefix(Int.random(in: 0...bytes.count, using: &random)))
    case 1: bytes += random.bytes(3)
    case 2: bytes = random.bytes(Int.random(in: 0...30, using: &random))
    default: break
    }
    return bytes
  }

  /// Each request gets one answer, none is longer than the MTU, and the queues are bounded.
  @Test(arguments: 0..<40) func eachRequestGetsOneAnswer(seed: Int) {
    var random = SeededGenerator(seed: UInt64(seed))
    let kept = Kept()
    let dialogue = ServerDialogue(database(&random, kept))
    if Bool.random(using: &random) {
      dialogue.server.security = LinkSecurity(isEncrypted: true, isAuthorized: true)
    }
    let handles = dialogue.database.attributes.map(\.handle)
    var (requests, answers, pushes) = (0, 0, 0)
    func count(_ sent: [[UInt8]], mtu: Int) {
      for pdu in sent {
        #expect(pdu.count <= mtu)
        // What is sent can be read by a client. An indication is confirmed by the other half of the bearer.
        let kind = (try? ATTReader.read(pdu.span.bytes))?.opcode.kind
        #expect(kind != nil && kind?.half != .server || kind == .confirmation)
        if kind == .response { answers += 1 } else { pushes += 1 }
      }
    }
    for _ in 0..<600 {
      let bytes = pdu(&random)
      let before = dialogue.unlinked.mtu
      if let first = bytes.first, ATTOpcode(rawValue: first).kind.isAnswered { requests += 1 }
      count(dialogue.unlinked.receive(bytes.span.bytes), mtu: max(before, dialogue.unlinked.mtu))
      switch Int.random(in: 0..<12, using: &random) {
      case 0..<4: if let reply = kept.replies.popLast() { reply() }
      case 4: dialogue.timers.advance(by: .seconds(Int.random(in: 0...20, using: &random)))
      case 5:
        if let handle = handles.randomElement(using: &random) {
          dialogue.server.notify(random.bytes(600), of: handle, replacesWaiting: Bool.random(using: &random))
          dialogue.server.indicate(random.bytes(3), of: handle)
        }
      case 6 where Int.random(in: 0..<20, using: &random) == 0:
        if let handle = handles.randomElement(using: &random) { dialogue.database.removeService(at: handle) }
      case 7:
        dialogue.unlinked.hasRoom.toggle()
        dialogue.server.roomAvailable()
      default: break
      }
      count(dialogue.unlinked.takeSent(), mtu: dialogue.unlinked.mtu)
      #expect(dialogue.server.prepared.parts.count <= 64 && dialogue.server.prepared.byteCount <= 4096)
      // Confirmed in time, so that the bearer goes on.
      if dialogue.server.indications.open != nil { count(confirm(dialogue), mtu: 517) }
    }
    // The rest is answered by handlers, or by the deadline.
    for _ in 0..<40 { dialogue.timers.advance(by: .seconds(25)) }
    count(dialogue.unlinked.takeSent(), mtu: 517)
    #expect(answers == requests, "\(pushes) pushes")
  }

  private func confirm(_ dialogue: ServerDialogue) -> [[UInt8]] {
    let confirmation: [UInt8] = [0x1E]
    return dialogue.unlinked.receive(confirmation.span.bytes)
  }
}

extension SeededGenerator {
  fileprivate mutating func next128() -> UInt128 { UInt128(next()) << 64 | UInt128(next()) }
}
