import HCI
import HaloBluetoothCore

/// A link of two devices in the ``RadioMedium``: data cross at its connection events, according to the interval.
package final class SimulatedLink {
  /// One end of it.
  package enum End: Sendable {
    case central, peripheral

    package var other: End { self == .central ? .peripheral : .central }
  }

  /// A property that has changed for both ends.
  package enum Change: Sendable {
    case parameters(LinkParameters)
    case phys(LinkPHYs)
    /// The longest packets, in bytes.
    case dataLength(UInt16)
    /// Whether the key was renewed on a link that was encrypted before.
    case encrypted(isRenewal: Bool)
  }

  package private(set) weak var central: VirtualController?
  package private(set) weak var peripheral: (any SimulatedDevice)?
  /// The address of the central on this link.
  package let centralAddress: BluetoothAddress
  package private(set) var parameters: LinkParameters
  package private(set) var phys = LinkPHYs {
    $0.transmit = .le1M
    $0.receive = .le1M
  }
  package private(set) var isEncrypted = false
  package private(set) var isOpen = true
  /// Whether the peripheral does not take part in it: no packets are exchanged. If that is so from the start, the link will
  /// fail to be established.
  package var isDead = false {
    didSet { if !fromCentral.isEmpty || !fromPeripheral.isEmpty { awaitEvent() } }
  }

  /// Takes the key that the peripheral's host has been asked for, or nil for none.
  var keyReply: (([UInt8]?) -> Void)?
  /// Whether the central's host has to answer a request for other parameters.
  var hasParameterRequest = false

  private let timers: Timers
  /// A connection event from which the others are counted.
  private var anchor: Instant
  private var dataLength: UInt16 = 27
  /// The fragments that wait for the next connection event, from each end.
  private var fromCentral: [SimulatedFragment] = []
  private var fromPeripheral: [SimulatedFragment] = []
  private var event: Timers.Token?
  /// The tasks that end with the link.
  private var tokens: [Timers.Token] = []

  init(
    _ central: VirtualController, at address: BluetoothAddress, _ peripheral: any SimulatedDevice,
    parameters: LinkParameters, timers: Timers
  ) {
    self.central = central
    self.peripheral = peripheral
    centralAddress = address
    self.parameters = parameters
    self.timers = timers
    anchor = timers.now
  }

  deinit {
    stopTimers()
  }

  func device(at end: End) -> (any SimulatedDevice)? { end == .central ? central : peripheral }

  // MARK: Time

  /// The first connection event after `now`.
  private func nextEvent(after now: Instant) -> Instant {
    let step = max(1, parameters.interval.duration.wholeNanoseconds)
    return anchor + .nanoseconds((max(0, now.nanoseconds(since: anchor)) / step + 1) * step)
  }

  /// Runs a closure later, unless the link has ended by then.
  package func after(_ delay: Duration, _ action: @escaping (SimulatedLink) -> Void) {
    guard isOpen else { return }
    tokens.append(
      timers.schedule(after: delay) { [weak self] in
        if let self, isOpen { action(self) }
      })
  }

  /// Runs a closure at the `count`-th connection event from now, unless the link has ended by then.
  package func afterEvents(_ count: Int64, _ action: @escaping (SimulatedLink) -> Void) {
    let first = nextEvent(after: timers.now) - timers.now
    after(first + .nanoseconds((count - 1) * parameters.interval.duration.wholeNanoseconds), action)
  }

  /// The same for actions that need both ends: they never happen on a dead link.
  func afterExchange(_ events: Int64, _ action: @escaping (SimulatedLink) -> Void) {
    if !isDead { afterEvents(events, action) }
  }

  // MARK: Data

  /// How many fragments of an end wait for the next connection event.
  func waiting(from end: End) -> Int { end == .central ? fromCentral.count : fromPeripheral.count }

  /// Queues a fragment.
  func send(_ fragment: SimulatedFragment, from end: End) {
    guard isOpen else { return }
    if end == .central { fromCentral.append(fragment) } else { fromPeripheral.append(fragment) }
    awaitEvent()
  }

  /// Queues an L2CAP frame of the peripheral, in as many fragments as the central's controller takes.
  package func sendFromPeripheral(_ frame: RawSpan) {
    guard isOpen, let central else { return }
    let length = max(1, Int(central.options.aclLength))
    var offset = 0
    while offset < frame.byteCount {
      let end = min(frame.byteCount, offset + length)
      fromPeripheral.append(SimulatedFragment(Array(frame.extracting(offset..<end)), isStart: offset == 0))
      offset = end
    }
    awaitEvent()
  }

  private func awaitEvent() {
    guard event == nil, !isDead else { return }
    event = timers.schedule(at: nextEvent(after: timers.now)) { [weak self] in self?.exchange() }
  }

  /// Both ends get the fragments that the other one has queued. Answers cross at the following event.
  private func exchange() {
    event = nil
    guard !isDead else { return }
    let (down, up) = (fromCentral, fromPeripheral)
    fromCentral = []
    fromPeripheral = []
    deliver(up, to: central, sent: down.count)
    deliver(down, to: peripheral, sent: up.count)
  }

  /// - Parameter sent: how many fragments of this end have crossed
  private func deliver(_ fragments: [SimulatedFragment], to device: (any SimulatedDevice)?, sent: Int) {
    if sent > 0, isOpen { (device as? VirtualController)?.sent(sent, on: self) }
    for fragment in fragments where isOpen { device?.received(fragment, on: self) }
  }

  // MARK: Properties

  /// Other parameters are in force. The controllers take the longest interval that they may.
  func update(_ new: ConnectionParameters) {
    parameters = LinkParameters(
      interval: new.intervalMax, latency: new.latency, supervisionTimeout: new.supervisionTimeout)
    anchor = timers.now
    announce(.parameters(parameters))
  }

  /// The central's host answers a request for other parameters.
  ///
  /// - Returns: false if there is none
  func takeRequest() -> Bool {
    defer { hasParameterRequest = false }
    return hasParameterRequest
  }

  func choosePHYs(_ preferred: PreferredPHYs) {
    func choose(_ wanted: LEPHYs?, _ current: LEPHY) -> LEPHY {
      guard let wanted else { return current }
      return wanted.contains(.le2M) ? .le2M : .le1M
    }
    phys.transmit = choose(preferred.transmit, phys.transmit)
    phys.receive = choose(preferred.receive, phys.receive)
    announce(.phys(phys))
  }

  /// - Parameter octets: the longest packets that one end wants to send
  package func changeDataLength(_ octets: UInt16) {
    guard dataLength != octets, (27...251).contains(octets) else { return }
    dataLength = octets
    announce(.dataLength(octets))
  }

  private func announce(_ change: Change) {
    peripheral?.changed(change, on: self)
    central?.changed(change, on: self)
  }

  // MARK: Encryption

  /// Encrypts the link with the central's key, if the peripheral has the same one (Vol 6, Part B, 5.1.3).
  func encrypt(with key: [UInt8], _ random: UInt64, _ diversifier: UInt16) {
    peripheral?.keyRequested(random, diversifier, on: self) { [weak self] answer in
      self?.afterExchange(2) { link in
        guard let answer else { return link.refuseEncryption() }
        guard answer == key else { return link.end(.micFailure, .micFailure) }
        let isRenewal = link.isEncrypted
        link.isEncrypted = true
        link.announce(.encrypted(isRenewal: isRenewal))
      }
    }
  }

  /// The peripheral has no key. A link whose encryption was paused for another key can't go on.
  private func refuseEncryption() {
    guard !isEncrypted else { return end(.pinOrKeyMissing, .pinOrKeyMissing) }
    central?.encryptionRefused(on: self)
  }

  // MARK: The end

  /// Ends the link.
  ///
  /// - Parameters:
  ///   - centralReason: the reason that the central gets
  ///   - peripheralReason: the reason that the peripheral gets
  package func end(_ centralReason: HCIErrorCode, _ peripheralReason: HCIErrorCode) {
    guard isOpen else { return }
    close()
    let (central, peripheral) = (central, peripheral)
    central?.forget(self)
    peripheral?.ended(self, peripheralReason)
    if let peripheral { central?.medium.advertisingChanged(peripheral) }
    central?.ended(self, centralReason)
  }

  /// Ends the link for one end without telling the other, which notices that when it has heard nothing for the supervision
  /// timeout.
  func abandon(from end: End) {
    guard isOpen else { return }
    close()
    if let controller = device(at: end.other) as? VirtualController { return controller.abandoned(self) }
    device(at: end.other)?.ended(self, .connectionTimeout)
  }

  private func close() {
    isOpen = false
    stopTimers()
  }

  private func stopTimers() {
    timers.cancel(event)
    event = nil
    for token in tokens { timers.cancel(token) }
    tokens = []
  }
}
