import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing
import HaloSimulation

@testable import HaloLinuxBluetooth

@BluetoothActor
@Suite(.onTheLoop) struct VHCITransportTests {
  /// A transport on one end of a pair of packet sockets; the test plays the driver.
  private final class Driver {
    let transport: VHCITransport
    var packets: [[UInt8]] = []
    var indexes: [Int] = []
    var reasons: [String] = []
    private var theirs: Int32

    @BluetoothActor init() {
      var pair: [Int32] = [-1, -1]
      socketpair(AF_UNIX, Int32(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue), 0, &pair)
      theirs = pair[1]
      transport = VHCITransport(descriptor: pair[0], timers: testTimers)
      transport.onPacket = { [weak self] packet, _ in self?.packets.append(Array(packet)) }
      transport.onIndex = { [weak self] in self?.indexes.append($0) }
      transport.onClose = { [weak self] in self?.reasons.append($0) }
    }

    deinit { goAway() }

    func goAway() {
      if theirs >= 0 { close(theirs) }
      theirs = -1
    }

    func write(_ bytes: String) {
      let bytes = hex(bytes)
      #expect(Glibc.write(theirs, bytes, bytes.count) == bytes.count)
    }

    /// The next packet; nil if there is none.
    func read() -> [UInt8]? {
      var buffer = [UInt8](repeating: 0, count: 4096)
      let count = Glibc.read(theirs, &buffer, buffer.count)
      return count < 0 ? nil : Array(buffer[..<count])
    }
  }

  private func settle() async {
    await testTimers.sleep(for: .nanoseconds(1))
  }

  /// The adapter exists as long as its descriptor is open.
  @Test func releaseRemovesVirtualAdapter() throws {
    let pair = try SocketPair(keepsPackets: true)
    var transport: VHCITransport? = VHCITransport(descriptor: pair.ours, timers: testTimers)
    transport?.start()
    #expect(pair.read() == hex("ff 00"))
    transport = nil
    var byte: UInt8 = 0
    #expect(recv(pair.theirs, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
  }

  @Test func createsVirtualAdapterAndReportsItsIndex() async {
    let driver = Driver()
    #expect(driver.read() == nil, "not before it is started")
    driver.transport.start()
    #expect(driver.read() == hex("ff 00"))
    // The kernel is quick: its first command may come before the answer.
    driver.write("01 030c 00")
    await settle()
    driver.write("ff 00 0201")
    await settle()
    #expect(driver.packets == [hex("01030c00")])
    #expect(driver.indexes == [0x0102])
    driver.transport.send(hex("04 0e 04 01 030c 00").span.bytes)
    #expect(driver.read() == hex("04 0e 04 01 030c 00"))
    driver.transport.close()
    #expect(driver.read() == [], "closed")
    #expect(driver.reasons == [])
  }

  @Test func ignoresTruncatedVHCIReplies() async {
    let driver = Driver()
    driver.transport.start()
    for answer in ["ff", "ff00", "ff0000"] {
      driver.write(answer)
      await settle()
    }
    #expect(driver.indexes == [] && driver.packets == [] && driver.reasons == [])
    driver.transport.close()
  }

  @Test func countsRefusedPackets() async {
    let driver = Driver()
    driver.transport.start()
    let packet = [UInt8](repeating: 4, count: 260)
    // Nobody reads: as with an adapter that is down, packets are refused, and that is no failure.
    for _ in 0..<10000 where driver.transport.refusedPackets == 0 { driver.transport.send(packet.span.bytes) }
    #expect(driver.transport.refusedPackets == 1)
    await settle()
    #expect(driver.reasons == [])
    driver.transport.close()
  }

  @Test func reportsDriverRemovalOnce() async {
    let driver = Driver()
    driver.transport.start()
    driver.goAway()
    await settle()
    driver.transport.send(hex("04 0e 04 01 030c 00").span.bytes)
    await settle()
    #expect(driver.reasons.count == 1)
  }
}
