import HCI
import HaloBluetoothCore

/// A controller in the ``RadioMedium``: HCI packets in, HCI packets out, each with its H4 type byte. It can have both roles.
///
/// It has no clock: `Timers` supply the time, and all packets are sent from within a timer, never from within
/// ``receive(_:)``. The radio is ideal: nothing is lost, and scanning ignores the requested window. Data crosses a link
/// at the connection events, according to the interval.
package final class VirtualController {
  /// Input from the host, counted.
  package struct Counters: Hashable, Sendable {
    /// All commands.
    package var commands = 0
    /// Packets that could not be read, or of a type that no host sends.
    package var malformedPackets = 0
    /// Commands that the controller does not support.
    package var unknownCommands = 0
    /// ACL packets for links that do not exist, or larger than ``ControllerOptions/aclLength``.
    package var rejectedACL = 0
    /// ACL packets beyond the number that the host may have under way.
    package var excessACL = 0
  }

  package let options: ControllerOptions
  /// Where it is.
  package let medium: RadioMedium
  /// Input from the host, counted.
  package internal(set) var counters = Counters()
  /// The handle of the link to the first device in reach; the next device has the next handle. A handle is used again at
  /// once, as many controllers do.
  package static let firstHandle = ConnectionHandle(rawValue: 0x0040)

  var timers: Timers { medium.timers }
  /// The other devices, in the order in which they came.
  private(set) var reach: [DeviceInReach] = []
  private var deviceCount: UInt16 = 0
  private let emit: (RawSpan) -> Void
  private var writer = ByteWriter(capacity: 260)
  /// Distinguishes actions that were scheduled before a reset from those after it.
  private var resetCount = 0

  var eventMask = EventMask.afterReset
  var leEventMask = LEEventMask.afterReset
  /// The commands for scanning, advertising and connecting that the host has decided for: legacy or extended.
  var family: VirtualCommand.Kind?
  var randomAddress: BluetoothAddress?
  var acceptList: Set<BluetoothAddress> = []
  var resolvingList = VirtualResolvingList()
  /// The number of random numbers generated.
  var randomNumbers: UInt64 = 0
  var suggestedDataLength = DataLength(octets: 27, time: 328)
  var scan = Scan()
  var initiation: Initiation?
  var advertising = VirtualAdvertising()
  /// The faults of a bad radio; nil for an ideal one.
  var faults: RadioFaults?

  /// The time that a controller takes to answer a command.
  static let commandDelay = Duration.microseconds(200)
  /// By how much events are late that ``RadioFaults`` delay.
  private static let lateness = Duration.milliseconds(11)

  /// A controller that hears the devices that are in the air. ``RadioMedium/add(_:)`` lets others hear it.
  ///
  /// - Parameters:
  ///   - options: its properties
  ///   - medium: where it is
  ///   - emit: receives a packet for the host; the span is valid only during the call
  package init(
    _ options: ControllerOptions = .init(), in medium: RadioMedium, emit: @escaping (RawSpan) -> Void
  ) {
    self.options = options
    self.medium = medium
    self.emit = emit
    faults = options.faultSeed.map { RadioFaults(seed: $0) }
    for device in medium.devices { reaches(device) }
  }

  // MARK: Reach

  func reaches(_ device: any SimulatedDevice) {
    guard device !== self else { return }
    let handle = ConnectionHandle(rawValue: (Self.firstHandle.rawValue + deviceCount) & 0x0EFF)
    deviceCount += 1
    reach.append(DeviceInReach(device, handle: handle))
    listen(to: device)
  }

  func misses(_ device: any SimulatedDevice) {
    guard let index = reach.firstIndex(where: { $0.device === device }) else { return }
    let place = reach[index]
    timers.cancel(place.advertisingTimer)
    place.advertisingTimer = nil
    guard let link = place.link else {
      reach.remove(at: index)
      return
    }
    // The host gets the event when the supervision timeout is over.
    place.isGone = true
    link.abandon(from: link.central === self ? .peripheral : .central)
  }

  /// The link with a device has ended.
  func end(_ place: DeviceInReach) {
    place.link = nil
    if place.isGone { reach.removeAll { $0 === place } }
  }

  func place(of device: (any SimulatedDevice)?) -> DeviceInReach? {
    device.flatMap { device in reach.first { $0.device === device } }
  }

  /// The link with this handle; nil if there is none.
  func link(_ handle: ConnectionHandle) -> SimulatedLink? { reach.first { $0.handle == handle }?.link }

  /// The device at the other end of the link with this handle.
  func peer(_ handle: ConnectionHandle) -> (any SimulatedDevice)? {
    guard let place = reach.first(where: { $0.handle == handle }), place.link != nil else { return nil }
    return place.device
  }

  // MARK: The host

  /// Handles a packet from the host. Returns for any contents.
  package func receive(_ packet: RawSpan) {
    guard !options.staysSilent else { return }
    var reader = ByteReader(packet)
    switch (try? reader.readUInt8()).map(HCIPacketType.init) {
    case .command?: receiveCommand(reader.readRest())
    case .acl?: receiveACL(reader.readRest())
    default: counters.malformedPackets += 1
    }
  }

  /// The fault of a ring on its next link, at random; nil with an ideal radio.
  package func faultOfNextLink() -> RadioFaults.LinkFault? { faults?.faultOfNextLink() }

  /// Reports a failure of the controller, as it happens on bad hardware.
  package func fail(code: UInt8) {
    post(.hardwareError(HardwareError(code: code)))
  }

  /// Restarts without an event to the host, as a controller does whose supply was interrupted: it knows nothing of links,
  /// advertising or masks any more.
  ///
  /// - Parameter isHinted: whether it sends No Operation, as many do when they have started
  package func restart(isHinted: Bool) {
    reset()
    if isHinted {
      post(.commandComplete(CommandComplete(opcode: .noOperation, returnParameters: [])))
    }
  }

  /// Whether there is a link to the device with this address.
  package func isLinked(to address: BluetoothAddress) -> Bool {
    reach.contains { $0.link != nil && $0.device.address == address }
  }

  package var isScanning: Bool { scan.isOn }

  package var isAdvertising: Bool { advertising.isOn }

  func reset() {
    resetCount += 1
    eventMask = .afterReset
    leEventMask = .afterReset
    family = nil
    randomAddress = nil
    acceptList = []
    resolvingList = VirtualResolvingList()
    suggestedDataLength = DataLength(octets: 27, time: 328)
    stopScan()
    initiation = nil
    advertising = VirtualAdvertising()
    for place in reach {
      timers.cancel(place.advertisingTimer)
      place.advertisingTimer = nil
      let link = place.link
      place.link = nil
      if let link { link.abandon(from: link.central === self ? .central : .peripheral) }
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
    switch faults?.outcome(of: event) ?? .delivered {
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
  func isUnmasked(_ event: HCIEvent) -> Bool {
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

/// Another device, as a controller knows it.
final class DeviceInReach {
  let device: any SimulatedDevice
  /// The connection handle of each link with it.
  let handle: ConnectionHandle
  var link: SimulatedLink?
  /// Whether it was removed from the radio medium: it is forgotten with its link.
  var isGone = false
  /// The next advertisement that is listened for.
  var advertisingTimer: Timers.Token?

  init(_ device: any SimulatedDevice, handle: ConnectionHandle) {
    self.device = device
    self.handle = handle
  }
}
