import HCI
import HaloBluetoothCore
import L2CAP

/// A radio at the other end of an HCI transport. This package has all layers above it: the host controller, L2CAP, ATT.
@BluetoothActor
package final class HCIAdapter: Adapter, RecoverableRadio {
  package var onReport: ((AdvertisingReport, Instant) -> Void)? {
    get { host.onReport }
    set { host.onReport = newValue }
  }
  package var onScanRefusal: ((StackError?) -> Void)? {
    get { host.onScanRefusal }
    set { host.onScanRefusal = newValue }
  }
  package var onAccepted: ((any ATTLink) -> Void)? {
    didSet {
      // Without this closure, the host ends such links.
      guard let onAccepted else { return host.onAccepted = nil }
      host.onAccepted = { [weak self] connection in
        if let self { onAccepted(HCILink(L2CAPLink(connection), of: self)) }
      }
    }
  }
  package var onFailure: ((StackError) -> Void)?
  /// Makes its private addresses; nil if that is a matter of ``security``.
  package var makePrivateAddress: PrivateAddressMaker?
  package var security: SecurityHost?
  /// The address that stays.
  var identity: BluetoothAddress { host.controller?.address ?? .zero }
  package var onNote: ((String) -> Void)? {
    get { recovery.onNote }
    set {
      recovery.onNote = newValue
      host.onNote = newValue
    }
  }

  package var timers: Timers { transport.timers }
  package var droppedPackets: Int? { transport.droppedPackets }
  package var skippedBytes: Int? { transport.skippedBytes }
  package var onSkippedBytes: ((Int, Instant) -> Void)? {
    get { transport.onSkippedBytes }
    set { transport.onSkippedBytes = newValue }
  }

  private let transport: any HCITransport
  private let host: HostController
  private let recovery: AdapterRecovery
  /// Why the radio cannot be used, until it is recovered.
  package private(set) var failure: StackError?
  /// Whether it has scanned or connected. Its controller is not given the keys of all bonds then.
  private var isCentral = false
  /// Whether packets reach the controller.
  private var isTransportOpen = false
  /// How long the controller may take to end its advertisements.
  private static let stoppingDeadline = Duration.seconds(1)
  /// The interval for trying to open the transport to the controller again.
  private static let period = Duration.milliseconds(250)

  /// - Parameters:
  ///   - transport: the controller; not started yet
  ///   - randomAddress: used if the controller has no public address; made up if nil
  ///   - prefersRandomAddress: whether it is used in any case
  package init(
    _ transport: any HCITransport, randomAddress: BluetoothAddress? = nil, prefersRandomAddress: Bool = false
  ) {
    self.transport = transport
    recovery = AdapterRecovery(timers: transport.timers)
    let madeUp = BluetoothAddress(UInt64.random(in: 0..<1 << 46) | 3 << 46, .random)
    // Until this object releases the transport, it and the host hold each other.
    host = HostController(
      timers: transport.timers, randomAddress: randomAddress ?? madeUp,
      prefersRandomAddress: prefersRandomAddress, watchesState: transport.watchesState
    ) { transport.send($0) }
    host.onFailure = { [weak self] error in self?.fail(error) }
  }

  isolated deinit {
    release()
  }

  /// Discarded input, counted.
  package var counters: HostController.Counters { host.counters }
  /// The number of ACL packets waiting for room in the controller.
  package var waitingPackets: Int { host.waitingPackets }

  /// Sets the controller up. Each command has a deadline; a task that is cancelled returns at once.
  package func start() async throws(StackError) -> AdapterInformation {
    if let makePrivateAddress {
      host.makePrivateAddress = makePrivateAddress
    } else if let security, security.usesPrivateAddresses {
      guard security.cryptography != nil else { throw .noPrivateAddress }
      host.makePrivateAddress = { [weak self] own in self?.security?.makePrivateAddress(of: own) }
    }
    attach()
    let information = try await setUp()
    bondsChanged()
    return information
  }

  /// Lets the controller know the bonded devices that change their addresses.
  func bondsChanged() {
    guard let security else { return host.setResolvable([]) }
    let devices = security.bonded(isCentral ? .central : .peripheral)
    host.setResolvable(devices.resolvable(as: identity, isPrivate: security.usesPrivateAddresses))
  }

  private func becomeCentral() {
    isCentral = true
    bondsChanged()
  }

  package func resolves(_ identity: BluetoothAddress) -> Bool { host.resolves(identity) }

  private func attach() {
    let host = self.host
    transport.onPacket = { packet, arrival in host.receive(packet, at: arrival) }
    transport.onClose = { [weak self] reason in
      guard let self else { return }
      isTransportOpen = false
      host.transportClosed(reason, isFinal: !transport.canReopen)
    }
    isTransportOpen = true
    transport.start()
  }

  private func setUp() async throws(StackError) -> AdapterInformation {
    let host = self.host
    let controller = try await awaitCallback(cancelled: StackError.cancelled) { done in
      host.initialize(completion: done)
    }
    return AdapterInformation(controller)
  }

  private func fail(_ error: StackError) {
    // If it fails during recovery, it has not been usable in between.
    guard failure == nil else { return }
    failure = error
    onFailure?(error)
  }

  /// Recovers the controller. One that does not answer, or has reported a hardware error, is reset; if that does not
  /// help, its transport is opened again, which for the user channel means power off and on. A closed transport is
  /// opened as soon as possible: an adapter of this machine when it is present again, with its index or with its
  /// address under another index.
  ///
  /// - Throws: the failure that ended it: after `time`, or at once if its transport can't be opened again;
  ///   `StackError.cancelled` if the task is cancelled
  package func recover(within time: Duration) async throws(StackError) -> AdapterInformation {
    let deadline = timers.now + time
    while let failure {
      if failure.code == .transportEnded { throw failure }
      let information = try await recovery.recover(self, from: failure, within: deadline - timers.now)
      // The controller may have failed since its last answer.
      self.failure = host.failure
      if self.failure == nil { return information }
      if timers.now >= deadline { throw failure }
    }
    // A working controller keeps its links.
    guard host.failure == nil, let controller = host.controller else { throw host.failure ?? .notReady }
    return AdapterInformation(controller)
  }

  package func setScan(_ parameters: ScanParameters?) {
    var parameters = parameters
    // Links on LE Coded are made with devices that advertise on it.
    if transport.linkPreferences?.phys?.contains(.leCoded) == true { parameters?.includesCoded = true }
    if parameters != nil { becomeCentral() }
    host.setScan(parameters)
  }

  package func setAdvertising(_ advertising: Advertising?, in set: AdvertisingSet) throws(StackError) {
    if advertising != nil { bondsChanged() }
    if case .directed(let central, _) = advertising?.kind,
      security?.bonded(.peripheral).mayHide(central) == true, !host.knows(central)
    {
      throw .addressUnknown(central)
    }
    host.setAdvertising(advertising, in: set)
  }

  package func connect(
    _ request: ConnectionRequest, completion: @escaping (Result<any ATTLink, StackError>) -> Void
  ) -> () -> Void {
    var request = request
    request.preferences = request.preferences ?? transport.linkPreferences
    becomeCentral()
    return host.connect(request) { result in
      completion(result.map { HCILink(L2CAPLink($0), of: self) })
    }
  }

  package func close() async {
    await stopAdvertising()
    release()
    await transport.finishClosing()
    await security?.bonds?.finish()
  }

  /// Waits until the controller has stopped advertising: otherwise, it goes on after the program has ended. While it starts to
  /// advertise, it cannot be stopped.
  private func stopAdvertising() async {
    await withCheckedContinuation { continuation in
      let done = OneShot<Void> { continuation.resume() }
      done.expire(after: Self.stoppingDeadline, in: timers, with: ())
      host.stopAdvertising { done() }
    }
  }

  private func release() {
    onFailure = nil
    host.close()
    transport.onPacket = nil
    transport.onClose = nil
    transport.onSkippedBytes = nil
    transport.close()
  }

  package var name: String { transport.name }

  package func perform(_ step: RecoverySteps.Step) async throws(StackError) -> RecoverySteps.Outcome {
    switch step {
    // The failure has ended the operations and links of this side; the reset ends those of the controller.
    case .cancel, .disconnect: return .done()
    case .reset:
      host.revive()
      do throws(StackError) {
        return .recovered(try await setUp())
      } catch .cancelled {
        throw .cancelled
      } catch {
        return .failed("\(error)")
      }
    case .powerCycle:
      do throws(StackError) {
        return .recovered(try await open(within: AdapterRecovery.openingTime))
      } catch .cancelled {
        throw .cancelled
      } catch .notReady {
        return .unrecoverable("left out, as \(name) can't be opened again")
      } catch {
        return .failed("\(error)")
      }
    }
  }

  package func reopen(within time: Duration) async throws(StackError) -> AdapterInformation? {
    let wasOpen = isTransportOpen
    do throws(StackError) {
      guard wasOpen else { return try await open(within: time) }
      host.revive()
      return try await setUp()
    } catch {
      // A controller that does not answer behind a new transport may do so behind the next.
      if !wasOpen { isTransportOpen = false }
      guard error.code != .cancelled, error.code != .missingPrivilege else { throw error }
      return nil
    }
  }

  private func open(within time: Duration) async throws(StackError) -> AdapterInformation {
    isTransportOpen = false
    try await transport.reopen(within: min(time, AdapterRecovery.openingTime))
    host.revive()
    attach()
    return try await setUp()
  }

  package func change() async {
    await timers.sleep(for: Self.period)
  }
}

extension AdapterInformation {
  fileprivate init(_ controller: ControllerInformation) {
    self.init(
      address: controller.address, hides: controller.privateAddress != nil,
      version: "\(controller.version.hciVersion)",
      usesExtendedScan: controller.usesExtendedScan)
  }
}
