import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import Testing

@testable import HaloLinuxBluetooth

/// Packets that can wait, and a kernel that takes its time: a pair of sockets in place of the kernel's.
@Suite(.onTheLoop) @BluetoothActor struct PacketSocketRoomTests {
  private func pair() throws -> (PacketSocket, Int32) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
    return (PacketSocket(descriptor: ends[0], largestPacket: 64, timers: testTimers), ends[1])
  }

  /// All that the other end has, as numbers.
  private func fetch(_ descriptor: Int32, _ numbers: inout [Int]) {
    var buffer: [UInt8] = [0, 0]
    while read(descriptor, &buffer, 2) == 2 { numbers.append(Int(buffer[0]) | Int(buffer[1]) << 8) }
  }

  @Test func senderWaitingForRoomLosesNothing() async throws {
    let (socket, other) = try pair()
    defer { close(other) }
    try socket.start()
    var sent = 0
    var calls = 0
    let send = { [weak socket] in
      while sent < 20_000, let socket, socket.hasRoom {
        let packet = [UInt8(sent & 0xFF), UInt8(sent >> 8)]
        socket.send(packet.span.bytes)
        sent += 1
      }
    }
    socket.onRoom = {
      calls += 1
      send()
    }
    send()
    #expect(!socket.hasRoom)
    var numbers: [Int] = []
    for _ in 0..<10_000 where numbers.count < 20_000 {
      fetch(other, &numbers)
      await testTimers.sleep(for: .milliseconds(1))
    }
    #expect(numbers == Array(0..<20_000))
    #expect(calls > 1 && socket.isOpen && socket.hasRoom)
    socket.close()
    #expect(!socket.hasRoom)
  }

  /// What can't wait is sent though there is no room for what can.
  @Test func answersAreSentWithoutRoom() async throws {
    let (socket, other) = try pair()
    defer { close(other) }
    try socket.start()
    socket.onClosed = { _ in Issue.record("closed") }
    var sent = 0
    while socket.hasRoom {
      let packet = [UInt8(sent & 0xFF), UInt8(sent >> 8)]
      socket.send(packet.span.bytes)
      sent += 1
    }
    for _ in 0..<100 {
      let packet = [UInt8(sent & 0xFF), UInt8(sent >> 8)]
      socket.send(packet.span.bytes)
      sent += 1
    }
    var numbers: [Int] = []
    for _ in 0..<1000 where numbers.count < sent {
      fetch(other, &numbers)
      await testTimers.sleep(for: .milliseconds(1))
    }
    #expect(numbers == Array(0..<sent))
    socket.close()
  }
}
