import Glibc
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// Packets that come fast are read several at a time, over a socket pair.
@BluetoothActor
@Suite(.onTheLoop) struct PacketSocketBatchTests {
  private let pair: SocketPair
  private let socket: PacketSocket

  init() throws {
    pair = try SocketPair(keepsPackets: true)
    socket = PacketSocket(descriptor: pair.ours, largestPacket: 64, timers: testTimers)
  }

  private func settle() async {
    for _ in 0..<5 { await testTimers.sleep(for: .nanoseconds(1)) }
  }

  private func send(_ numbers: Range<UInt8>) {
    for number in numbers { pair.write([number, number]) }
  }

  private func sendNothing() { #expect(Glibc.send(pair.theirs, nil, 0, 0) == 0) }

  /// The first packets of the received ones, which are all of two bytes.
  private func numbers(_ packets: [[UInt8]]) -> [UInt8] {
    #expect(packets.allSatisfy { $0.count == 2 && $0[0] == $0[1] })
    return packets.map { $0[0] }
  }

  @Test func fortyPacketsNeedFewCalls() async throws {
    var packets: [[UInt8]] = []
    var reads: [UInt64] = []
    socket.onPacket = { packet, arrival in
      packets.append(Array(packet))
      reads.append(arrival.read)
    }
    FaultPlan.add(Array(repeating: nil, count: 100), to: .receive, on: pair.ours)
    send(0..<40)
    try socket.start()
    await settle()
    #expect(numbers(packets) == Array(0..<40))
    // One, as none was read before, then 16, 16 and 7.
    #expect(FaultPlan.removeAll(on: pair.ours) == 96)
    #expect([1, 2, 3, 4].map { number in reads.count { $0 == number } } == [1, 16, 16, 7])
    pair.finish()
    socket.close()
  }

  /// A packet of no bytes reads like the end of the socket, and is not. A peer that sends L2CAP frames of no bytes must not end
  /// the stream of others.
  @Test func packetsOfNoBytesAreNotTheEnd() async throws {
    var packets: [[UInt8]] = []
    var ends = 0
    socket.onPacket = { packet, _ in packets.append(Array(packet)) }
    socket.onClosed = { _ in ends += 1 }
    try socket.start()
    for number in 0..<20 as Range<UInt8> {
      sendNothing()
      send(number..<number + 1)
      if number.isMultiple(of: 4) { await settle() }
      sendNothing()
      sendNothing()
    }
    await settle()
    #expect(numbers(packets) == Array(0..<20) && ends == 0)
    sendNothing()
    send(20..<22)
    shutdown(pair.theirs, Int32(SHUT_WR))
    await settle()
    #expect(numbers(packets) == Array(0..<22) && ends == 1)
    #expect(!socket.isOpen)
    pair.finish()
  }

  @Test func packetsThatCanWaitAreReadOnceAnInterval() async throws {
    var packets: [[UInt8]] = []
    socket.onPacket = { packet, _ in packets.append(Array(packet)) }
    socket.readInterval = .seconds(10)
    try socket.start()
    send(0..<20)
    await settle()
    #expect(numbers(packets) == Array(0..<20))
    FaultPlan.add(Array(repeating: nil, count: 100), to: .receive, on: pair.ours)
    send(20..<50)
    await settle()
    #expect(packets.count == 20)
    await testTimers.sleep(for: .seconds(10))
    await settle()
    #expect(numbers(packets) == Array(0..<50))
    // 16, 14, and one that finds none.
    #expect(FaultPlan.removeAll(on: pair.ours) == 97)
    // After an interval without any, the next one is read at once.
    await testTimers.sleep(for: .seconds(10))
    send(50..<51)
    await settle()
    #expect(packets.count == 51)
    pair.finish()
    socket.close()
  }

  @Test func noPacketFollowsTheClosing() async throws {
    var packets: [[UInt8]] = []
    socket.onPacket = { [socket] packet, _ in
      packets.append(Array(packet))
      if packets.count == 5 { socket.close() }
    }
    send(0..<20)
    try socket.start()
    await settle()
    #expect(numbers(packets) == Array(0..<5))
    pair.finish()
  }

  /// The end delivers what was read with the packet whose handler ends the socket, and what the kernel still holds.
  @Test func theEndDeliversTheRestInOrder() async throws {
    var packets: [[UInt8]] = []
    var ends = 0
    socket.onPacket = { [socket] packet, _ in
      packets.append(Array(packet))
      if packets.count == 5 { socket.finish() }
    }
    socket.onClosed = { error in
      #expect(error == nil && packets.count == 30)
      ends += 1
    }
    send(0..<30)
    try socket.start()
    await settle()
    #expect(numbers(packets) == Array(0..<30) && ends == 1)
    pair.finish()
  }

  @Test func aHandlerMayAskForMore() async throws {
    var packets: [[UInt8]] = []
    socket.onPacket = { [socket] packet, _ in
      packets.append(Array(packet))
      if packets.count == 3 { socket.receivePending() }
    }
    send(0..<40)
    try socket.start()
    await settle()
    #expect(numbers(packets) == Array(0..<40))
    pair.finish()
    socket.close()
  }
}
