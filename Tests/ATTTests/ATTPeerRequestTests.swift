import ATT
import HaloBluetoothCore
import TestSupport
import Testing

/// The peer is a client, too.
@Suite struct ATTPeerRequestTests {
  let dialogue = BearerDialogue()

  @Test func thePeersMTURequestIsAnsweredAndTaken() {
    dialogue.receive("02 f700")
    #expect(dialogue.takeSent() == ["030502"])
    #expect(dialogue.bearer.mtu == 247)
    #expect(dialogue.bearer.counters.peerRequests == 1)
  }

  /// Many real devices ask while our own exchange is open, and wait.
  @Test func thePeersMTURequestIsAnsweredWhileOursIsOpen() {
    var mtu: Result<Int, StackError>?
    dialogue.bearer.exchangeMTU { mtu = $0 }
    dialogue.receive("02 6400")
    #expect(dialogue.takeSent() == ["020502", "030502"])
    #expect(dialogue.bearer.mtu == 100)
    #expect(mtu == nil)
    // The smaller pair of values wins, whichever comes last.
    dialogue.receive("03 f700")
    #expect(mtu == .success(100))
    #expect(dialogue.bearer.mtu == 100)
  }

  @Test(arguments: [
    ("f700", 247), ("0502", 517), ("ffff", 517), ("1700", 23), ("1600", 23), ("0000", 23), ("f700ff", 247),
  ])
  func theSmallerMTUWinsAndTheMinimumStays(_ theirs: String, _ expected: Int) {
    var mtu: Result<Int, StackError>?
    dialogue.bearer.exchangeMTU { mtu = $0 }
    dialogue.receive("03" + theirs)
    #expect(mtu == .success(expected))
    #expect(dialogue.bearer.mtu == expected)
  }

  @Test func aRefusedMTUExchangeIsNotFatal() {
    var mtu: Result<Int, StackError>?
    dialogue.bearer.exchangeMTU { mtu = $0 }
    dialogue.receive("01 02 0000 06")
    #expect(mtu == .success(23))
  }

  @Test func ignoresUnsolicitedExchangeMTUResponse() {
    dialogue.receive("03 f700")
    #expect(dialogue.bearer.mtu == 23)
    dialogue.bearer.exchangeMTU { _ in }
    dialogue.receive("03 f700")
    dialogue.receive("03 0002")
    #expect(dialogue.bearer.mtu == 247)
    #expect(dialogue.bearer.counters.unexpectedResponses == 2)
  }

  @Test func anMTUExchangeThatIsCutShortFails() {
    var mtu: Result<Int, StackError>?
    dialogue.bearer.exchangeMTU { mtu = $0 }
    dialogue.receive("03 17")
    #expect(mtu?.error?.code == .malformed)
    #expect(dialogue.bearer.mtu == 23)
  }

  @Test(arguments: [
    // Request, and the Error Response that it gets.
    ("find information", "04 0100 ffff", "0104 0100 0a"),
    ("find by type value", "06 0100 ffff 0028 0f18", "0106 0100 0a"),
    ("read by type", "08 0500 ffff 0328", "0108 0500 0a"),
    ("read", "0a 2100", "010a 2100 01"),
    ("read blob", "0c 2100 1600", "010c 2100 01"),
    ("read multiple", "0e 2100 2200", "010e 2100 01"),
    ("read by group type", "10 0100 ffff 0028", "0110 0100 0a"),
    ("read by group type, secondary", "10 0100 ffff 0128", "0110 0100 0a"),
    ("read by group type, no group", "10 0100 ffff 0328", "0110 0100 10"),
    ("write", "12 2100 0100", "0112 2100 01"),
    ("prepare write", "16 2100 0000 aa", "0116 2100 01"),
    ("execute write", "18 01", "19"),
    ("cancel the queue", "18 00", "19"),
    ("execute write, neither flag", "18 02", "0118 0000 04"),
    ("read multiple variable", "20 2100 2200", "0120 2100 01"),
    ("range that starts at zero", "04 0000 ffff", "0104 0000 01"),
    ("range that ends before it starts", "08 0500 0400 0328", "0108 0500 01"),
    ("group range upside down", "10 0500 0400 0028", "0110 0500 01"),
    ("request that is cut", "0a 21", "010a 0000 04"),
    ("MTU request that is cut", "02 17", "0102 0000 04"),
    ("attribute type of three bytes", "08 0100 ffff 032800", "0108 0000 04"),
    // A server takes no bytes behind the last field.
    ("read with a byte too many", "0a 2100 00", "010a 0000 04"),
    ("read blob with a byte too many", "0c 2100 1600 00", "010c 0000 04"),
    ("MTU request with a byte too many", "02 f700 00", "0102 0000 04"),
    ("find information with a byte too many", "04 0100 ffff 00", "0104 0000 04"),
    ("execute write with a byte too many", "18 01 00", "0118 0000 04"),
    ("a set of one handle", "0e 2100", "010e 0000 04"),
    ("method nobody knows", "3f 0102", "013f 0000 06"),
    ("method nobody knows, alone", "24", "0124 0000 06"),
  ])
  func everyRequestGetsItsRefusal(_ name: String, _ request: String, _ response: String) {
    dialogue.receive(request)
    #expect(dialogue.takeSent() == [response.filter { $0 != " " }])
    #expect(dialogue.bearer.counters.peerRequests == 1)
  }

  private final class Server: ATTServer {
    var received: [String] = []
    var ends = 0

    func receive(_ pdu: RawSpan, at time: Instant) { received.append(Hex.string(Array(pdu))) }
    func bearerClosed() { ends += 1 }
  }

  /// What a PDU is for follows from the kind of its opcode (3.3.1): each goes to one half, and the exchange to both.
  @Test func eachPDUGoesToOneHalf() {
    let server = Server()
    dialogue.bearer.serve(with: server)
    var notified = 0
    dialogue.bearer.onNotification = { _, _, _ in notified += 1 }
    let forServer = ["0a0100", "520100aa", "1e", "3f01", "7f", "d20100"]
    for bytes in forServer + ["1b0100aa", "0b", "01", "02f700"] { dialogue.receive(bytes) }
    #expect(server.received == forServer && notified == 1)
    #expect(dialogue.takeSent() == ["030502"])
    #expect(dialogue.bearer.counters.unexpectedResponses == 2)
    // Both halves share the MTU.
    #expect(lengthFromServer(valueOf: 244) == 247 && lengthFromServer(valueOf: 245) == 247)
    dialogue.bearer.close("the end")
    dialogue.receive("0a0100")
    #expect(lengthFromServer(valueOf: 1) == nil)
    #expect(server.received.count == forServer.count && server.ends == 1)
  }

  /// How long the PDU is that the bearer sends for a notification.
  private func lengthFromServer(valueOf count: Int) -> Int? {
    dialogue.bearer.sendFromServer(ATTHandleValueNotification(3, value: Array(repeating: 1, count: count)))
    return dialogue.takeSent().first.map { $0.count / 2 }
  }

  @Test func anUnconfirmedIndicationEndsTheBearer() {
    let server = Server()
    dialogue.bearer.serve(with: server)
    var reasons: [StackError] = []
    dialogue.bearer.onTimeout = { reasons.append($0) }
    let read = dialogue.request(ATTReadRequest(1))
    dialogue.bearer.indicationTimedOut()
    dialogue.bearer.indicationTimedOut()
    #expect(reasons == [.timedOut(.handleValueIndication)] && server.ends == 1)
    #expect(read.error != nil && dialogue.bearer.isClosed)
  }

  /// Our own request stays open meanwhile: each direction has its own.
  @Test func thePeersRequestDoesNotDisturbOurs() {
    let read = dialogue.request(ATTReadRequest(0x0010))
    dialogue.receive("10 0100 ffff 0028")
    #expect(dialogue.takeSent() == ["0a1000", "011001000a"])
    dialogue.receive("0b")
    #expect(read.results.count == 1)
  }

  @Test(arguments: [
    "52 1000 aa", "52", "d2 1000 000000000000000000000000", "7f 01", "c0", "1e", "1e 00",
  ])
  func commandsAndStrayConfirmationsGetNoAnswer(_ bytes: String) {
    dialogue.receive(bytes)
    #expect(dialogue.takeSent() == [])
    #expect(dialogue.bearer.counters.peerRequests == 0)
  }

  /// Whatever comes, the bearer answers at most once to each PDU, and its own request ends at most once.
  @Test func noPDUIsAnsweredTwice() {
    for vector in attVectors {
      checkDecoderIsTotal(vector.bytes) { bytes in
        let dialogue = BearerDialogue()
        let read = dialogue.request(ATTReadRequest(0x0010))
        _ = dialogue.takeSent()
        dialogue.bearer.receive(bytes.span.bytes, at: Arrival(.zero))
        #expect(dialogue.takeSent().count <= 1)
        #expect(read.results.count <= 1)
      }
    }
  }
}
