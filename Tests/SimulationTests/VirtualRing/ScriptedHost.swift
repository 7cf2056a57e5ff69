import ATT
import HCI
import HaloBluetoothCore
import L2CAP
import RingLink
import HaloSimulation

/// A host without a stack, bytes on purpose: it sends packets that no host of this package sends, and keeps what comes back.
/// Time passes only when it says so.
final class ScriptedHost {
  let timers = Timers()
  private(set) lazy var radio = RingRadio(options: options, timers: timers) { [unowned self] in
    take(Array($0))
  }
  private let options: VirtualRingOptions
  /// Every packet from the controller, with its type byte.
  private(set) var packets: [[UInt8]] = []
  private(set) var events: [HCIEvent] = []
  /// What came on ATT, except the ring's own requests.
  private(set) var pdus: [any ATTPDU] = []
  /// The values notified, each with its handle and the time.
  private(set) var notifications: [(handle: AttributeHandle, value: [UInt8], time: Instant)] = []
  private(set) var peerRequests: [any ATTPDU] = []
  private(set) var signals: [SignalingPacket] = []
  private(set) var largestACL = 0
  /// Whether the ring's requests are answered, as a central without attributes does.
  var answersPeer = true
  var acceptsParameters = true

  private let recombiner = Recombiner()
  var handle: ConnectionHandle?

  init(_ options: VirtualRingOptions = .init()) {
    self.options = options
  }

  // MARK: Sending

  /// Sends a whole packet, type byte first.
  func transmit(_ packet: [UInt8]) { radio.receive(packet.span.bytes) }

  func send(_ command: some HCICommand) {
    var writer = ByteWriter()
    command.packet(into: &writer)
    transmit(writer.bytes)
  }

  /// Sends a command, and gives the return parameters with their status; nil without an answer.
  func complete(_ command: some HCICommand) -> [UInt8]? {
    let seen = events.count
    send(command)
    run(.milliseconds(1))
    for case .commandComplete(let event) in events[seen...] where event.opcode == type(of: command).opcode {
      return event.returnParameters
    }
    return nil
  }

  /// Sends a command, and gives the status with which it was taken up.
  func status(_ command: some HCICommand) -> HCIErrorCode? {
    let seen = events.count
    send(command)
    run(.milliseconds(1))
    for case .commandStatus(let event) in events[seen...] where event.opcode == type(of: command).opcode {
      return event.status
    }
    return nil
  }

  /// Sends a frame, in pieces.
  func send(_ payload: [UInt8], on channel: ChannelID = .attribute, fragment: Int = 27) {
    guard let handle else { return }
    var frame = ByteWriter()
    BasicHeader.writeFrame(payload.span.bytes, on: channel, into: &frame)
    for start in stride(from: 0, to: frame.count, by: fragment) {
      let piece = frame.bytes[start..<min(frame.count, start + fragment)]
      var packet = ByteWriter()
      packet.write(HCIPacketType.acl.rawValue)
      ACLHeader(
        handle: handle, boundary: start == 0 ? .firstNonFlushable : .continuing,
        dataLength: UInt16(piece.count)
      ).write(into: &packet)
      packet.write(piece)
      transmit(packet.bytes)
    }
  }

  // MARK: Waiting

  func run(_ duration: Duration) { timers.advance(by: duration) }

  /// Lets time pass until there is what is asked for, or too much has passed.
  func wait(_ limit: Duration = .seconds(2), _ condition: () -> Bool) -> Bool {
    let deadline = timers.now + limit
    while !condition() {
      guard timers.now < deadline else { return false }
      run(.milliseconds(1))
    }
    return true
  }

  /// Asks the server, and gives what it answers.
  func ask(_ request: any ATTPDU, fragment: Int = 27) -> (any ATTPDU)? {
    let seen = pdus.count
    send(request.bytes, fragment: fragment)
    _ = wait { pdus.count > seen }
    return pdus.count > seen ? pdus[seen] : nil
  }

  // MARK: Recipes

  func prepare(_ leEvents: LEEventMask = [.afterReset, .dataLengthChange, .phyUpdateComplete]) {
    _ = complete(Reset())
    _ = complete(SetEventMask { $0.mask = [.disconnectionComplete, .hardwareError, .leMeta] })
    _ = complete(LESetEventMask { $0.mask = leEvents })
  }

  static let parameters = ConnectionParameters(
    intervalMin: ConnectionInterval(rawValue: 12), intervalMax: ConnectionInterval(rawValue: 12), latency: 0,
    supervisionTimeout: SupervisionTimeout(rawValue: 200))

  static func creation(_ peer: BluetoothAddress) -> LECreateConnection {
    LECreateConnection {
      $0.scan.interval = ScanInterval(rawValue: 96)
      $0.scan.window = ScanInterval(rawValue: 48)
      $0.peerAddress = peer
      $0.parameters = parameters
    }
  }

  /// Prepares the controller and connects to the ring.
  func connect() -> Bool {
    prepare()
    guard status(Self.creation(radio.options.address)) == .success else { return false }
    return wait { handle != nil }
  }

  /// Switches the command characteristic's notifications on.
  func subscribe() -> Bool {
    ask(ATTWriteRequest(0x0013, value: [1, 0])) == ATTWriteResponse()
  }

  func write(_ frame: RingFrame) { send(ATTWriteCommand(0x0010, value: frame.bytes).bytes) }

  var frames: [RingFrame] {
    notifications.compactMap { notification in
      notification.handle == 0x0012 ? try? RingFrame(parsing: notification.value.span.bytes) : nil
    }
  }

  var samples: [RawSample] { frames.compactMap(RawSample.init) }

  var disconnections: [HCIErrorCode] {
    events.compactMap { if case .disconnectionComplete(let event) = $0 { event.reason } else { nil } }
  }

  var reports: [AdvertisingReport] {
    events.flatMap { event -> [AdvertisingReport] in
      if case .leAdvertisingReports(let event) = event { event.reports } else { [] }
    }
  }

  var connections: [LEConnectionComplete] {
    events.compactMap { if case .leConnectionComplete(let event) = $0 { event } else { nil } }
  }

  // MARK: Receiving

  private func take(_ packet: [UInt8]) {
    packets.append(packet)
    if packet.first == HCIPacketType.acl.rawValue {
      takeACL(Array(packet.dropFirst()))
      return
    }
    let event = Array(packet.dropFirst()).withReader { try? HCIEvent(parsing: &$0) }
    guard let event else { return }
    events.append(event)
    switch event {
    case .leConnectionComplete(let complete) where complete.status == .success: handle = complete.handle
    case .disconnectionComplete: handle = nil
    default: break
    }
  }

  private func takeACL(_ bytes: [UInt8]) {
    guard let packet = try? ACLPacket(bytes.span.bytes) else { return }
    largestACL = max(largestACL, packet.data.byteCount)
    recombiner.receive(packet.data, isStart: packet.header.boundary != .continuing) { channel, payload in
      take(Array(payload), on: channel)
    }
  }

  private func take(_ payload: [UInt8], on channel: ChannelID) {
    if channel == .leSignaling {
      let signal = payload.withReader { try? SignalingPacket(parsing: &$0) }
      guard let signal else { return }
      signals.append(signal)
      guard answersPeer, signal.code == .connectionParameterUpdateRequest else { return }
      let answer: [UInt8] = [0x13, signal.identifier, 2, 0, acceptsParameters ? 0 : 1, 0]
      send(answer, on: .leSignaling)
    }
    guard channel == .attribute, let pdu = try? ATTReader.read(payload.span.bytes) else { return }
    switch (pdu, pdu.opcode.kind) {
    case (let pushed as ATTHandleValueNotification, _):
      notifications.append((pushed.handle, pushed.value, timers.now))
    case (is ATTExchangeMTURequest, _):
      peerRequests.append(pdu)
      if answersPeer { send(ATTExchangeMTUResponse(serverMTU: 517).bytes) }
    case (_, .request):
      peerRequests.append(pdu)
      let refusal = ATTErrorResponse(request: pdu.opcode, handle: 1, code: .attributeNotFound)
      if answersPeer { send(refusal.bytes) }
    default: pdus.append(pdu)
    }
  }
}
