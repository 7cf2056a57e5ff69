import Glibc
import HCI
import HaloBluetoothCore
import TestLoop
import TestSupport
import Testing

@testable import HaloSystem
@testable import HaloLinuxBluetooth

@BluetoothActor
@Suite(.onTheLoop) struct HCIStreamTransportTests {
  /// A transport on one end of a socket pair; the test has the other.
  private final class Line {
    let transport: HCIStreamTransport
    var packets: [String] = []
    var reasons: [String] = []
    private(set) var theirs: Int32

    @BluetoothActor init(isStarted: Bool = true) {
      var pair: [Int32] = [-1, -1]
      socketpair(AF_UNIX, Int32(SOCK_STREAM.rawValue | SOCK_NONBLOCK.rawValue), 0, &pair)
      theirs = pair[1]
      transport = HCIStreamTransport(descriptor: pair[0], timers: testTimers)
      transport.onPacket = { [weak self] packet, _ in self?.packets.append(Hex.string(Array(packet))) }
      transport.onClose = { [weak self] reason in self?.reasons.append(reason) }
      if isStarted { transport.start() }
    }

    deinit { closeTheirs() }

    func closeTheirs() {
      if theirs >= 0 { close(theirs) }
      theirs = -1
    }

    func write(_ bytes: String) {
      let bytes = hex(bytes)
      #expect(Glibc.write(theirs, bytes, bytes.count) == bytes.count)
    }

    /// All that can be read at once; nil at the end of the stream.
    func read() -> [UInt8]? {
      var buffer = [UInt8](repeating: 0, count: 1 << 16)
      let count = Glibc.read(theirs, &buffer, buffer.count)
      return count == 0 ? nil : Array(buffer[..<max(0, count)])
    }
  }

  private func settle() async {
    await testTimers.sleep(for: .nanoseconds(1))
  }

  /// Packets that one read has brought have one number: what is sent while they are handled is not what they answer.
  @Test func readsAreCounted() async {
    let line = Line()
    var reads: [UInt64] = []
    line.transport.onPacket = { _, arrival in reads.append(arrival.read) }
    line.write("040e0401030c00 040e0401030c00")
    await settle()
    line.write("040e0401030c00")
    await settle()
    #expect(reads == [1, 1, 2])
  }

  @Test func packetsComeInWhateverChunks() async {
    let line = Line()
    line.write("040e0401030c00 040e04")
    await settle()
    #expect(line.packets == ["040e0401030c00"])
    line.write("01011000")
    await settle()
    #expect(line.packets == ["040e0401030c00", "040e0401011000"])
    line.transport.close()
  }

  @Test func sendsPacketsUnchanged() async {
    let line = Line()
    line.transport.send(hex("01030c00").span.bytes)
    #expect(line.read() == hex("01030c00"))
    line.transport.close()
    #expect(line.read() == nil)
    line.transport.send(hex("01030c00").span.bytes)
    #expect(line.reasons == [])
  }

  /// Answers to what one read has brought leave with one write: a radio that reports many free buffers gets its packets at once.
  /// What is sent at another time is not kept.
  @Test func answersToOneReadLeaveTogether() async {
    let line = Line()
    var before: [[UInt8]?] = []
    line.transport.onPacket = { [weak line] packet, _ in
      line?.transport.send(hex("0200000100").span.bytes)
      line?.transport.send(packet)
      before.append(line?.read())
    }
    line.write("040e0401030c00 040e0401011000")
    await settle()
    #expect(before == [[], []])
    #expect(line.read() == hex("0200000100 040e0401030c00 0200000100 040e0401011000"))
    line.transport.send(hex("01030c00").span.bytes)
    #expect(line.read() == hex("01030c00"))
    line.transport.close()
  }

  /// Answers that are more than the line takes follow as it takes them.
  @Test func manyAnswersToOneReadFollowInOrder() async {
    let line = Line()
    let data = [2, 0, 0, 0xE8, 3] + [UInt8](repeating: 7, count: 1000)
    line.transport.onPacket = { [weak line] _, _ in
      for _ in 0..<600 { line?.transport.send(data.span.bytes) }
    }
    line.write("040e0401030c00")
    var received: [UInt8] = []
    for _ in 0..<1000 where received.count < 600 * data.count {
      await settle()
      received += line.read() ?? []
    }
    #expect(received == Array(repeatElement(data, count: 600).joined()))
    line.transport.close()
    #expect(line.reasons == [])
  }

  /// A handler that closes the transport takes with it what was not sent.
  @Test func aHandlerThatClosesSendsNoMore() async {
    let line = Line()
    line.transport.onPacket = { [weak line] packet, _ in
      line?.transport.send(packet)
      line?.transport.close()
      line?.transport.send(packet)
    }
    line.write("040e0401030c00")
    await settle()
    #expect(line.read() == nil)
    #expect(line.reasons == [])
  }

  @Test func sendsBufferedPacketsInOrder() async {
    let line = Line()
    var expected: [UInt8] = []
    for number in 0..<600 {
      let packet = [2, 0, 0, 0xE8, 3] + [UInt8](repeating: UInt8(number & 0xFF), count: 1000)
      expected += packet
      line.transport.send(packet.span.bytes)
    }
    var received: [UInt8] = []
    for _ in 0..<1000 where received.count < expected.count {
      received += line.read() ?? []
      await settle()
    }
    #expect(received == expected)
    #expect(line.reasons == [])
    line.transport.close()
  }

  @Test func closesWhenPeerStopsReading() async {
    let line = Line()
    let packet = [2, 0, 0, 0xE8, 3] + [UInt8](repeating: 0, count: 1000)
    for _ in 0..<5000 { line.transport.send(packet.span.bytes) }
    await settle()
    #expect(line.reasons == ["the other side does not read"])
  }

  @Test func reportsCloseOnce() async {
    let line = Line()
    line.closeTheirs()
    await settle()
    await settle()
    #expect(line.reasons == ["the other side closed the connection"])
  }

  /// Sending to whoever is gone fails; it does not end the process.
  @Test func reportsCloseWhenSendingToClosedPeer() async {
    let line = Line()
    line.closeTheirs()
    line.transport.send(hex("01030c00").span.bytes)
    line.transport.send(hex("01030c00").span.bytes)
    #expect(line.reasons == [])
    await settle()
    await settle()
    #expect(line.reasons.count == 1)
  }

  @Test func closingFromWithinAPacketEndsTheChunk() async {
    let line = Line()
    var packets = 0
    line.transport.onPacket = { [weak line] _, _ in
      packets += 1
      line?.transport.close()
    }
    line.write("040e0401030c00 040e0401011000")
    await settle()
    #expect(packets == 1)
    #expect(line.reasons == [])
    #expect(line.read() == nil)
  }

  @Test func closesUnstartedTransport() async {
    let line = Line(isStarted: false)
    line.transport.close()
    #expect(line.read() == nil)
    line.transport.start()
    await settle()
    #expect(line.reasons == [])
  }

  @Test func garbageIsSkippedAndCounted() async {
    let line = Line()
    line.write("ffff 040e0401030c00")
    await settle()
    #expect(line.packets == ["040e0401030c00"])
    #expect(line.transport.skippedBytes == 2)
    line.transport.close()
  }

  /// The controller's server is started again. Half a packet of before means nothing then.
  @Test func aStreamThatHasEndedIsOpenedAgain() async throws {
    var template = Array("/tmp/halo-raw-XXXXXX".utf8CString)
    let folder = String(cString: try #require(mkdtemp(&template)))
    defer { rmdir(folder) }
    let path = folder + "/controller"
    var servers: [HCIStreamTransport] = []
    var listener = try StreamListener.unix(
      path: path, accept: HCIStreamTransport.ofHosts { servers.append($0) })
    let transport = try await HCIStreamTransport.unix(path: path)
    var packets: [String] = []
    var ends = 0
    let attach = {
      transport.onPacket = { packet, _ in packets.append(Hex.string(Array(packet))) }
      transport.onClose = { _ in ends += 1 }
      transport.start()
    }
    attach()
    await settle()
    let first = try #require(servers.last)
    first.start()
    first.send(hex("040e0401").span.bytes)
    await settle()
    listener.close()
    first.close()
    await settle()
    #expect(ends == 1)
    await #expect(throws: StackError.self) { try await transport.reopen(within: .seconds(1)) }
    listener = try StreamListener.unix(
      path: path, accept: HCIStreamTransport.ofHosts { servers.append($0) })
    defer { listener.close() }
    try await transport.reopen(within: .seconds(1))
    attach()
    await settle()
    let second = try #require(servers.last)
    #expect(servers.count == 2)
    second.start()
    second.send(hex("040e0401030c00").span.bytes)
    await settle()
    #expect(packets == ["040e0401030c00"])
    #expect(transport.name == "unix:\(path)")
    transport.close()
    await #expect(throws: StackError.cancelled) { try await transport.reopen(within: .seconds(1)) }
    second.close()
  }

  /// What was opened elsewhere can't be opened again.
  @Test func aDescriptorIsNotOpenedTwice() async {
    let line = Line()
    await #expect(throws: StackError.notReady) { try await line.transport.reopen(within: .seconds(1)) }
    line.write("040e0401030c00")
    await settle()
    #expect(line.packets == ["040e0401030c00"])
    line.transport.close()
  }
}
