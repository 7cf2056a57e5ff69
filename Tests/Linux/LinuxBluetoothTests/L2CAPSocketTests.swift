import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// Connecting a socket of the kernel: a socket pair stands for it, whose bind and connect end as the test says.
@BluetoothActor
@Suite(.onTheLoop) struct L2CAPSocketTests {
  private let pair: SocketPair
  private let peer = BluetoothAddress(0xC011_2233_A1B2, .random)

  init() throws { pair = try SocketPair(keepsPackets: true) }

  @BluetoothActor private final class Attempt {
    var sockets: [L2CAPSocket] = []
    var failures: [L2CAPConnectFailure] = []
    var cancel: () -> Void = {}
    var count: Int { sockets.count + failures.count }
  }

  private func connect(
    bind: FaultPlan.Outcome = .result(0), connect: FaultPlan.Outcome = .result(0), isFull: Bool = false
  ) -> Attempt {
    FaultPlan.add([bind], to: .bind, on: pair.ours)
    FaultPlan.add([connect], to: .connect, on: pair.ours)
    // What is full is not writable: the kernel is still connecting.
    let packet = [UInt8](repeating: 0, count: 1024)
    if isFull { while send(pair.ours, packet, packet.count, Int32(MSG_DONTWAIT)) > 0 {} }
    return start(L2CAPSocketPool([pair.ours]))
  }

  private func start(_ stock: L2CAPSocketPool) -> Attempt {
    let attempt = Attempt()
    attempt.cancel = L2CAPSocket.connect(
      to: peer, from: BluetoothAddress(0, .public), deadline: .seconds(5), sockets: stock, timers: testTimers
    ) { [weak attempt] result in
      switch result {
      case .success(let socket): attempt?.sockets.append(socket)
      case .failure(let failure): attempt?.failures.append(failure)
      }
    }
    #expect(attempt.count == 0, "not within the call")
    return attempt
  }

  private func isClosed() async -> Bool {
    while !pair.read().isEmpty {}
    let theirs = pair.theirs
    return await offTheLoop {
      var poll = pollfd(fd: theirs, events: Int16(POLLIN), revents: 0)
      return Glibc.poll(&poll, 1, 30_000) == 1 && poll.revents & Int16(POLLHUP) != 0
    } ?? false
  }

  /// At once, later, or after a signal: it is connected when it is writable.
  @Test(arguments: [FaultPlan.Outcome.result(0), .error(EINPROGRESS), .error(EINTR)])
  func aSocketIsConnected(_ outcome: FaultPlan.Outcome) async throws {
    let attempt = connect(connect: outcome)
    await settle()
    let socket = try #require(attempt.sockets.first)
    var pdus: [String] = []
    socket.packets.onPacket = { pdu, _ in pdus.append(Hex.string(Array(pdu))) }
    pair.write([0x1B, 1, 0, 7])
    await settle()
    #expect(pdus == ["1b010007"] && socket.handle == nil)
    socket.packets.send([UInt8(0x13)].span.bytes)
    #expect(pair.read() == [0x13])
    // It is too late to cancel, and the deadline is none of the link.
    attempt.cancel()
    await testTimers.sleep(for: .seconds(10))
    #expect(attempt.count == 1 && socket.packets.isOpen)
    pair.finish()
    socket.packets.close()
  }

  @Test(arguments: [EADDRINUSE, EACCES, ENODEV])
  func bindFailureEndsAttempt(_ code: Int32) async {
    let attempt = connect(bind: .error(code))
    await settle()
    #expect(attempt.failures == [.system(SystemError("bind", errno: code))] && attempt.count == 1)
    #expect(await isClosed())
    pair.finish()
  }

  @Test(arguments: [EBUSY, EHOSTDOWN, EAGAIN])
  func connectFailureEndsAttempt(_ code: Int32) async {
    let attempt = connect(connect: .error(code))
    await settle()
    #expect(attempt.failures == [.system(SystemError("connect", errno: code))] && attempt.count == 1)
    #expect(await isClosed())
    pair.finish()
  }

  @Test func aPeerThatIsNotFoundEndsAtTheDeadline() async {
    let attempt = connect(connect: .error(EINPROGRESS), isFull: true)
    await testTimers.sleep(for: .milliseconds(4999))
    #expect(attempt.count == 0)
    await testTimers.sleep(for: .milliseconds(2))
    #expect(attempt.failures == [.deadline] && attempt.count == 1)
    #expect(await isClosed())
    pair.finish()
  }

  @Test func anAttemptIsCancelledOnce() async {
    let attempt = connect(connect: .error(EINPROGRESS), isFull: true)
    attempt.cancel()
    attempt.cancel()
    #expect(attempt.failures == [.cancelled])
    #expect(await isClosed())
    await testTimers.sleep(for: .seconds(10))
    #expect(attempt.count == 1)
    pair.finish()
  }

  @Test func socketFailureEndsAttempt() async {
    let script = FaultScript([.socket], fails: EMFILE)
    let attempt = FaultPlan.during(script) { start(L2CAPSocketPool([])) }
    await settle()
    #expect(attempt.failures == [.system(SystemError("socket", errno: EMFILE))])
  }

  /// The sockets that were made before are taken first, and closed if nobody takes them.
  @Test func takesPooledSocketsFirst() throws {
    let other = try SocketPair(keepsPackets: true)
    var stock: L2CAPSocketPool? = L2CAPSocketPool([other.ours, pair.ours])
    #expect(try stock?.take() == pair.ours)
    stock = nil
    var byte: UInt8 = 0
    #expect(recv(other.theirs, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
    #expect(recv(pair.theirs, &byte, 1, Int32(MSG_DONTWAIT)) == -1)
    close(pair.ours)
    let script = FaultScript([.socket], [.error(ENFILE)])
    #expect(throws: SystemError("socket", errno: ENFILE)) {
      try FaultPlan.during(script) { () throws(SystemError) in _ = try L2CAPSocketPool([]).take() }
    }
  }
}
