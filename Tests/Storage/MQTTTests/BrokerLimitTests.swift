import Glibc
import Testing

@testable import HaloMQTT

/// What a broker may do to this program: it is as little trusted as any peer.
@Suite struct BrokerLimitTests {
  @Test func aConnectionMayBringAcknowledgementsAndLittleElse() {
    var budget = ReceiveBudget()
    let start = budget.limit(atAge: 0)
    #expect((16_384...131_072).contains(start))
    for _ in 0..<100 { budget.acknowledge() }
    #expect(budget.limit(atAge: 0) == start + 100 * 256)
    // A day of keep-alives is less than what one message could be.
    #expect(budget.limit(atAge: 86400) < start + 100 * 256 + 400_000)
    #expect(budget.limit(atAge: .infinity) > 0)
    #expect(budget.limit(atAge: -1) == start + 100 * 256)
  }

  @Test func readsReceivedByteCountFromKernel() throws {
    let listener = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(listener) }
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    var length = socklen_t(MemoryLayout<sockaddr_in>.size)
    let client = socket(AF_INET, Int32(SOCK_STREAM.rawValue), 0)
    defer { close(client) }
    try withUnsafeMutablePointer(to: &address) {
      try $0.withMemoryRebound(to: sockaddr.self, capacity: 1) {
        try #require(bind(listener, $0, length) == 0 && listen(listener, 1) == 0)
        try #require(getsockname(listener, $0, &length) == 0)
        try #require(connect(client, $0, length) == 0)
      }
    }
    let server = accept(listener, nil, nil)
    defer { close(server) }
    #expect(TCPSocket.received(client) == 0)
    let bytes = [UInt8](repeating: 7, count: 5000)
    try #require(send(server, bytes, bytes.count, 0) == bytes.count)
    // It has come when it can be read.
    var buffer = bytes
    let read = recv(client, &buffer, buffer.count, Int32(MSG_WAITALL))
    #expect(read == 5000)
    #expect(TCPSocket.received(client) == 5000)
    #expect(TCPSocket.received(-1) == nil)
  }

  @Test(arguments: [
    (Int32(0), ReasonCode.PublishOutcome.taken), (0x10, .taken), (0x87, .refused), (0x90, .refused),
    (0x95, .refused),
    (0x99, .refused), (0x97, .later), (0x80, .failed), (0x83, .failed), (0xFF, .failed),
  ])
  func mapsReasonCodesToPublishOutcomes(_ code: Int32, _ publishOutcome: ReasonCode.PublishOutcome) {
    #expect(ReasonCode(number: code).publishOutcome == publishOutcome)
  }

  @Test func mapsReasonCodesToConnectOutcomes() {
    for code in [1, 0x84] { #expect(ReasonCode(number: Int32(code)).connectOutcome == .otherVersion) }
    for code in [2, 4, 5, 0x86, 0x87, 0x8A] {
      #expect(ReasonCode(number: Int32(code)).connectOutcome == .refused)
    }
    for code in [3, 0x88, 0x89, 0x97] { #expect(ReasonCode(number: Int32(code)).connectOutcome == .later) }
    // Too large is about a message, another client with this name is not.
    #expect(ReasonCode(number: 0x95).blamesMessage && !ReasonCode(number: 0x8E).blamesMessage)
  }

  @Test(arguments: [
    ("OpenSSL Error[0]: error:0A00010B:SSL routines::wrong version number", "use mqtt://"),
    ("OpenSSL Error[0]: error:0A0000C6:SSL routines::packet length too long", "use mqtt://"),
    ("OpenSSL Error[0]: error:0A000086:SSL routines::certificate verify failed", "--mqtt-ca"),
    ("Error: host name verification failed.", "another name"),
    ("OpenSSL Error[0]: error:0A00045C:SSL routines::tlsv13 alert certificate required", "--mqtt-cert"),
  ])
  func explainsTLSErrors(_ text: String, _ words: String) {
    let explanation = BrokerSecurity.explanation(of: text, port: 1883)
    #expect(explanation.contains(words) && !explanation.contains("routines"))
  }
}
