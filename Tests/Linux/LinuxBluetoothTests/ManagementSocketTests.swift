import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// The kernel's channels on a socket pair: what management tells, and what it is when a channel can't be opened.
@BluetoothActor
@Suite(.onTheLoop) struct ManagementSocketTests {
  private let pair: SocketPair

  init() throws { pair = try SocketPair(keepsPackets: true) }

  private func open() throws -> Management {
    let script = FaultScript([.socket, .bind], [.result(Int(pair.ours)), .result(0)])
    return try FaultPlan.during(script) { () throws(StackError) in try Management() }
  }

  @Test func reportsEventsWithAdapterIndex() async throws {
    let management = try open()
    var events: [String] = []
    management.onEvent = { events.append("\($1) \($0)") }
    let packets = [
      "0400 0200 0000", "0500 0200 0000", "0600 0100 0400 01020000", "2400 0000 0100 05",
      "1300 0000 0200 0600", "1500 0000 0000", "0400",
    ]
    for packet in packets {
      pair.write(hex(packet))
      await settle()
    }
    #expect(
      events == [
        "hci2 indexAdded", "hci2 indexRemoved", "hci1 newSettings(powered, le)", "hci0 advertisingRemoved(5)",
        "hci0 discovering(addresses 0x06, false)", "hci0 unknown(21)",
      ])
    management.close()
    var byte: UInt8 = 0
    #expect(recv(pair.theirs, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
  }

  @Test func aCommandIsAnswered() async throws {
    let management = try open()
    let task = spawn { try await management.send(.readControllerIndexList) }
    await settle()
    #expect(pair.read() == hex("0300 ffff 0000"))
    pair.write(hex("0100 ffff 0700 0300 00 0100 0200"))
    #expect(try await task.value == [AdapterIndex(rawValue: 2)])
    // The kernel ends the channel: what waits for an answer gets none, and neither does what follows.
    let open = spawn { try await management.send(.setPowered(true), to: AdapterIndex(rawValue: 2)) }
    await settle()
    shutdown(pair.theirs, Int32(SHUT_RDWR))
    let ended = StackError("reach the kernel's Bluetooth management", .connectionEnded)
    await #expect(throws: ended) { _ = try await open.value }
    await #expect(throws: ended) { _ = try await management.send(.readControllerIndexList) }
  }

  /// What each channel is for is part of the error.
  @Test(arguments: [
    (ENODEV, StackError.noSuchAdapter), (EPERM, .missing(.netRaw)), (EPIPE, .adapterRemoved),
  ])
  func reportsBindFailureOfEachChannel(_ code: Int32, _ reason: StackError) throws {
    func error(_ work: () throws(StackError) -> Void) throws -> StackError? {
      let pair = try SocketPair(keepsPackets: true)
      let script = FaultScript([.socket, .bind], [.result(Int(pair.ours)), .error(code)])
      do throws(StackError) {
        try FaultPlan.during(script) { () throws(StackError) in try work() }
        return nil
      } catch {
        var byte: UInt8 = 0
        #expect(recv(pair.theirs, &byte, 1, Int32(MSG_DONTWAIT)) == 0, "closed")
        return error
      }
    }
    let hci3 = AdapterIndex(rawValue: 3)
    let management = try error { () throws(StackError) in _ = try Management() }
    #expect(management == StackError("reach the kernel's Bluetooth management", reason))
    let monitor = try error { () throws(StackError) in _ = try HCISocket<MonitorChannel>() }
    #expect(monitor == StackError("watch the adapter's traffic", reason))
    let raw = try error { () throws(StackError) in
      _ = try HCISocket<RawChannel>(hci3, filter: .rawController)
    }
    #expect(raw == StackError("open hci3", reason))
  }

  /// The adapter of a raw channel is named; 65,552 bytes are the longest packet.
  @Test func aRawChannelKnowsItsAdapter() async throws {
    let hci3 = AdapterIndex(rawValue: 3)
    let down = FaultScript([.socket, .bind], [.result(Int(dup(pair.ours))), .error(ENETDOWN)])
    #expect(throws: StackError("open hci3", .adapterDown(hci3))) {
      _ = try FaultPlan.during(down) { () throws(StackError) in
        try HCISocket<RawChannel>(hci3, filter: .rawController)
      }
    }
    let script = FaultScript([.socket, .bind, .control], [.result(Int(pair.ours)), .result(0), .result(0)])
    let socket = try FaultPlan.during(script) { () throws(StackError) in
      try HCISocket<RawChannel>(hci3, filter: .rawController)
    }
    var counts: [Int] = []
    socket.packets.onPacket = { packet, _ in counts.append(packet.byteCount) }
    try socket.packets.start()
    pair.write([UInt8](repeating: 1, count: 65_552))
    await settle()
    #expect(counts == [65_552])
    socket.packets.close()
  }

  // MARK: A virtual adapter

  /// Longer packets than the kernel's are taken whole; a transport that is closed does nothing more.
  @Test func aVirtualAdapterIsStartedOnce() async throws {
    let transport = VHCITransport(descriptor: pair.ours, timers: testTimers)
    var counts: [Int] = []
    transport.onPacket = { packet, _ in counts.append(packet.byteCount) }
    transport.send(hex("040e0401030c00").span.bytes)
    transport.start()
    transport.start()
    #expect(pair.read() == hex("ff00") && pair.read().isEmpty)
    pair.write([2] + [UInt8](repeating: 0, count: 4095))
    await settle()
    #expect(counts == [4096] && transport.refusedPackets == 0)
    transport.close()
    transport.close()
    transport.start()
    transport.send(hex("040e0401030c00").span.bytes)
    await settle()
    #expect(counts == [4096] && VHCITransport.devicePath == "/dev/vhci")
    #expect(throws: SystemError("open /dev/vhci", errno: EACCES)) {
      let script = FaultScript([.open], fails: EACCES)
      _ = try FaultPlan.during(script) { () throws(SystemError) in try VHCITransport() }
    }
  }
}
