import ATT
import HaloGATT
import HCI
import HaloBluetoothCore
import L2CAP

/// The ring as seen by its central: L2CAP frames in, L2CAP frames out. It serves its attributes, and acts on its own as real
/// rings do after connecting (ring reference, 1.5).
package final class VirtualPeripheral {
  /// The actions of the central, for tests.
  package struct Log: Sendable {
    /// Links that were established.
    package var connections = 0
    /// Links that have ended.
    package var disconnections = 0
    /// Indications that were confirmed.
    package var confirmations = 0
    /// Unexpected responses and confirmations.
    package var strayAnswers = 0
    /// The answers to Connection Parameter Update Requests, three a link: whether they were accepted.
    package var parameterAnswers: [Bool] = []
    /// The connection intervals that took effect: the first 256.
    package var intervals: [ConnectionInterval] = []
    /// Frames on channels that a ring does not have.
    package var unknownChannels = 0
  }

  /// The ring's commands and data.
  package let ring: SimulatedRing
  /// The actions of the central.
  package private(set) var log = Log()
  /// The central's responses to the ring's ATT requests on this link.
  package var attAnswers: [any ATTPDU] { client.answers }
  /// The number of requests that it did not answer for 30 seconds.
  package var unansweredRequests: Int { client.unanswered }
  /// The ATT MTU in force.
  package var mtu: Int { link?.bearer.mtu ?? ATTBearer.defaultMTU }

  /// Receives a frame for the central; the span is valid only during the call.
  var send: (ChannelID, RawSpan) -> Void = { _, _ in }
  /// Whether the link has room for a PDU that is not the answer of a request: call ``roomAvailable()`` when it has again.
  var hasRoom: () -> Bool = { true }
  /// Requests other parameters of the link; nil to do so on the signalling channel.
  var requestParameters: ((ConnectionParameters) -> Void)?

  private let timers: Timers
  private let options: VirtualRingOptions
  private let table: RingAttributes
  private let client: PeripheralClient
  /// The ATT bearer of the link, the last one if it has ended.
  private var link: (bearer: ATTBearer, server: ServerBearer)?
  private var tokens: [Timers.Token] = []
  private var identifier: UInt8 = 0
  private var isConnected = false
  private var behavior = Behavior.usual

  /// The behaviour of the ring on a link.
  private enum Behavior {
    case usual
    /// It is gone at the first request.
    case vanishing
    case silent
  }

  package init(options: VirtualRingOptions, timers: Timers) {
    self.options = options
    self.timers = timers
    table = RingAttributes(options)
    client = PeripheralClient(timers: timers, mtu: options.mtu)
    ring = SimulatedRing(options: options, timers: timers)
    ring.notify = { [weak self] frame in self?.notify(self?.table.commandNotify, frame.bytes) }
    ring.notifyDamaged = { [weak self] bytes in self?.notify(self?.table.commandNotify, bytes) }
    ring.notifyBulk = { [weak self] bytes in self?.notify(self?.table.bulkNotify, bytes) }
    ring.fallSilent = { [weak self] in self?.behavior = .silent }
    ring.payloadLength = { [weak self] in (self?.mtu ?? ATTBearer.defaultMTU) - 3 }
  }

  /// The bearer and its server hold each other until the link ends.
  deinit {
    link?.server.onEvent = nil
    link?.bearer.close("the device is gone")
  }

  // MARK: The link

  /// - Parameters:
  ///   - interval: nil if it is not known
  ///   - trouble: the fault of the ring on the link
  func connected(interval: ConnectionInterval?, _ fault: RadioFaults.LinkFault? = nil) {
    log.connections += 1
    if let interval { updated(interval: interval) }
    isConnected = true
    behavior = behaviorOfNextLink
    if let fault { prepare(fault) }
    client.start(on: openBearer())
    // First the ring requests a short interval, then one that saves power.
    for (delay, least, most) in [(2600, 20, 40), (12600, 80, 100), (41000, 80, 100)]
      as [(Int, UInt16, UInt16)]
    {
      tokens.append(
        timers.schedule(after: .milliseconds(delay)) { [weak self] in
          self?.request(ConnectionInterval(rawValue: least), ConnectionInterval(rawValue: most))
        })
    }
  }

  private func openBearer() -> ATTBearer {
    let bearer = ATTBearer(timers: timers, receiveMTU: Int(options.mtu)) { [weak self] pdu in
      self?.send(.attribute, pdu)
    }
    bearer.onTimeout = { [weak self] _ in self?.ring.leave() }
    let server = ServerBearer(table.database, on: bearer, timers: timers) { [weak self] in
      self?.hasRoom() ?? false
    }
    server.onEvent = { [weak self] event in self?.handle(event) }
    link = (bearer, server)
    return bearer
  }

  private var behaviorOfNextLink: Behavior {
    let faults = options.faults
    if log.connections <= faults.earlyLosses { return .vanishing }
    if faults.losesTwice, log.connections.isMultiple(of: 2) { return .vanishing }
    return faults.isDeafOnSecondLink && log.connections == 2 ? .silent : .usual
  }

  private func prepare(_ fault: RadioFaults.LinkFault) {
    ring.endOfStream = nil
    switch fault {
    case .vanishing: behavior = .vanishing
    case .silent: behavior = .silent
    case .gone(let count): ring.endOfStream = (count, .gone)
    case .mute(let count): ring.endOfStream = (count, .mute)
    case .stopped(let count): ring.endOfStream = (count, .stopped)
    }
  }

  func disconnected() {
    guard isConnected else { return }
    log.disconnections += 1
    isConnected = false
    for token in tokens { timers.cancel(token) }
    tokens = []
    client.stop()
    link?.bearer.close("the link has ended")
    ring.disconnected()
  }

  /// A new interval is in force.
  func updated(interval: ConnectionInterval) {
    if log.intervals.count < 256 { log.intervals.append(interval) }
  }

  /// Handles a frame from the central.
  func receive(_ channel: ChannelID, _ payload: RawSpan) {
    switch channel {
    case .attribute: receiveATT(payload)
    case .leSignaling: receiveSignaling(payload)
    case .securityManager:
      // A ring that does not bond refuses to pair: Pairing Failed, not supported.
      guard payload.byte(at: 0) == 0x01 else { return }
      let refusal: [UInt8] = [0x05, 0x05]
      send(.securityManager, refusal.span.bytes)
    default: log.unknownChannels += 1
    }
  }

  // MARK: ATT

  /// Indicates to a subscribed client that the whole table may have changed (Vol 3, Part G, 7.1).
  package func indicateServiceChanged() {
    guard isConnected else { return }
    link?.server.indicateServiceChanged(.all)
  }

  private func receiveATT(_ bytes: RawSpan) {
    switch behavior {
    case .usual: break
    case .vanishing: return ring.vanish()
    case .silent: return
    }
    guard let first = bytes.byte(at: 0) else { return }
    if options.faults.leavesAtMTU, first == ATTOpcode.exchangeMTURequest.rawValue { return ring.leave() }
    guard let bearer = link?.bearer else { return }
    let unexpected = bearer.counters.unexpectedResponses
    bearer.receive(bytes, at: Arrival(timers.now))
    log.strayAnswers += bearer.counters.unexpectedResponses - unexpected
  }

  private func handle(_ event: ServerBearer.Event) {
    switch event {
    case .written(let handle, let value): written(handle, value)
    case .confirmed: log.confirmations += 1
    case .unexpectedConfirmation: log.strayAnswers += 1
    case .configured, .unanswered: break
    }
  }

  private func written(_ handle: AttributeHandle, _ value: [UInt8]) {
    switch handle {
    case table.commandWrite: ring.receive(value.span.bytes)
    case table.bulkWrite: ring.receiveBulk(value.span.bytes)
    case table.mirrorValue where isConnected: link?.server.indicate(value, of: handle)
    default: break
    }
  }

  private func notify(_ handle: AttributeHandle?, _ value: [UInt8]) {
    guard isConnected, behavior == .usual, let handle else { return }
    link?.server.notify(value, of: handle)
  }

  /// The link has room again.
  func roomAvailable() { link?.server.roomAvailable() }

  // MARK: Signalling

  private func request(_ least: ConnectionInterval, _ most: ConnectionInterval) {
    let parameters = ConnectionParameters(
      intervalMin: least, intervalMax: most, latency: 4,
      supervisionTimeout: SupervisionTimeout(rawValue: 500))
    if let requestParameters { return requestParameters(parameters) }
    let request = ConnectionParameterUpdateRequest(parameters)
    identifier = identifier == .max ? 1 : identifier + 1
    send(
      SignalingPacket(
        code: .connectionParameterUpdateRequest, identifier: identifier, data: request))
  }

  private func receiveSignaling(_ bytes: RawSpan) {
    var reader = ByteReader(bytes)
    guard let packet = try? SignalingPacket(parsing: &reader) else { return }
    switch packet.code {
    case .connectionParameterUpdateResponse where packet.identifier == identifier:
      let answer = packet.fields(ConnectionParameterUpdateResponse.self)
      log.parameterAnswers.append(answer?.isAccepted ?? false)
    case .commandReject where packet.identifier == identifier: log.parameterAnswers.append(false)
    case .connectionParameterUpdateResponse, .commandReject: log.strayAnswers += 1
    default:
      // Command not understood (Vol 3, Part A, 4.1).
      send(SignalingPacket(code: .commandReject, identifier: packet.identifier, data: CommandReject()))
    }
  }

  private func send(_ packet: SignalingPacket) {
    var writer = ByteWriter(capacity: 16)
    packet.write(into: &writer)
    send(.leSignaling, writer.span)
  }
}
