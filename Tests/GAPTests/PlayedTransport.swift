import HCI
import HaloBluetoothCore
import TestLoop
import TestSupport

/// The way to a controller that a test plays: each command is answered with success.
@BluetoothActor
final class PlayedTransport: HCITransport {
  let timers = testTimers
  let name = "hci7"
  var onPacket: ((RawSpan, Arrival) -> Void)?
  var onClose: ((String) -> Void)?
  var linkPreferences: LinkPreferences?

  /// The commands that were sent.
  private(set) var commands: [[UInt8]] = []
  /// What the controller says that it can.
  var supported: [any HCICommand.Type] = [LESetScanEnable.self, LECreateConnection.self]
  /// What was called.
  private(set) var calls: [String] = []
  /// Commands that get no answer, until it is opened again.
  var silent: Set<HCIOpcode> = []
  /// What opening it again ends with: success if there is nothing left.
  var openings: [StackError?] = []
  private(set) var openingTimes: [Duration] = []
  var publicAddress = BluetoothAddress(0x0001_0203_0405, .public)

  var canReopen = true

  func start() { calls.append("start") }
  func close() { calls.append("close") }
  func finishClosing() async { calls.append("finish") }

  func reopen(within time: Duration) async throws(StackError) {
    calls.append("reopen")
    openingTimes.append(time)
    if !openings.isEmpty, let error = openings.removeFirst() { throw error }
    silent = []
  }

  func takeOpcodes() -> [HCIOpcode] {
    defer { commands = [] }
    return commands.map { HCIOpcode(ofCommand: $0) }
  }

  func takeCalls() -> [String] {
    defer { calls = [] }
    return calls
  }

  /// Called when the answer to a command was delivered.
  var afterAnswer: ((HCIOpcode) -> Void)?

  func receive(_ packet: String) { receive(hex(packet)) }

  private func receive(_ packet: [UInt8]) { onPacket?(packet.span.bytes, Arrival(timers.now)) }

  func send(_ packet: RawSpan) {
    let packet = Array(packet)
    guard packet[0] == HCIPacketType.command.rawValue else { return }
    let opcode = HCIOpcode(ofCommand: packet)
    commands.append(packet)
    guard !silent.contains(opcode) else { return }
    let answer = answer(opcode)
    timers.schedule(after: .milliseconds(1)) { [weak self] in
      self?.receive(answer.packet)
      self?.afterAnswer?(opcode)
    }
  }

  private func answer(_ opcode: HCIOpcode) -> HCIEvent {
    switch opcode {
    case ReadLocalVersionInformation.opcode: .version
    case ReadLocalSupportedCommands.opcode:
      .complete(
        ReadLocalSupportedCommands.self, SupportedCommands(supported))
    case ReadLocalSupportedFeatures.opcode:
      .complete(ReadLocalSupportedFeatures.self, .init { $0.features = .leSupportedController })
    case LEReadLocalSupportedFeatures.opcode:
      .complete(LEReadLocalSupportedFeatures.self, .init { $0.features = [] })
    case LEReadBufferSize.opcode:
      .complete(
        LEReadBufferSize.self,
        .init {
          $0.aclDataLength = 27
          $0.aclPackets = 4
        })
    case ReadBDADDR.opcode:
      .complete(ReadBDADDR.self, .init { [publicAddress] in $0.address = publicAddress })
    case LECreateConnection.opcode, LEReadRemoteFeatures.opcode, Disconnect.opcode: .status(opcode)
    default: .complete(opcode, [0])
    }
  }
}
