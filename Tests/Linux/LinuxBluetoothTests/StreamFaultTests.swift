import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// A byte stream whose system calls fail: what can be tried again loses nothing, what can't ends the transport once,
/// with the reason.
@BluetoothActor
@Suite(.onTheLoop) struct StreamFaultTests {
  private final class Line {
    let pair: SocketPair
    let transport: HCIStreamTransport
    var packets: [String] = []
    var reasons: [String] = []

    @BluetoothActor init() throws {
      pair = try SocketPair()
      transport = HCIStreamTransport(descriptor: pair.ours, timers: testTimers)
      transport.onPacket = { [weak self] packet, _ in self?.packets.append(Hex.string(Array(packet))) }
      transport.onClose = { [weak self] reason in self?.reasons.append(reason) }
      transport.start()
    }

    @BluetoothActor func finish() {
      pair.finish()
      transport.close()
    }
  }

  private func settle() async {
    for _ in 0..<20 { await testTimers.sleep(for: .nanoseconds(1)) }
  }

  private let answer = "040e0401030c00"

  @Test func handlesInterruptedAndShortReads() async throws {
    let line = try Line()
    FaultPlan.add(
      [.error(EINTR), .limit(1), .error(EAGAIN), .limit(2), .limit(3)], to: .read, on: line.pair.ours)
    line.pair.write(hex(answer + answer))
    await settle()
    #expect(line.packets == [answer, answer])
    #expect(line.reasons == [])
    line.finish()
  }

  @Test func handlesInterruptedAndShortSends() async throws {
    let line = try Line()
    FaultPlan.add(
      [.error(EINTR), .limit(1), .error(EAGAIN), .result(0), .limit(2)], to: .send, on: line.pair.ours)
    let reset = hex("01030c00")
    line.transport.send(reset.span.bytes)
    line.transport.send(reset.span.bytes)
    await settle()
    #expect(line.pair.read() == reset + reset)
    #expect(line.reasons == [])
    line.finish()
  }

  @Test(arguments: [ECONNRESET, EIO, ENODEV, ENETDOWN, ENOTCONN])
  func aReadThatFailsEndsTheTransportOnce(_ code: Int32) async throws {
    let line = try Line()
    FaultPlan.add([.error(code)], to: .read, on: line.pair.ours)
    line.pair.write(hex(answer))
    await settle()
    #expect(line.reasons == [SystemError("read", errno: code).description])
    #expect(line.packets == [])
  }

  @Test(arguments: [ECONNRESET, EPIPE, ENOBUFS, EIO, ENODEV])
  func aSendThatFailsEndsTheTransportOnceAndNotWithinTheCall(_ code: Int32) async throws {
    let line = try Line()
    FaultPlan.add([.error(code)], to: .send, on: line.pair.ours)
    line.transport.send(hex("01030c00").span.bytes)
    #expect(line.reasons == [])
    line.transport.send(hex("01030c00").span.bytes)
    await settle()
    #expect(line.reasons == [SystemError("write", errno: code).description])
  }
}
