import ATT
import HaloGATT
import HaloBluetoothCore

extension FuzzTarget {
  /// What a client may send to a server whose values are stored, protected, and answered later.
  static let servers = [
    FuzzTarget("att-server") { bytes in
      let fuzzed = FuzzedServer()
      let server = InMemoryServer(fuzzed.database)
      server.server.checkSignature = { fuzzed.check($0, $1, $2) }
      var (requests, answers) = (0, 0)
      func count(_ sent: [[UInt8]], _ mtu: Int) {
        for pdu in sent {
          precondition(pdu.count <= mtu, "no PDU is longer than the MTU")
          if let first = pdu.first, ATTOpcode(rawValue: first).kind == .response { answers += 1 }
        }
      }
      var input = FuzzInput(bytes)
      while !input.isEmpty {
        switch input.byte() & 7 {
        case 0: server.timers.advance(by: .seconds(Int(input.byte() & 15)))
        case 1:
          if let reply = fuzzed.replies.popLast() { reply() }
          if input.byte() & 7 == 0 { server.server.security.isEncrypted.toggle() }
        case 2:
          let handle = AttributeHandle(UInt16(input.byte() & 15))
          server.server.notify(bytes, of: handle)
          server.server.indicate(bytes, of: handle, replacesWaiting: bytes.count & 1 == 1)
        case 3:
          server.hasRoom.toggle()
          server.server.roomAvailable()
        case 4:
          fuzzed.database.addService(0x180D)
          fuzzed.database.removeService(at: AttributeHandle(UInt16(input.byte())))
        default:
          let piece = input.piece()
          let isRequest = piece.first.map { ATTOpcode(rawValue: $0).kind.isAnswered } ?? false
          if isRequest, !server.bearer.isClosed { requests += 1 }
          // The answer to an exchange of the MTU has the MTU before it.
          let before = server.mtu
          count(server.receive(piece.span.bytes), max(before, server.mtu))
        }
        count(server.takeSent(), ATTBearer.largestMTU)
      }
      let wasOpen = !server.bearer.isClosed
      // What waits is answered by the deadlines, unless an indication without confirmation ends the bearer before.
      for _ in 0..<20 { server.timers.advance(by: .seconds(25)) }
      count(server.takeSent(), ATTBearer.largestMTU)
      precondition(answers <= requests, "no request has two answers")
      if wasOpen, !server.bearer.isClosed { precondition(answers == requests, "each request has an answer") }
    }
  ]
}

/// A database with handles from 1 to 0x0018, and what its handlers have not answered.
private final class FuzzedServer {
  let database = AttributeDatabase()
  var replies: [() -> Void] = []

  init() {
    database.addGenericAttribute { Array(repeating: UInt8(truncatingIfNeeded: $0.count), count: 16) }
    database.addService(0x180F)
    database.addCharacteristic(0x2A19, [.read, .write, .notify, .indicate], value: [1, 2, 3])
    database.addCharacteristic(
      0x2A1A, [.read, .write, .writeWithoutResponse],
      read: { [weak self] _, reply in self?.keep { reply(.success([4, 5])) } },
      write: { [weak self] _, _, reply in self?.keep { reply(nil) } })
    database.addCharacteristic(
      0x2A1B, [.read, .write, .authenticatedSignedWrites], value: [9], security: .authenticated)
    database.addDescriptor(0x2901, value: Array("text".utf8), access: [.read, .write])
  }

  /// Every other signature is right, at once or later.
  func check(_ message: [UInt8], _ signature: ATTSignature, _ accept: @escaping (Bool) -> Void) {
    precondition(message.count >= 3, "a command has an opcode and a handle before its signature")
    if signature.counter & 1 == 1 { accept(signature.counter & 2 == 2) } else { keep { accept(true) } }
  }

  /// Commands have no deadline: the oldest answer is given up for another one.
  private func keep(_ reply: @escaping () -> Void) {
    if replies.count > 64 { replies.removeFirst() }
    replies.append(reply)
  }
}
