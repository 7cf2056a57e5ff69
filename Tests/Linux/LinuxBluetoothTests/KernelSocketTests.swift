import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

@Suite struct KernelSocketTests {
  @Test func filtersAreBitMasks() {
    #expect(HCIFilter.rawController.bytes == hex("12000000" + "20c10000" + "00000140" + "00000000"))
    #expect(HCIFilter(types: [.event, .acl]).bytes == hex("14000000" + "ffffffffffffffff" + "00000000"))
  }

  @Test func adaptersAreNamedAsTheKernelNamesThem() {
    #expect(AdapterIndex("hci7") == AdapterIndex(rawValue: 7))
    #expect("\(AdapterIndex(rawValue: 7))" == "hci7")
    for text in ["", "hci", "7", "hci07", "hci+7", "hci-1", "hci65535", "hci65536", "HCI0"] {
      #expect(AdapterIndex(text) == nil, "\(text)")
    }
  }

  /// Some kernels return 0 from the management socket though all was sent.
  @Test func aSendThatReturnsZeroIsASuccess() {
    #expect(PacketSocket.verdict(0, errno: EAGAIN, isInGrace: false) == .sent)
    #expect(PacketSocket.verdict(8, errno: 0, isInGrace: false) == .sent)
  }

  @Test func aSendThatCanWaitWaits() {
    #expect(PacketSocket.verdict(-1, errno: EINTR, isInGrace: false) == .again)
    #expect(PacketSocket.verdict(-1, errno: EAGAIN, isInGrace: false) == .whenWritable)
    #expect(PacketSocket.verdict(-1, errno: ENOBUFS, isInGrace: false) == .soon)
    #expect(PacketSocket.verdict(-1, errno: ENOTCONN, isInGrace: true) == .soon)
    let error = SystemError("send", errno: ENOTCONN)
    #expect(PacketSocket.verdict(-1, errno: ENOTCONN, isInGrace: false) == .failed(error))
  }

  @Test func mapsErrnoToError() {
    let opening: [(Int32, StackError)] = [
      (EAFNOSUPPORT, .noBluetooth), (ENODEV, .noSuchAdapter), (EPIPE, .adapterRemoved),
      (ENETDOWN, .adapterDown(nil)), (ERFKILL, .radioBlocked), (EPERM, .missing(.netRaw)),
    ]
    for (code, reason) in opening {
      #expect(StackError(opening: SystemError("bind", errno: code)) == reason)
    }
    let taking: [(Int32, StackError)] = [
      (EBUSY, .adapterUp), (EUSERS, .adapterTaken), (EPERM, .missing(.netAdmin)), (ENODEV, .noSuchAdapter),
    ]
    for (code, reason) in taking {
      #expect(StackError(takingUserChannel: SystemError("bind", errno: code), nil) == reason)
    }
    #expect(
      "\(StackError("use hci3", .adapterDown(AdapterIndex(rawValue: 3))))"
        == "cannot use hci3: the adapter is down")
  }

  private static let wall: Int64 = 1_700_000_000_000_000_000

  /// When a packet was received that has a stamp of the clock on the wall.
  private func time(at now: Instant, _ stamp: Int64) -> Int64 {
    ReceiveTime.instant(ofWallNanoseconds: stamp, now: now, wallNow: Self.wall).nanoseconds
  }

  @Test func receiveTimesAreOnTheLoopsClock() {
    let now = Instant(nanoseconds: 5_000_000_900)
    #expect(time(at: now, Self.wall - 3_000_000) == 4_997_000_000)
    #expect(time(at: now, Self.wall) == 5_000_000_000)
    // No stamp, one of the future, one too old to be true: the clock on the wall was set.
    #expect(time(at: now, 0) == 5_000_000_000)
    #expect(time(at: now, Self.wall + 1_000_000) == 5_000_000_000)
    #expect(time(at: now, Self.wall - 3_600_000_000_000) == 5_000_000_000)
    #expect(time(at: now, .min) == 5_000_000_000)
  }

  /// Ten seconds are possible, and not a nanosecond more. The result is in whole microseconds.
  @Test func aPacketWaitsForTenSecondsAtMost() {
    let now = Instant(nanoseconds: 60_000_000_999)
    #expect(time(at: now, Self.wall - 10_000_000_000) == 50_000_000_000)
    #expect(time(at: now, Self.wall - 10_000_000_001) == 60_000_000_000)
    #expect(
      time(at: now, Self.wall - 1999) == 59_999_999_000 && time(at: now, Self.wall - 999) == 60_000_000_000)
    #expect(ReceiveTime.instant(ofWallNanoseconds: 1, now: now, wallNow: 2).nanoseconds == 60_000_000_000)
    #expect(
      ReceiveTime.instant(ofWallNanoseconds: 1, now: now, wallNow: 2001).nanoseconds == 59_999_998_000)
  }

  /// The machine slept, or its clock was set, between a packet and its read: the time is never one to come, and at most
  /// as old as a packet can be that waits.
  @Test(arguments: [3600, -3600, 315_576_000, -315_576_000, 9, -9, 11] as [Int64])
  func receiveTimesOutliveSuspendAndClockSteps(_ seconds: Int64) {
    let now = Instant(nanoseconds: 50_000_000_000)
    for waited: Int64 in [0, 1000, 5_000_000] {
      let stamp = Self.wall - waited
      let time = ReceiveTime.instant(
        ofWallNanoseconds: stamp, now: now, wallNow: Self.wall + seconds * 1_000_000_000)
      #expect(time <= now && now - time <= .seconds(10))
      if abs(seconds) > 10 { #expect(time == now) }
    }
  }

  @Test func theNoteOfATakenAdapterNamesBootAndAddress() {
    #expect(
      TakenAdapter.text(boot: "b", address: BluetoothAddress(0x001A_7DDA_7113, .public))
        == "b\n00:1A:7D:DA:71:13\n")
  }
}

/// A pair of sockets that keep packets apart, in place of the kernel's.
@Suite(.onTheLoop) @BluetoothActor struct PacketSocketTests {
  private func pair() throws -> (PacketSocket, Int32) {
    var ends: [Int32] = [-1, -1]
    let type = Int32(SOCK_SEQPACKET.rawValue | SOCK_NONBLOCK.rawValue | SOCK_CLOEXEC.rawValue)
    try #require(socketpair(AF_UNIX, type, 0, &ends) == 0)
    return (PacketSocket(descriptor: ends[0], largestPacket: 64, timers: testTimers), ends[1])
  }

  @Test func preservesPacketBoundariesAndReportsClose() throws {
    let (socket, other) = try pair()
    var packets: [String] = []
    var ends = 0
    socket.onPacket = { packet, _ in packets.append(Hex.string(Array(packet))) }
    socket.onClosed = { error in
      #expect(error == nil)
      ends += 1
    }
    try socket.start()
    for packet in [[1, 2], [3]] as [[UInt8]] { #expect(write(other, packet, packet.count) == packet.count) }
    close(other)
    socket.receivePending()
    #expect(packets == ["0102", "03"])
    #expect(ends == 1)
    #expect(!socket.isOpen)
  }

  @Test func queuesPacketsInOrder() throws {
    let (socket, other) = try pair()
    defer { close(other) }
    try socket.start()
    let count = 600
    for number in 0..<count {
      let packet = [UInt8(number & 0xFF), UInt8(number >> 8)]
      socket.send(packet.span.bytes)
    }
    var numbers: [Int] = []
    var buffer: [UInt8] = [0, 0]
    // The kernel holds some hundreds; the rest follows as there is room.
    while read(other, &buffer, 2) == 2 { numbers.append(Int(buffer[0]) | Int(buffer[1]) << 8) }
    #expect(!numbers.isEmpty && numbers == Array(0..<numbers.count))
    #expect(socket.isOpen)
  }

  @Test func closedSocketInvokesNoHandler() throws {
    let (socket, other) = try pair()
    socket.onPacket = { _, _ in Issue.record("called") }
    socket.onClosed = { _ in Issue.record("called") }
    try socket.start()
    #expect(write(other, [1], 1) == 1)
    socket.close()
    socket.receivePending()
    close(other)
    socket.send([1].span.bytes)
    #expect(!socket.isOpen)
  }

  /// Some kernels don't survive that a socket is kept when its link has ended: it is closed before anything else.
  @Test func aSocketIsClosedBeforeItsLastPacketsAreDelivered() async throws {
    let (socket, other) = try pair()
    var seen: [String] = []
    socket.onPacket = { packet, _ in seen.append("\(Hex.string(Array(packet))) \(socket.isOpen)") }
    socket.onClosed = { error in seen.append("end \(error.map(\.description) ?? "in order") \(socket.isOpen)")
    }
    for packet in [[1], [2]] as [[UInt8]] { #expect(write(other, packet, 1) == 1) }
    close(other)
    try socket.start()
    await testTimers.sleep(for: .milliseconds(1))
    #expect(seen == ["01 false", "02 false", "end in order false"])
  }

  @Test func anEndThatIsKnownFromElsewhereIsTheEnd() throws {
    let (socket, other) = try pair()
    defer { close(other) }
    var seen: [String] = []
    socket.onPacket = { packet, _ in seen.append(Hex.string(Array(packet))) }
    socket.onClosed = { _ in seen.append("end") }
    try socket.start()
    #expect(write(other, [7] as [UInt8], 1) == 1)
    socket.finish()
    socket.finish()
    #expect(seen == ["07", "end"])
    #expect(!socket.isOpen)
  }

  /// Who takes one of the last packets may have enough.
  @Test func closeFromPacketHandlerStopsDelivery() throws {
    let (socket, other) = try pair()
    var count = 0
    socket.onPacket = { _, _ in
      count += 1
      socket.close()
    }
    socket.onClosed = { _ in Issue.record("called") }
    try socket.start()
    for packet in [[1], [2]] as [[UInt8]] { #expect(write(other, packet, 1) == 1) }
    close(other)
    socket.finish()
    #expect(count == 1)
  }
}
