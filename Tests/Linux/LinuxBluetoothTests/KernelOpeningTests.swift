import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// Opening an adapter of a machine whose kernel leaves what it is asked as it is: sixteen times hci0, without an address,
/// and off.
@BluetoothActor
@Suite(.onTheLoop) struct KernelOpeningTests {
  private let pair: SocketPair

  init() throws { pair = try SocketPair() }

  /// A socket, and an answer to a question.
  private var question: [FaultPlan.Outcome] { [.result(Int(dup(pair.ours))), .result(0)] }

  /// The list, the state of each adapter, the management interface, which is missing, and whether each adapter is taken.
  private func script(isTaken: Bool = false) -> FaultScript {
    var outcomes: [FaultPlan.Outcome] = []
    for _ in 0..<17 { outcomes += question }
    outcomes.append(.error(EIO))
    for _ in 0..<16 {
      outcomes += isTaken ? [.result(Int(dup(pair.ours))), .result(0), .error(EBUSY)] : [.error(EIO)]
    }
    return FaultScript([.socket, .bind, .control], outcomes.map { $0 })
  }

  private func error(_ index: UInt16, isTaken: Bool = false) async -> StackError? {
    let adapter = KernelAdapter(AdapterIndex(rawValue: index), timers: testTimers, release: nil) { [] }
    let script = script(isTaken: isTaken)
    return await FaultPlan.during(script) {
      do throws(StackError) {
        try await adapter.open()
        return nil
      } catch {
        #expect(script.isUsedUp)
        return error
      }
    }
  }

  @Test func theKernelsListIsReadWhole() throws {
    let script = script()
    let devices = try FaultPlan.during(script) { () throws(StackError) in try HCIDevices.list() }
    let hci0 = HCIDevices.Device(
      index: AdapterIndex(rawValue: 0), address: BluetoothAddress(0, .public), isUp: false,
      isStarting: false)
    #expect(devices == Array(repeating: hci0, count: 16))
  }

  /// Checked before anything is sent to it; the capability is asked for before the state.
  @Test func doesNotOpenUnusableAdapter() async {
    let denied = StackError("use hci0", .missing(.netRaw))
    let isPrivileged = Capability.netRaw.isEffective
    #expect(await error(5) == StackError("use hci5", .noSuchAdapter))
    let down = StackError("use hci0", .adapterDown(AdapterIndex(rawValue: 0)))
    #expect(await error(0) == (isPrivileged ? down : denied))
    let taken = StackError("use hci0", .adapterTaken)
    #expect(await error(0, isTaken: true) == (isPrivileged ? taken : denied))
  }

  /// An adapter that is removed between the list and its turn is skipped.
  @Test func anAdapterThatHasGoneIsSkipped() throws {
    var outcomes: [FaultPlan.Outcome] = question
    for number in 0..<16 {
      outcomes += number < 15 ? [.result(Int(dup(pair.ours))), .error(ENODEV)] : question
    }
    let script = FaultScript([.socket, .control], outcomes.map { $0 })
    let devices = try FaultPlan.during(script) { () throws(StackError) in try HCIDevices.list() }
    #expect(devices.count == 1 && script.isUsedUp)
  }

  /// The features of a controller are read through a raw channel, which is closed again.
  @Test func featuresAreReadFromTheController() async throws {
    let raw = try SocketPair(keepsPackets: true)
    let script = FaultScript([.socket, .bind, .control], [.result(Int(raw.ours)), .result(0), .result(0)])
    let task = spawn {
      try await FaultPlan.during(script) { try await Controllers.features(of: AdapterIndex(rawValue: 0)) }
    }
    await settle()
    #expect(raw.read() == hex("01032000"))
    raw.write(hex("040e0c01 0320 00 2001000000000000"))
    #expect(try await task.value.rawValue == 0x0120)
    var byte: UInt8 = 0
    #expect(recv(raw.theirs, &byte, 1, Int32(MSG_DONTWAIT)) == 0)
  }

  /// It is gone in the meantime, or the filter is refused.
  @Test func reportsWhyFeaturesCannotBeRead() async throws {
    let raw = try SocketPair(keepsPackets: true)
    let script = FaultScript([.socket, .bind, .control], [.result(Int(raw.ours)), .result(0), .result(0)])
    let task = spawn {
      try await FaultPlan.during(script) { try await Controllers.features(of: AdapterIndex(rawValue: 3)) }
    }
    await settle()
    shutdown(raw.theirs, Int32(SHUT_RDWR))
    await #expect(throws: StackError("ask what hci3 can do", .adapterRemoved)) {
      _ = try await task.value
    }
    let other = try SocketPair(keepsPackets: true)
    let refusal = FaultScript(
      [.socket, .bind, .control], [.result(Int(other.ours)), .result(0), .error(EPERM)])
    await #expect(throws: StackError("open hci3", .missing(.netRaw))) {
      _ = try await FaultPlan.during(refusal) {
        try await Controllers.features(of: AdapterIndex(rawValue: 3))
      }
    }
  }

  // MARK: Streams

  /// Neither what was not sent yet nor half a packet is of use to the next stream; what was skipped is counted on.
  @Test func reopenedStreamDiscardsPartialPackets() async throws {
    let pairs = try (0..<2).map { _ in try SocketPair() }
    let next = pairs[1].ours
    let transport = HCIStreamTransport("x", pairs[0].ours, timers: testTimers) { _ throws(StackError) in
      next
    }
    var packets: [String] = []
    transport.onPacket = { packet, _ in packets.append(Hex.string(Array(packet))) }
    transport.start()
    pairs[0].write(hex("ffff 040e04"))
    await settle()
    FaultPlan.add([.error(EAGAIN)], to: .send, on: pairs[0].ours)
    transport.send(hex("01030c00").span.bytes)
    try await transport.reopen(within: .seconds(1))
    transport.start()
    pairs[1].write(hex("ff 040e0401030c00"))
    await settle()
    #expect(packets == ["040e0401030c00"] && transport.skippedBytes == 3)
    transport.send(hex("01011000").span.bytes)
    #expect(pairs[1].read() == hex("01011000"))
    transport.close()
  }
}
