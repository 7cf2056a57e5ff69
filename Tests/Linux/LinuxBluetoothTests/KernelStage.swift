import GAP
import HaloGATT
import Glibc
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport
import Testing

@testable import HaloLinuxBluetooth

/// A kernel adapter, hci0, without a kernel: the test plays the controller behind the raw channel, and socket pairs stand
/// for the kernel's sockets.
@BluetoothActor
final class KernelStage {
  let adapter: KernelAdapter
  let machine = Machine()
  let timers = testTimers
  static let peer = BluetoothAddress(0xC011_2233_A1B2, .random)
  static let handle = ConnectionHandle(rawValue: 0x40)

  /// What the adapter sees, and what it says.
  @BluetoothActor final class Machine {
    var devices = [Machine.hci0()]
    var notes: [String] = []
    var failures: [StackError] = []
    /// The commands that were sent.
    var sent: [[UInt8]] = []
    /// The status of the next answers to a command; success if there is none.
    var statuses: [HCIOpcode: [HCIErrorCode]] = [:]
    /// Commands that get no answer.
    var silent: Set<HCIOpcode> = []
    /// Called for each command.
    var onCommand: ((HCIOpcode) -> Void)?

    static func hci0(isUp: Bool = true) -> KernelAdapterWatch.Device {
      KernelAdapterWatch.Device(
        index: AdapterIndex(rawValue: 0), address: BluetoothAddress(0x001A_7DDA_7113, .public), isUp: isUp,
        isTaken: false)
    }
  }

  /// - Parameter release: of the kernel
  init(_ release: KernelRelease? = nil) {
    let machine = self.machine
    adapter = KernelAdapter(AdapterIndex(rawValue: 0), timers: testTimers, release: release) {
      machine.devices
    }
    adapter.onNote = { machine.notes.append($0) }
    adapter.onFailure = { machine.failures.append($0) }
    adapter.controller = adapter.makeController { [weak self] packet in self?.take(Array(packet)) }
  }

  /// Answers a command, from the loop.
  private func take(_ packet: [UInt8]) {
    machine.sent.append(packet)
    let opcode = HCIOpcode(ofCommand: packet)
    machine.onCommand?(opcode)
    guard !machine.silent.contains(opcode) else { return }
    var status = HCIErrorCode.success
    if var waiting = machine.statuses[opcode], !waiting.isEmpty {
      status = waiting.removeFirst()
      machine.statuses[opcode] = waiting
    }
    let answer: HCIEvent =
      switch opcode {
      case ReadLocalVersionInformation.opcode: .version
      case ReadLocalSupportedCommands.opcode:
        .complete(opcode, [0] + SupportedCommands([LESetScanEnable.self]).bytes)
      case LEConnectionUpdate.opcode, Disconnect.opcode: .status(opcode, status)
      default: .complete(opcode, [status.rawValue])
      }
    timers.schedule(after: .zero) { [weak self] in self?.receive(answer.packet) }
  }

  /// Hands in a packet of the raw channel.
  func receive(_ packet: [UInt8]) {
    adapter.controller?.receive(packet.span.bytes, at: timers.now)
  }

  func receive(_ packet: String) { receive(hex(packet)) }

  /// The commands of some kinds that were sent since the last call.
  func takeSent(_ opcodes: HCIOpcode...) -> [String] {
    defer { machine.sent = [] }
    return machine.sent.filter { opcodes.contains(HCIOpcode(ofCommand: $0)) }.map { Hex.string($0) }
  }

  // MARK: Events

  /// LE Connection Complete: an interval in steps of 1.25 ms, latency 2, 3 s.
  func connected(_ handle: String = "4000", interval: String = "0a00") {
    receive("043e1301" + "00" + handle + "00" + "01" + "b2a1332211c0" + interval + "0200" + "2c01" + "00")
  }

  /// LE Connection Update Complete.
  func updated(_ handle: String = "4000", interval: String, status: String = "00") {
    receive("043e0a03" + status + handle + interval + "0200" + "2c01")
  }

  func disconnected(_ handle: String = "4000", reason: String) { receive("040504" + "00" + handle + reason) }

  /// The peer advertises, or another device with the last byte of its address.
  func advertise(_ lastByte: String = "b2", type: String = "00") {
    receive("043e0c02" + "01" + type + "01" + lastByte + "a1332211c0" + "00" + "c4")
  }
}

/// A link whose socket is one of a pair.
@BluetoothActor
final class StagedLink {
  let link: KernelLink
  let socket: L2CAPSocket
  let pair: SocketPair
  private(set) var losses: [LinkLoss] = []
  private(set) var pdus: [String] = []

  /// 12.5 to 20 ms, latency 2, 3 s.
  static let wanted = ConnectionParameters(
    intervalMin: ConnectionInterval(rawValue: 10), intervalMax: ConnectionInterval(rawValue: 16), latency: 2,
    supervisionTimeout: SupervisionTimeout(rawValue: 300))

  init(
    _ stage: KernelStage, _ policy: ParameterPolicy = .keep, isOurs: Bool = true,
    handle: ConnectionHandle? = KernelStage.handle
  ) throws {
    pair = try SocketPair(keepsPackets: true)
    socket = try L2CAPSocket(pair.ours, handle: handle, timers: stage.timers)
    let request = ConnectionRequest(
      peer: KernelStage.peer, parameters: Self.wanted, parameterPolicy: policy)
    link = stage.adapter.adopt(socket, for: request, isOurs: isOurs)
    link.onPDU = { [weak self] pdu, _ in self?.pdus.append(Hex.string(Array(pdu))) }
    link.onClosed = { [weak self] in self?.losses.append($0) }
  }

  /// Whether the other end of the socket sees that it is closed.
  var isSocketClosed: Bool {
    var byte: UInt8 = 0
    return recv(pair.theirs, &byte, 1, Int32(MSG_DONTWAIT)) == 0
  }

  /// Waits for the thread that closes sockets.
  func waitUntilClosed() async {
    let descriptor = pair.theirs
    await offTheLoop {
      var poll = pollfd(fd: descriptor, events: Int16(POLLIN), revents: 0)
      _ = Glibc.poll(&poll, 1, 30_000)
    }
  }
}
