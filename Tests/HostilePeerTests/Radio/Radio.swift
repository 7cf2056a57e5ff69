import GAP
import HCI
import HaloBluetoothCore
import HaloSystem
import TestLoop
import TestSupport

/// A controller that a test plays, with peers on its air. It behaves well unless the test says otherwise; what it sends
/// is bytes, and the whole stack above it is the real one.
@BluetoothActor
final class Radio: HCITransport {
  let timers = testTimers
  var onPacket: ((RawSpan, Arrival) -> Void)?
  var onClose: ((String) -> Void)?

  /// Gives the packets that answer a command instead of the usual ones; nil for the usual ones.
  var answer: ((HCIOpcode, [UInt8]) -> [[UInt8]]?)?
  var buffers: (length: UInt16, count: UInt8) = (27, 8)
  /// Whether room for data is given back.
  var returnsCredits = true
  /// Whether data from the host arrives at the peers.
  var carriesData = true
  /// How long a packet is under way.
  var delay = Duration.microseconds(100)
  /// What comes of opening the way to the controller again; nil if it can't be opened twice.
  var reopening: (() throws(StackError) -> Void)?
  private(set) var reopenings = 0
  /// The reason with which the transport closes when this many packets have passed, in both directions together.
  var closesAfter: (count: Int, reason: String)?

  private(set) var commands: [HCIOpcode] = []
  /// Packets that have passed, in both directions.
  private(set) var packetCount = 0
  private(set) var isClosed = false
  private(set) var links: [UInt16: Peer] = [:]
  private var peers: [UInt64: Peer] = [:]
  private var nextHandle: UInt16 = 0x40

  init(_ peers: Peer...) {
    for peer in peers { add(peer) }
  }

  func add(_ peer: Peer) {
    peers[peer.address.value] = peer
    peer.radio = self
  }

  // MARK: Transport

  func start() {}

  func close() { isClosed = true }

  var canReopen: Bool { reopening != nil }

  func reopen(within time: Duration) async throws(StackError) {
    guard let reopening else { throw .notReady }
    isClosed = true
    reopenings += 1
    await timers.sleep(for: .milliseconds(100))
    try reopening()
    isClosed = false
    for peer in links.values { peer.handle = nil }
    links = [:]
  }

  /// The way to the controller breaks.
  func fail(_ reason: String) {
    guard !isClosed else { return }
    isClosed = true
    let onClose = self.onClose
    onPacket = nil
    self.onClose = nil
    onClose?(reason)
  }

  /// Hands a packet to the host, H4 type byte first, after those before it.
  func deliver(_ packet: [UInt8], after extra: Duration = .zero) {
    timers.schedule(after: delay + extra) { [weak self] in
      guard let self, !isClosed, count() else { return }
      onPacket?(packet.span.bytes, Arrival(timers.now))
    }
  }

  func deliver(_ event: HCIEvent, after extra: Duration = .zero) {
    deliver(event.packet, after: extra)
  }

  /// - Returns: whether the way still holds
  private func count() -> Bool {
    packetCount += 1
    guard let (limit, reason) = closesAfter, packetCount > limit else { return true }
    fail(reason)
    return false
  }

  func send(_ packet: RawSpan) {
    guard !isClosed else { return }
    let bytes = Array(packet)
    packetCount += 1
    if let (limit, reason) = closesAfter, packetCount > limit {
      // From the loop: the sender is not prepared to lose everything during the call.
      timers.schedule(after: .zero) { [weak self] in self?.fail(reason) }
      return
    }
    switch bytes[0] {
    case 1: command(HCIOpcode(ofCommand: bytes), Array(bytes[4...]))
    case 2: data(UInt16(bytes[2] & 0x0F) << 8 | UInt16(bytes[1]), bytes)
    default: break
    }
  }

  // MARK: Data

  private func data(_ handle: UInt16, _ packet: [UInt8]) {
    if returnsCredits {
      deliver(
        .numberOfCompletedPackets(
          NumberOfCompletedPackets([.init(handle: ConnectionHandle(rawValue: handle), count: 1)])))
    }
    guard carriesData, let peer = links[handle] else { return }
    peer.receive(Array(packet[5...]), isStart: packet[2] >> 4 & 3 != 1)
  }

  /// Sends ACL data to the host.
  func deliverData(_ handle: UInt16, _ data: [UInt8], isStart: Bool = true, after extra: Duration = .zero) {
    var writer = ByteWriter()
    writer.write(UInt8(2))
    ACLHeader(
      handle: ConnectionHandle(rawValue: handle), boundary: isStart ? .firstFlushable : .continuing,
      dataLength: UInt16(data.count)
    ).write(into: &writer)
    writer.write(data)
    deliver(writer.bytes, after: extra)
  }

  // MARK: Links

  func end(_ peer: Peer, _ reason: HCIErrorCode = .remoteUserTerminatedConnection) {
    guard let handle = peer.handle else { return }
    peer.handle = nil
    links[handle] = nil
    deliver(
      .disconnectionComplete(
        DisconnectionComplete(
          status: .success, handle: ConnectionHandle(rawValue: handle), reason: reason)))
  }

  /// The next link gets this handle.
  func reuse(_ handle: UInt16) { nextHandle = handle }

  /// LE Connection Complete, for a link that is wanted or not.
  func complete(_ address: BluetoothAddress, _ status: HCIErrorCode = .success, role: LERole = .central) {
    let handle = nextHandle
    if status == .success {
      nextHandle += 1
      links[handle] = peers[address.value]
      peers[address.value]?.connected(handle)
    }
    deliver(
      .leConnectionComplete(
        LEConnectionComplete {
          $0.status = status
          $0.handle = ConnectionHandle(rawValue: handle)
          $0.role = role
          $0.peerAddress = address
          $0.parameters.interval = ConnectionInterval(.milliseconds(15))
          $0.parameters.supervisionTimeout = SupervisionTimeout(.seconds(4))
        }))
  }

  // MARK: Commands

  private func command(_ opcode: HCIOpcode, _ parameters: [UInt8]) {
    commands.append(opcode)
    if commands.count > 10_000 { commands.removeFirst(5000) }
    if let packets = answer?(opcode, parameters) {
      for packet in packets { deliver(packet) }
      return
    }
    switch opcode {
    case ReadLocalVersionInformation.opcode: deliver(.version)
    case ReadLocalSupportedCommands.opcode:
      respond(
        ReadLocalSupportedCommands.self, SupportedCommands([LESetScanEnable.self, LECreateConnection.self]))
    case ReadLocalSupportedFeatures.opcode:
      respond(ReadLocalSupportedFeatures.self, .init { $0.features = .leSupportedController })
    case LEReadLocalSupportedFeatures.opcode:
      respond(
        LEReadLocalSupportedFeatures.self, .init { $0.features = .connectionParametersRequestProcedure })
    case LEReadBufferSize.opcode:
      respond(
        LEReadBufferSize.self,
        .init {
          $0.aclDataLength = buffers.length
          $0.aclPackets = buffers.count
        })
    case ReadBufferSize.opcode:
      respond(
        ReadBufferSize.self,
        .init())
    case ReadBDADDR.opcode:
      respond(ReadBDADDR.self, .init { $0.address = BluetoothAddress(0x0001_0203_0405, .public) })
    case ReadRSSI.opcode:
      deliver(.complete(opcode, [0, parameters[0], parameters[1], 0xC4]))
    case LECreateConnection.opcode:
      deliver(.status(opcode))
      let address = parameters[6..<12].reversed().reduce(UInt64(0)) { $0 << 8 | UInt64($1) }
      if let peer = peers[address], peer.isThere { complete(peer.address) } else { wanted = address }
    case LECreateConnectionCancel.opcode:
      deliver(.complete(opcode, [0]))
      if let wanted { complete(BluetoothAddress(wanted, .random), .unknownConnectionIdentifier) }
      wanted = nil
    case LEReadRemoteFeatures.opcode:
      deliver(.status(opcode))
      deliver(
        .leReadRemoteFeaturesComplete(
          LEReadRemoteFeaturesComplete {
            $0.status = .success
            $0.handle = ConnectionHandle(rawValue: Self.handle(parameters))
            $0.features = .encryption
          }))
    case Disconnect.opcode:
      deliver(.status(opcode))
      if let peer = links[Self.handle(parameters)] { end(peer, .connectionTerminatedByLocalHost) }
    case LEConnectionUpdate.opcode: deliver(.status(opcode))
    case LERemoteConnectionParameterRequestReply.opcode,
      LERemoteConnectionParameterRequestNegativeReply.opcode:
      deliver(.complete(opcode, [0, parameters[0], parameters[1]]))
    default: deliver(.complete(opcode, [0]))
    }
  }

  /// Whom the host waits for.
  private var wanted: UInt64?

  private static func handle(_ parameters: [UInt8]) -> UInt16 {
    UInt16(parameters[1] & 0x0F) << 8 | UInt16(parameters[0])
  }

  private func respond<Command: HCICompletingCommand>(_ command: Command.Type, _ response: Command.Response) {
    deliver(.complete(command, response))
  }
}
