import BluetoothCore
import HCI
import L2CAP

/// A controller with rings in reach, in memory: HCI packets in, HCI packets out, each with its H4 type byte.
///
/// It has no clock: `Timers` supply the time, and all packets are sent from within a timer, never from within
/// ``receive(_:)``. The radio is ideal: nothing is lost, and scanning ignores the requested window. Data crosses a link
/// at the connection events, according to the interval.
public final class VirtualController {
  /// Input from the host, counted.
  public struct Counters: Hashable, Sendable {
    /// All commands.
    public var commands = 0
    /// Packets that could not be read, or of a type that no host sends.
    public var malformedPackets = 0
    /// Commands that the controller does not support.
    public var unknownCommands = 0
    /// ACL packets for links that do not exist, or larger than ``VirtualRingOptions/aclLength``.
    public var rejectedACL = 0
    /// ACL packets beyond the number that the host may have under way.
    public var excessACL = 0
  }

  /// The properties of the controller, and of the first ring.
  public let options: VirtualRingOptions
  /// The rings in reach.
  public var peripherals: [VirtualPeripheral] { rings.map(\.peripheral) }
  /// The first ring.
  public var peripheral: VirtualPeripheral { rings[0].peripheral }
  /// Input from the host, counted.
  public internal(set) var counters = Counters()
  /// The handle of the link to the first ring; the next ring has the next handle. A handle is used again at once, as many
  /// controllers do.
  public static let linkHandle = ConnectionHandle(rawValue: 0x0040)
  /// Whether a link to the first ring exists.
  public var isConnected: Bool { rings[0].link != nil }

  let timers: Timers
  let rings: [RingInReach]
  private let emit: (RawSpan) -> Void
  private var writer = ByteWriter(capacity: 260)
  /// Distinguishes what was to be sent before a reset from what is to be sent after it.
  private var resetCount = 0

  var eventMask = EventMask.afterReset
  var leEventMask = LEEventMask.afterReset
  /// The commands for scanning, advertising and connecting that the host has decided for: legacy or extended.
  var family: VirtualCommand.Kind?
  var randomAddress: BluetoothAddress?
  var acceptList: Set<BluetoothAddress> = []
  /// Kept for its size only: rings have no resolvable address.
  var resolvingList: Set<BluetoothAddress> = []
  /// The number of random numbers generated.
  var randomNumbers: UInt64 = 0
  var suggestedDataLength = DataLength(octets: 27, time: 328)
  var scan = Scan()
  var initiation: Initiation?
  /// The faults of a bad radio; nil for an ideal one.
  var faults: RadioFaults?

  /// The time that a controller takes to answer a command.
  static let commandDelay = Duration.microseconds(200)
  /// By how much events are late that ``RadioFaults`` delay.
  private static let lateness = Duration.milliseconds(11)

  /// - Parameters:
  ///   - options: of the controller and the rings in its reach
  ///   - timers: the virtual or real time
  ///   - emit: receives a packet for the host; the span is valid only during the call
  public init(options: VirtualRingOptions, timers: Timers, emit: @escaping (RawSpan) -> Void) {
    self.options = options
    faults = options.faults.randomSeed.map { RadioFaults(seed: $0) }
    self.timers = timers
    self.emit = emit
    let first = Self.linkHandle.rawValue
    rings = ([options] + options.others).enumerated().map { index, options in
      RingInReach(options, handle: ConnectionHandle(rawValue: first + UInt16(index)), timers)
    }
    for ring in rings { attach(ring) }
  }

  private func attach(_ ring: RingInReach) {
    let peripheral = ring.peripheral
    peripheral.send = { [weak self, unowned ring] channel, payload in
      self?.sendUp(payload, on: channel, of: ring)
    }
    peripheral.ring.vanish = { [weak self, unowned ring] in
      // Data sent before still crosses.
      self?.afterEvents(1, of: ring) { $0.disconnect($1, reason: .connectionTimeout) }
    }
    peripheral.ring.leave = { [weak self, unowned ring] in
      self?.afterEvents(1, of: ring) { $0.disconnect($1) }
    }
    peripheral.ring.switchOff = { [weak self, unowned ring] in
      ring.isSwitchedOff = true
      self?.afterEvents(1, of: ring) { $0.disconnect($1) }
    }
  }

  /// Handles a packet from the host. Returns for any contents.
  public func receive(_ packet: RawSpan) {
    guard !options.faults.staysSilent else { return }
    var reader = ByteReader(packet)
    switch (try? reader.readUInt8()).map(HCIPacketType.init) {
    case .command?: receiveCommand(reader.readRest())
    case .acl?: receiveACL(reader.readRest())
    default: counters.malformedPackets += 1
    }
  }

  /// Ends the link to the first ring from its side, or as if it were out of reach.
  public func disconnect(reason: HCIErrorCode = .remoteUserTerminatedConnection) {
    disconnect(rings[0], reason: reason)
  }

  func disconnect(_ ring: RingInReach, reason: HCIErrorCode = .remoteUserTerminatedConnection) {
    guard let link = ring.link else { return }
    closeLink(of: ring)
    post(.disconnectionComplete(.init(status: .success, handle: link.handle, reason: reason)))
  }

  /// Reports a failure of the controller, as it happens on bad hardware.
  public func fail(code: UInt8) {
    post(.hardwareError(HardwareError(code: code)))
  }

  func reset() {
    resetCount += 1
    eventMask = .afterReset
    leEventMask = .afterReset
    family = nil
    randomAddress = nil
    acceptList = []
    resolvingList = []
    suggestedDataLength = DataLength(octets: 27, time: 328)
    stopScan()
    initiation = nil
    for ring in rings {
      timers.cancel(ring.advertisingTimer)
      ring.advertisingTimer = nil
      closeLink(of: ring)
    }
  }

  // MARK: Events

  /// Sends an event a little later, unless the host masks it or sends a reset first.
  func post(_ event: HCIEvent, after delay: Duration = commandDelay) {
    later(delay) { $0.send(event) }
  }

  /// Runs a closure a little later, unless the host sends a reset first.
  @discardableResult
  func later(_ delay: Duration, _ action: @escaping (VirtualController) -> Void) -> Timers.Token {
    let resetCount = resetCount
    return timers.schedule(after: delay) { [weak self] in
      guard let self, self.resetCount == resetCount else { return }
      action(self)
    }
  }

  /// Sends an event now. Only to be called from a timer.
  func send(_ event: HCIEvent) {
    guard isUnmasked(event) else { return }
    switch faults?.fate(of: event) ?? .delivered {
    case .delivered: deliver(event)
    case .lost: break
    case .twice:
      deliver(event)
      later(Self.commandDelay) { $0.deliver(event) }
    case .late: later(Self.lateness) { $0.deliver(event) }
    case .breakdown: deliver(.hardwareError(HardwareError(code: 0x42)))
    }
  }

  private func deliver(_ event: HCIEvent) {
    event.packet(into: &writer)
    let bytes = writer.bytes
    emit(bytes.span.bytes)
  }

  /// Sends an ACL packet now. Only to be called from a timer.
  func send(_ packet: [UInt8]) {
    emit(packet.span.bytes)
  }

  /// The events for commands and credits cannot be masked (Core Specification Vol 4, Part E, 7.3.1).
  private func isUnmasked(_ event: HCIEvent) -> Bool {
    switch event.code {
    case .commandComplete, .commandStatus, .numberOfCompletedPackets: return true
    case let code:
      let bit = Int(code.rawValue) - 1
      guard (0..<64).contains(bit), eventMask.contains(EventMask(rawValue: 1 << UInt64(bit))) else {
        return false
      }
      return event.subevent.map { leEventMask.contains(LEEventMask(subevent: $0)) } ?? true
    }
  }
}

/// A ring in reach of the controller.
final class RingInReach {
  let options: VirtualRingOptions
  let peripheral: VirtualPeripheral
  let radio: Advertiser
  /// The connection handle of each link to it.
  let handle: ConnectionHandle
  var link: VirtualLink?
  var failuresLeft: Int
  /// A ring that was switched off does not advertise; only its charger would wake it.
  var isSwitchedOff = false
  var advertisingTimer: Timers.Token?

  init(_ options: VirtualRingOptions, handle: ConnectionHandle, _ timers: Timers) {
    self.options = options
    self.handle = handle
    peripheral = VirtualPeripheral(options: options, timers: timers)
    radio = Advertiser(options: options, start: timers.now)
    failuresLeft = options.faults.establishFailures
  }
}
