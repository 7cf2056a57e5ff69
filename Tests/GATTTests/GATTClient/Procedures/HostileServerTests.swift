import ATT
import HaloGATT
import HaloBluetoothCore
import TestSupport
import Testing

/// A server that answers at random: sometimes rightly, sometimes with a bit flipped, cut, of another kind, late,
/// or not at all.
private struct HostileServer {
  var random: SeededGenerator
  /// How large a part of the answers is in order, in percent.
  let honesty: Int

  mutating func answers(to request: any ATTPDU, mtu: Int) -> [[UInt8]] {
    var answer = plausible(request, mtu: mtu)
    if Int.random(in: 0..<100, using: &random) < honesty { return [answer] }
    switch Int.random(in: 0..<8, using: &random) {
    case 0:
      answer[Int.random(in: answer.indices, using: &random)] ^= 1 << UInt8.random(in: 0..<8, using: &random)
    case 1: answer.removeLast(Int.random(in: 0...answer.count, using: &random))
    case 2: answer += random.bytes(Int.random(in: 1...40, using: &random))
    case 3: answer = random.bytes(Int.random(in: 0...40, using: &random))
    case 4: return []
    case 5: return [answer, answer]
    case 6: return [[0x1D] + random.bytes(Int.random(in: 0...8, using: &random)), answer]
    default: answer = [answer[0]] + random.bytes(Int.random(in: 0...mtu, using: &random))
    }
    return [answer]
  }

  /// What an honest server with tiny attributes could say.
  private mutating func plausible(_ request: any ATTPDU, mtu: Int) -> [UInt8] {
    if Int.random(in: 0..<20, using: &random) == 0 {
      return ATTErrorResponse(
        request: request.opcode, handle: 0,
        code: ATTErrorCode(rawValue: UInt8.random(in: 0...0x13, using: &random))
      ).bytes
    }
    let response: any ATTPDU
    switch request {
    case let asked as ATTReadByGroupTypeRequest:
      response = ATTReadByGroupTypeResponse([
        ATTGroupAndValue(group: HandleRange(asked.range.start, asked.range.start), value: random.bytes(2))
      ])
    case let asked as ATTFindByTypeValueRequest:
      response = ATTFindByTypeValueResponse([HandleRange(asked.range.start, asked.range.start)])
    case let asked as ATTReadByTypeRequest where asked.type == GATTUUID.characteristic:
      let value = asked.range.start.next ?? .last
      response = ATTReadByTypeResponse([
        ATTHandleAndValue(
          handle: asked.range.start,
          value: [2, UInt8(value.rawValue & 0xFF), UInt8(value.rawValue >> 8)] + random.bytes(2))
      ])
    case let asked as ATTReadByTypeRequest where asked.type == GATTUUID.include:
      response = ATTReadByTypeResponse([
        ATTHandleAndValue(
          handle: asked.range.start, value: [1, 0, 2, 0] + (Bool.random(using: &random) ? [0, 0x18] : []))
      ])
    case let asked as ATTReadByTypeRequest:
      response = ATTReadByTypeResponse([ATTHandleAndValue(handle: asked.range.start, value: random.bytes(3))])
    case let asked as ATTFindInformationRequest:
      response = ATTFindInformationResponse([ATTHandleAndType(handle: asked.range.start, type: uuid("2902"))])
    case is ATTReadRequest:
      response = ATTReadResponse(random.bytes(Bool.random(using: &random) ? mtu - 1 : 2))
    case is ATTReadBlobRequest: response = ATTReadBlobResponse(random.bytes(mtu - 1))
    case is ATTReadMultipleRequest: response = ATTReadMultipleResponse(random.bytes(4))
    case is ATTReadMultipleVariableRequest: response = ATTReadMultipleVariableResponse([random.bytes(2), []])
    case let asked as ATTPrepareWriteRequest: response = ATTPrepareWriteResponse(asked.part)
    case is ATTExecuteWriteRequest: response = ATTExecuteWriteResponse()
    default: response = ATTWriteResponse()
    }
    return response.bytes
  }
}

private final class Outbox {
  var sent: [[UInt8]] = []
}

@Suite struct HostileServerTests {
  /// Runs a procedure against such a server, and gives the number of requests that it took.
  private func requests(
    of procedure: some GATTProcedure, seed: UInt64, honesty: Int
  ) -> Int {
    let out = Outbox()
    let timers = Timers()
    let bearer = ATTBearer(timers: timers) { out.sent.append(Array($0)) }
    var server = HostileServer(random: SeededGenerator(seed: seed), honesty: honesty)
    var endings = 0
    let queue = ProcedureQueue(bearer)
    queue.run({ procedure }) { _ in endings += 1 }
    var count = 0
    while endings == 0, count < 20_000 {
      guard !out.sent.isEmpty else {
        // It waits for an answer that it did not get, or did not take.
        timers.advance(by: .seconds(30))
        break
      }
      let sent = out.sent.removeFirst()
      guard let request = try? sent.withReader({ reader throws(DecodeError) in try ATTReader.read(&reader) })
      else {
        Issue.record("sent what can't be read: \(Hex.string(sent))")
        return count
      }
      #expect(sent.count <= bearer.mtu)
      guard request.opcode.kind == .request else { continue }
      count += 1
      for answer in server.answers(to: request, mtu: bearer.mtu) {
        bearer.receive(answer.span.bytes, at: Arrival(timers.now))
      }
    }
    #expect(endings == 1, "seed \(seed), honesty \(honesty), after \(count) requests")
    return count
  }

  @Test(arguments: [0, 50, 90, 100]) func everyProcedureEnds(_ honesty: Int) {
    let service = service(0x0010, 0xFFFF)
    let characteristic = Characteristic(
      uuid: uuid("2a00"), properties: .notify, declaration: 1, valueHandle: 2, end: 0xFFFF)
    for seed in 0..<(honesty == 100 ? 3 : 150) as Range<UInt64> {
      func check(_ procedure: some GATTProcedure) {
        #expect(requests(of: procedure, seed: seed, honesty: honesty) <= 2 * 4097)
      }
      check(DiscoverAllServices())
      check(DiscoverServicesByUUID(uuid("180a")))
      check(FindIncludedServices(in: service.handles))
      check(DiscoverCharacteristics(in: service))
      check(DiscoverDescriptors(of: characteristic))
      check(ReadValue(0x10, mtu: 23))
      check(ReadByUUID(uuid("2a19")))
      check(WriteValue(0x10, [1]))
      check(QueuedWrite([(handle: 0x10, value: Array(repeating: 1, count: 512))], mtu: 23))
    }
  }
}
