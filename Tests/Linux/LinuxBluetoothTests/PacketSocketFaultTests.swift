import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// A socket of packets whose system calls fail, over a socket pair: what can be tried again loses nothing, what can't
/// ends the socket once, with the kernel's reason.
@BluetoothActor
@Suite(.onTheLoop) struct PacketSocketFaultTests {
  private final class Line {
    let pair: SocketPair
    let socket: PacketSocket
    var packets: [[UInt8]] = []
    var ends: [SystemError?] = []

    @BluetoothActor init() throws {
      pair = try SocketPair(keepsPackets: true)
      socket = PacketSocket(descriptor: pair.ours, largestPacket: 64, timers: testTimers)
      socket.onPacket = { [weak self] packet, _ in self?.packets.append(packet.withUnsafeBytes { Array($0) })
      }
      socket.onClosed = { [weak self] error in self?.ends.append(error) }
      try socket.start()
    }

    @BluetoothActor func finish() {
      pair.finish()
      socket.close()
    }
  }

  private func settle() async {
    for _ in 0..<20 { await testTimers.sleep(for: .milliseconds(10)) }
  }

  @Test func retriesInterruptedReceiveWithoutLoss() async throws {
    let line = try Line()
    FaultPlan.add([.error(EINTR), .error(EAGAIN), nil, .error(EINTR)], to: .receive, on: line.pair.ours)
    line.pair.write([1, 2, 3])
    line.pair.write([4])
    await settle()
    #expect(line.packets == [[1, 2, 3], [4]])
    #expect(line.ends.isEmpty)
    line.finish()
  }

  @Test(arguments: [EINTR, EAGAIN, ENOBUFS, ENOMEM])
  func sendingAgainKeepsTheOrder(_ code: Int32) async throws {
    let line = try Line()
    FaultPlan.add([.error(code), .error(code)], to: .send, on: line.pair.ours)
    for packet: [UInt8] in [[1], [2, 2], [3]] { line.socket.send(packet.span.bytes) }
    await settle()
    #expect([line.pair.read(), line.pair.read(), line.pair.read()] == [[1], [2, 2], [3]])
    #expect(line.ends.isEmpty)
    line.finish()
  }

  /// Some kernels return zero though all was sent.
  @Test func aSendThatReturnsZeroIsNotRepeated() async throws {
    let line = try Line()
    FaultPlan.add([.result(0)], to: .send, on: line.pair.ours)
    line.socket.send([UInt8(1)].span.bytes)
    line.socket.send([UInt8(2)].span.bytes)
    await settle()
    #expect(line.pair.read() == [2] && line.pair.read().isEmpty)
    #expect(line.ends.isEmpty)
    line.finish()
  }

  @Test(arguments: [ENODEV, ENETDOWN, ECONNRESET, EIO, EPIPE])
  func aReceiveThatFailsEndsTheSocketOnce(_ code: Int32) async throws {
    let line = try Line()
    FaultPlan.add([.error(code)], to: .receive, on: line.pair.ours)
    line.pair.write([1])
    await settle()
    #expect(line.ends == [SystemError("recvmsg", errno: code)])
  }

  @Test(arguments: [ENODEV, ENETDOWN, ECONNRESET, EIO, EPIPE])
  func aSendThatFailsEndsTheSocketOnceAndNotWithinTheCall(_ code: Int32) async throws {
    let line = try Line()
    FaultPlan.add([.error(code)], to: .send, on: line.pair.ours)
    line.socket.send([UInt8(1)].span.bytes)
    #expect(line.ends.isEmpty)
    await settle()
    #expect(line.ends == [SystemError("send", errno: code)])
  }
}
