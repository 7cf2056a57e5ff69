import BluetoothCore
import EventLoop
import Glibc
import HCI
import SystemCalls
import TestSupport
import Testing

/// A socket of packets whose system calls fail, over a socket pair: what can be tried again loses nothing, what can't
/// ends the socket once, with the kernel's reason.
@BluetoothActor
@Suite(.onTheLoop) struct PacketSocketFaultTests {
  private final class Pair {
    let ours: Int32
    let theirs: Int32
    let socket: PacketSocket
    var packets: [[UInt8]] = []
    var ends: [SystemError?] = []

    @BluetoothActor init() throws {
      var pair: [Int32] = [-1, -1]
      let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue)
      try #require(socketpair(AF_UNIX, type, 0, &pair) == 0)
      (ours, theirs) = (pair[0], pair[1])
      socket = PacketSocket(descriptor: ours, largestPacket: 64)
      socket.onPacket = { [weak self] packet, _ in self?.packets.append(packet.withUnsafeBytes { Array($0) })
      }
      socket.onClosed = { [weak self] error in self?.ends.append(error) }
      try socket.start()
    }

    deinit {
      close(theirs)
    }

    /// Removes what is left of the faults while the descriptor is still ours: its number is used again.
    @BluetoothActor func finish() {
      FaultPlan.removeAll(on: ours)
      socket.close()
    }

    func write(_ packet: [UInt8]) {
      #expect(Glibc.write(theirs, packet, packet.count) == packet.count)
    }

    func read() -> [UInt8] {
      var buffer = [UInt8](repeating: 0, count: 64)
      let count = Glibc.read(theirs, &buffer, buffer.count)
      return Array(buffer.prefix(max(0, count)))
    }
  }

  private func settle() async {
    for _ in 0..<20 { await EventLoop.shared.sleep(for: .milliseconds(10)) }
  }

  @Test func receivingAgainLosesNothing() async throws {
    let pair = try Pair()
    FaultPlan.add([.error(EINTR), .error(EAGAIN), nil, .error(EINTR)], to: .receive, on: pair.ours)
    pair.write([1, 2, 3])
    pair.write([4])
    await settle()
    #expect(pair.packets == [[1, 2, 3], [4]])
    #expect(pair.ends.isEmpty)
    pair.finish()
  }

  @Test(arguments: [EINTR, EAGAIN, ENOBUFS, ENOMEM])
  func sendingAgainKeepsTheOrder(_ code: Int32) async throws {
    let pair = try Pair()
    FaultPlan.add([.error(code), .error(code)], to: .send, on: pair.ours)
    for packet: [UInt8] in [[1], [2, 2], [3]] { pair.socket.send(packet.span.bytes) }
    await settle()
    #expect([pair.read(), pair.read(), pair.read()] == [[1], [2, 2], [3]])
    #expect(pair.ends.isEmpty)
    pair.finish()
  }

  /// Some kernels return zero though all was sent.
  @Test func aSendThatReturnsZeroIsNotRepeated() async throws {
    let pair = try Pair()
    FaultPlan.add([.result(0)], to: .send, on: pair.ours)
    pair.socket.send([UInt8(1)].span.bytes)
    pair.socket.send([UInt8(2)].span.bytes)
    await settle()
    #expect(pair.read() == [2] && pair.read().isEmpty)
    #expect(pair.ends.isEmpty)
    pair.finish()
  }

  @Test(arguments: [ENODEV, ENETDOWN, ECONNRESET, EIO, EPIPE])
  func aReceiveThatFailsEndsTheSocketOnce(_ code: Int32) async throws {
    let pair = try Pair()
    FaultPlan.add([.error(code)], to: .receive, on: pair.ours)
    pair.write([1])
    await settle()
    #expect(pair.ends == [SystemError("recvmsg", errno: code)])
  }

  @Test(arguments: [ENODEV, ENETDOWN, ECONNRESET, EIO, EPIPE])
  func aSendThatFailsEndsTheSocketOnceAndNotWithinTheCall(_ code: Int32) async throws {
    let pair = try Pair()
    FaultPlan.add([.error(code)], to: .send, on: pair.ours)
    pair.socket.send([UInt8(1)].span.bytes)
    #expect(pair.ends.isEmpty)
    await settle()
    #expect(pair.ends == [SystemError("send", errno: code)])
  }
}
