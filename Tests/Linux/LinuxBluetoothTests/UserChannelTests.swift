import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// An adapter that is taken from the kernel, and given back: the test plays the controller and the helper.
@BluetoothActor
@Suite(.onTheLoop) struct UserChannelTests {
  private let folder: Folder
  private let channel: SocketPair
  private let helper: SocketPair
  private let hci3 = AdapterIndex(rawValue: 3)
  private let address = BluetoothAddress(0x001A_7DDA_7113, .public)

  init() throws {
    folder = try Folder()
    channel = try SocketPair(keepsPackets: true)
    helper = try SocketPair(keepsPackets: true)
  }

  private var record: String? { folder.text(of: "taken-hci3") }

  private func transport(wasUp: Bool) throws -> UserChannelTransport {
    UserChannelTransport(
      hci3, address: address, force: true, descriptor: channel.ours,
      taken: wasUp ? try TakenAdapter(hci3, address: address, in: [folder.path]) : nil,
      helper: try AdapterHelper(channel: helper.ours, timers: testTimers))
  }

  /// The kernel's list has hci0, without an address, sixteen times: what it is asked comes back as it was.
  private var listing: FaultScript {
    var outcomes: [FaultPlan.Outcome] = []
    for _ in 0..<17 { outcomes += [.result(Int(dup(channel.theirs))), .result(0)] }
    return FaultScript([.socket, .control], outcomes.map { $0 })
  }

  /// Waits until the helper is asked for something, or has ended: the channel is closed by a thread.
  private func waitForHelper() async {
    let theirs = helper.theirs
    for _ in 0..<3 { await settle() }
    await offTheLoop {
      var poll = pollfd(fd: theirs, events: Int16(POLLIN), revents: 0)
      _ = Glibc.poll(&poll, 1, 30_000)
    }
  }

  @Test func packetsGoBothWays() async throws {
    let transport = try transport(wasUp: false)
    var packets: [String] = []
    transport.onPacket = { packet, _ in packets.append(Hex.string(Array(packet))) }
    transport.start()
    channel.write(hex("040e0401030c00"))
    await settle()
    transport.send(hex("01030c00").span.bytes)
    #expect(packets == ["040e0401030c00"] && channel.read() == hex("01030c00"))
    #expect(transport.name == "hci3" && transport.droppedPackets == 0)
    // Another receiver may take over.
    transport.onPacket = { packet, _ in packets.append("other \(packet.byteCount)") }
    channel.write(hex("040e0401030c00"))
    await settle()
    #expect(packets.last == "other 7")
    transport.close()
    await transport.finishClosing()
    folder.remove()
  }

  /// The kernel ends the channel, in order or with an error, which is reported once.
  @Test(
    arguments: [(0, "the kernel has closed hci3"), (ENODEV, "hci3: there is no such adapter"), (EPIPE, nil)]
      as [(Int32, String?)])
  func reportsChannelCloseOnce(_ code: Int32, _ text: String?) async throws {
    let transport = try transport(wasUp: false)
    var reasons: [String] = []
    transport.onClose = { reasons.append($0) }
    transport.start()
    if code == 0 {
      shutdown(channel.theirs, Int32(SHUT_RDWR))
    } else {
      FaultPlan.add([.error(code)], to: .receive, on: channel.ours)
      channel.write([1])
    }
    for _ in 0..<5 { await settle() }
    #expect(reasons == [text ?? "hci3: \(StackError.adapterRemoved)"])
    transport.close()
    await transport.finishClosing()
    folder.remove()
  }

  /// Closed, then brought up, and only then the record is deleted.
  @Test func anAdapterThatWasUpIsBroughtUp() async throws {
    let transport = try transport(wasUp: true)
    transport.start()
    #expect(record != nil)
    transport.close()
    transport.close()
    await waitForHelper()
    #expect(helper.read() == hex("01000000 0300 0200") && record != nil)
    var byte: UInt8 = 0
    #expect(recv(channel.theirs, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
    helper.write(hex("01000000 00000000"))
    await transport.finishClosing()
    #expect(record == nil && recv(helper.theirs, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
    folder.remove()
  }

  /// One that was down stays down.
  @Test func anAdapterThatWasDownStaysDown() async throws {
    let transport = try transport(wasUp: false)
    transport.start()
    transport.close()
    await waitForHelper()
    await transport.finishClosing()
    #expect(helper.read().isEmpty)
    await #expect(throws: StackError.cancelled) { try await transport.reopen(within: .seconds(1)) }
    folder.remove()
  }

  /// The driver switches the controller off and on: the channel is closed, and opened again by the helper.
  @Test(arguments: [true, false]) func aChannelIsOpenedAgain(_ isUp: Bool) async throws {
    let transport = UserChannelTransport(
      AdapterIndex(rawValue: 0), address: BluetoothAddress(0, .public), force: isUp, descriptor: channel.ours,
      taken: nil,
      helper: try AdapterHelper(channel: helper.ours, timers: testTimers))
    let script = listing
    let reopened = spawn {
      try await FaultPlan.during(script) { try await transport.reopen(within: .seconds(1)) }
    }
    await waitForHelper()
    #expect(helper.read() == hex("01000000 0000 0100"))
    let next = try SocketPair(keepsPackets: true)
    if isUp {
      // Somebody has switched it on: it is switched off, as its user allows.
      helper.answer(1, EBUSY)
      await settle()
      #expect(helper.read() == hex("02000000 0000 0300"))
      helper.answer(2, 0)
      await settle()
      #expect(helper.read() == hex("03000000 0000 0100"))
    }
    helper.answer(isUp ? 3 : 1, 0, next.ours)
    close(next.ours)
    try await reopened.value
    transport.start()
    transport.send(hex("01030c00").span.bytes)
    #expect(next.read() == hex("01030c00") && transport.name == "hci0" && transport.droppedPackets == 0)
    transport.close()
    await transport.finishClosing()
    folder.remove()
  }

  /// What was lost before is counted on.
  @Test func lossesAreCountedOverBothChannels() async throws {
    let (ours, theirs) = try lossyPair()
    let transport = UserChannelTransport(
      AdapterIndex(rawValue: 0), address: BluetoothAddress(0, .public), force: false, descriptor: ours,
      taken: nil,
      helper: try AdapterHelper(channel: helper.ours, timers: testTimers))
    for _ in 0..<20_000 { Glibc.send(theirs, [1] as [UInt8], 1, 0) }
    let lost = try #require(transport.droppedPackets)
    let script = listing
    let reopened = spawn {
      try await FaultPlan.during(script) { try await transport.reopen(within: .seconds(1)) }
    }
    await waitForHelper()
    helper.answer(1, 0, channel.ours)
    try await reopened.value
    #expect(lost > 0 && transport.droppedPackets == lost)
    close(theirs)
    close(channel.ours)
    transport.close()
    await transport.finishClosing()
    folder.remove()
  }

  /// Nobody may switch it off then; and one that is not there can't be opened.
  @Test(arguments: [EBUSY, ENODEV]) func reportsReopenFailure(_ code: Int32) async throws {
    let transport = UserChannelTransport(
      AdapterIndex(rawValue: 0), address: BluetoothAddress(0, .public), force: code == ENODEV,
      descriptor: channel.ours,
      taken: nil, helper: try AdapterHelper(channel: helper.ours, timers: testTimers))
    let script = listing
    let reopened = spawn {
      try await FaultPlan.during(script) { try await transport.reopen(within: .seconds(1)) }
    }
    await waitForHelper()
    helper.answer(1, code)
    let reason: StackError = code == EBUSY ? .adapterUp : .noSuchAdapter
    await #expect(throws: StackError("take hci0", reason)) { try await reopened.value }
    transport.close()
    await transport.finishClosing()
    folder.remove()
  }

  /// It is none of those that are there.
  @Test func anAdapterThatHasGoneIsNotOpenedAgain() async throws {
    let transport = try transport(wasUp: false)
    let script = listing
    await #expect(throws: StackError("take hci3", .adapterRemoved)) {
      try await FaultPlan.during(script) { try await transport.reopen(within: .seconds(1)) }
    }
    transport.close()
    await transport.finishClosing()
    folder.remove()
  }

  /// The helper has ended and brings nothing up: the record is for the next run.
  @Test func endedHelperDoesNotBlockClosing() async throws {
    let transport = try transport(wasUp: true)
    shutdown(helper.theirs, Int32(SHUT_RDWR))
    transport.close()
    await transport.finishClosing()
    #expect(record != nil)
    folder.remove()
  }
}
