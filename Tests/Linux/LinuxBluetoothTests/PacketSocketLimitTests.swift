import Glibc
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// A socket of packets at its limits: how many packets wait, for how long, how large its buffer is, and how it ends.
@BluetoothActor
@Suite(.onTheLoop) struct PacketSocketLimitTests {
  private let pair: SocketPair
  private let socket: PacketSocket

  init() throws {
    pair = try SocketPair(keepsPackets: true)
    socket = PacketSocket(descriptor: pair.ours, largestPacket: 64, timers: testTimers)
  }

  private func send(_ count: Int) {
    for number in 0..<count { socket.send([UInt8(number & 0xFF)].span.bytes) }
  }

  private func plan(_ outcomes: [FaultPlan.Outcome?], to call: SystemCall = .send) {
    FaultPlan.add(outcomes, to: call, on: pair.ours)
  }

  private func finish() {
    pair.finish()
    socket.close()
  }

  private func option(_ descriptor: Int32, _ name: Int32) -> Int32 {
    var value: Int32 = -1
    var length = socklen_t(MemoryLayout<Int32>.size)
    getsockopt(descriptor, SOL_SOCKET, name, &value, &length)
    return value
  }

  // MARK: Room

  /// From 64 waiting packets on there is none; with 16 there is some again.
  @Test func roomEndsAt64AndReturnsAt16() async throws {
    var rooms: [Int] = []
    var received = 0
    socket.onRoom = {
      while !pair.read().isEmpty { received += 1 }; rooms.append(received)
    }
    try socket.start()
    plan([.error(EAGAIN)] + Array(repeating: nil, count: 47) + [.error(EAGAIN), nil, .error(EAGAIN)])
    send(63)
    #expect(socket.hasRoom)
    send(1)
    #expect(!socket.hasRoom)
    for _ in 0..<10 { await settle() }
    // With 17 left there was none yet.
    #expect(rooms == [48] && socket.hasRoom)
    while !pair.read().isEmpty { received += 1 }
    #expect(received == 64)
    finish()
  }

  /// Who never asks for room is not told of it.
  @Test func doesNotReportRoomUnlessAsked() async throws {
    socket.onRoom = { Issue.record("called") }
    try socket.start()
    plan([.error(EAGAIN)])
    send(100)
    for _ in 0..<10 { await settle() }
    #expect(socket.hasRoom)
    finish()
  }

  /// 512 packets wait at most. One more ends the socket, later.
  @Test(arguments: [512, 513]) func moreThan512DoNotWait(_ count: Int) async throws {
    var ends: [SystemError?] = []
    socket.onClosed = { ends.append($0) }
    try socket.start()
    plan([.error(EAGAIN)])
    send(count)
    #expect(ends == [] && socket.isOpen)
    var received: [UInt8] = []
    for _ in 0..<600 {
      await settle()
      while let byte = pair.read().first { received.append(byte) }
    }
    #expect(ends == (count == 512 ? [] : [SystemError("send", errno: ENOBUFS)]))
    if count == 512 { #expect(received == (0..<512).map(UInt8.init(truncatingIfNeeded:))) }
    finish()
  }

  // MARK: Time

  /// A kernel without memory is asked again 50 ms later.
  @Test func aSendIsRepeatedAfter50Milliseconds() async throws {
    try socket.start()
    plan([.error(ENOBUFS)])
    send(2)
    await testTimers.sleep(for: .milliseconds(49))
    #expect(pair.read().isEmpty)
    await testTimers.sleep(for: .milliseconds(2))
    #expect(pair.read() == [0] && pair.read() == [1])
    finish()
  }

  /// A new socket may not be connected yet for as long as was said, and not at all if nothing was.
  @Test(arguments: [(0, 1), (1000, 21), (90, 3)])
  func aSocketThatIsNotConnectedHasItsGrace(_ milliseconds: Int, _ sends: Int) async throws {
    let timers = testTimers
    let start = timers.now
    var ends: [SystemError?] = []
    var times: [Duration] = []
    socket.onClosed = { error in
      ends.append(error)
      times.append(timers.now - start)
    }
    try socket.start(grace: .milliseconds(milliseconds))
    plan(Array(repeating: .error(ENOTCONN), count: 100))
    send(1)
    await testTimers.sleep(for: .seconds(2))
    #expect(ends == [SystemError("send", errno: ENOTCONN)])
    #expect(times == [.milliseconds(50 * (sends - 1))])
    #expect(FaultPlan.removeAll(on: pair.ours) == 100 - sends)
    finish()
  }

  // MARK: The end

  /// The kernel tells the error before the packets that came before it.
  @Test func packetsBeforeAnErrorAreDelivered() async throws {
    var seen: [String] = []
    socket.onPacket = { packet, _ in seen.append(Hex.string(Array(packet))) }
    socket.onClosed = { seen.append($0?.description ?? "in order") }
    plan([.error(ECONNRESET), nil, .error(EIO)], to: .receive)
    for byte: UInt8 in 1...3 { pair.write([byte]) }
    try socket.start()
    for _ in 0..<5 { await settle() }
    // The first reason counts.
    #expect(seen == ["01", "02", "03", SystemError("recvmsg", errno: ECONNRESET).description])
    finish()
  }

  @Test func anErrorThatIsFoundAtTheEndIsTheReason() throws {
    var seen: [String] = []
    socket.onPacket = { packet, _ in seen.append(Hex.string(Array(packet))) }
    socket.onClosed = { seen.append($0?.description ?? "in order") }
    try socket.start()
    for byte: UInt8 in 1...20 { pair.write([byte]) }
    plan([nil, .error(EIO), nil, .error(ENODEV)], to: .receive)
    socket.finish()
    #expect(seen.count == 21 && seen.first == "01" && seen[19] == "14")
    #expect(seen.last == SystemError("recvmsg", errno: EIO).description)
    finish()
  }

  /// Each completion is called, from the loop, whether there was something to close or not; also by a thread.
  @Test(arguments: [false, true]) func callsCloseCompletionAsynchronously(_ isOnThread: Bool) async throws {
    let pair = try SocketPair(keepsPackets: true)
    let socket = PacketSocket(
      descriptor: pair.ours, largestPacket: 64, closesOnThread: isOnThread, timers: testTimers)
    var ends: [Int] = []
    socket.close { ends.append(1) }
    #expect(ends == [] && !socket.isOpen)
    if isOnThread {
      let theirs = pair.theirs
      await offTheLoop {
        var poll = pollfd(fd: theirs, events: Int16(POLLIN), revents: 0)
        _ = Glibc.poll(&poll, 1, 30_000)
      }
      await testTimers.sleep(for: .seconds(3))
    }
    await settle()
    socket.close { ends.append(2) }
    #expect(ends == [1])
    await settle()
    #expect(ends == [1, 2])
    var byte: UInt8 = 0
    #expect(recv(pair.theirs, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
    finish()
  }

  @Test func startingTwiceIsOneStart() async throws {
    var count = 0
    socket.onPacket = { _, _ in count += 1 }
    try socket.start()
    try socket.start()
    pair.write([1])
    await settle()
    await settle()
    #expect(count == 1)
    finish()
    try socket.start()
  }

  // MARK: The kernel's side

  /// Times and losses are asked for; the kernel doubles the size of a buffer for its own use, socket(7).
  @Test func optionsAreSet() throws {
    #expect(option(pair.ours, SO_TIMESTAMPNS) == 1 && option(pair.ours, SO_RXQ_OVFL) == 1)
    #expect(PacketSocket.receiveBuffer == 2 * 1024 * 1024)
    let fresh = try SocketPair(keepsPackets: true)
    let before = option(fresh.ours, SO_RCVBUF)
    if Capability.netAdmin.isEffective {
      #expect(option(pair.ours, SO_RCVBUF) == 2 * PacketSocket.receiveBuffer)
      // A larger one stays.
      var size: Int32 = 3 << 20
      setsockopt(fresh.ours, SOL_SOCKET, SO_RCVBUFFORCE, &size, socklen_t(MemoryLayout<Int32>.size))
      PacketSocket.raiseReceiveBuffer(of: fresh.ours)
      #expect(option(fresh.ours, SO_RCVBUF) == 6 << 20)
    } else {
      #expect(option(pair.ours, SO_RCVBUF) >= before)
    }
    close(fresh.ours)
    finish()
  }

  /// Two sockets of UDP, which lose what does not fit: the kernel counts it, and the count stays after the end.
  @Test func countsPacketsDroppedByKernel() async throws {
    let (ours, sender) = try lossyPair()
    let socket = PacketSocket(descriptor: ours, largestPacket: 64, timers: testTimers)
    for _ in 0..<20_000 { Glibc.send(sender, [1] as [UInt8], 1, 0) }
    var received = 0
    var reports: [UInt32] = []
    socket.onPacket = { _, _ in received += 1 }
    socket.onDrops = { reports.append($0) }
    let lost = socket.droppedPackets
    #expect(lost > 0 && lost < 20_000)
    try socket.start()
    socket.receivePending()
    // The next packet tells it.
    Glibc.send(sender, [1] as [UInt8], 1, 0)
    socket.receivePending()
    #expect(received > 0 && received + lost <= 20_001)
    #expect(reports.last == UInt32(lost) && reports == Array(Set(reports)).sorted())
    socket.close()
    #expect(socket.droppedPackets == lost)
    close(sender)
    finish()
  }
}

/// Two sockets of UDP: the first one loses what does not fit.
func lossyPair() throws -> (ours: Int32, theirs: Int32) {
  let ours = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
  let theirs = Glibc.socket(AF_INET, Int32(SOCK_DGRAM.rawValue | SOCK_NONBLOCK.rawValue), 0)
  var address = sockaddr_in()
  address.sin_family = sa_family_t(AF_INET)
  address.sin_addr.s_addr = UInt32(INADDR_LOOPBACK).bigEndian
  var length = socklen_t(MemoryLayout<sockaddr_in>.size)
  let isConnected = withUnsafeMutablePointer(to: &address) { pointer in
    pointer.withMemoryRebound(to: sockaddr.self, capacity: 1) {
      bind(ours, $0, length) == 0 && getsockname(ours, $0, &length) == 0 && connect(theirs, $0, length) == 0
    }
  }
  try #require(isConnected)
  return (ours, theirs)
}
