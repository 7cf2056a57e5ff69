import HCI
import HaloBluetoothCore

/// A controller driven by the kernel's host, shared through the raw channel. Links and data are handled by the kernel;
/// this class scans, and observes links through the controller's events.
///
/// It does no I/O: pass received packets to ``receive(_:at:)``; outgoing packets are passed to the closure given to the
/// initializer. Answers are matched by opcode: if two programs send the same command at the same time, the raw channel
/// does not distinguish their answers.
package final class RawController {
  /// The properties that are read at the start.
  package struct Information: Hashable, Sendable {
    package var version: ReadLocalVersionInformation.Response
    package var usesExtendedScan: Bool
    /// Whether it can send several advertisements at once.
    package var hasAdvertisingSets: Bool
  }

  /// A link event of the controller, for links of any program.
  package enum LinkChange: Hashable, Sendable {
    case connected(ConnectionHandle, BluetoothAddress, LERole, LinkParameters)
    /// A link that could not be established. Not every controller reports which one.
    case failed(BluetoothAddress, HCIErrorCode)
    case parameters(ConnectionHandle, LinkParameters)
    /// A parameter update that has failed, requested by any program.
    case parametersRefused(ConnectionHandle, HCIErrorCode)
    /// Encryption was switched on or off, or a key was renewed; or that has failed.
    case encryption(ConnectionHandle, HCIErrorCode, isOn: Bool)
    case disconnected(ConnectionHandle, HCIErrorCode)
    /// The kernel, or another program, disconnects a link, with this reason.
    case ending(ConnectionHandle, HCIErrorCode)
    /// The kernel, or another program, creates a connection.
    case connecting
    /// The kernel, or another program, cancels the creation of a connection.
    case connectionCancelled
  }

  /// A scan without a report for this time is started again.
  package static let longestScanSilence = ScanController.longestSilence

  /// The commands sent here. Other commands to such a controller are sent by the kernel or another program.
  package static let opcodes: Set<HCIOpcode> = [
    ReadLocalVersionInformation.opcode, ReadLocalSupportedCommands.opcode,
    LEReadLocalSupportedFeatures.opcode,
    LESetScanParameters.opcode, LESetScanEnable.opcode, LESetExtendedScanParameters.opcode,
    LESetExtendedScanEnable.opcode, LEConnectionUpdate.opcode, ReadRSSI.opcode, Disconnect.opcode,
    SetEventMask.opcode, LESetEventMask.opcode, ReadBufferSize.opcode, LEReadBufferSize.opcode,
  ]

  /// Called for each advertising report, for scans of any program.
  package var onReport: ((AdvertisingReport, Instant) -> Void)?
  /// Called when the controller refuses the scan, which is tried again; and with nil when it scans nevertheless.
  package var onScanRefusal: ((StackError?) -> Void)?
  /// Called when the scan is started again because it brings no report, with how often that was done in a row.
  package var onScanSilence: ((Int) -> Void)?
  /// Called when an active scan of this program has ended.
  package var onActiveScanEnd: (() -> Void)?
  /// Called for each link event.
  package var onLink: ((LinkChange) -> Void)?
  /// Called once, when the controller no longer answers.
  package var onFailure: ((StackError) -> Void)?

  private let timers: Timers
  private let commands: CommandQueue
  private let ownAddressType: OwnAddressType
  private var scan: ScanController?
  private var desiredScan: ScanParameters?

  /// - Parameters:
  ///   - timers: the clock of all deadlines
  ///   - ownAddressType: `.random` if the controller has no public address; the kernel has set a random one
  ///     then
  ///   - send: sends a packet to the controller; the span is valid only during the call
  package init(timers: Timers, ownAddressType: OwnAddressType = .public, send: @escaping (RawSpan) -> Void) {
    self.timers = timers
    self.ownAddressType = ownAddressType
    commands = CommandQueue(timers: timers, send: send)
    commands.onTimeout = { [weak self] error in self?.onFailure?(error) }
  }

  /// Reads the properties of the controller. It is not reset, as the kernel owns it.
  ///
  /// - Parameter completion: called exactly once, at most `HostController.commandDeadline` after each of two commands
  package func initialize(completion: @escaping (Result<Information, StackError>) -> Void) {
    commands.send(ReadLocalVersionInformation()) { [commands] version in
      commands.send(ReadLocalSupportedCommands()) { [weak self] supported in
        completion(
          version.flatMap { version in
            supported.map { supported in
              self?.adopt(supported)
              return Information(
                version: version, usesExtendedScan: supported.haveExtendedScan,
                hasAdvertisingSets: supported.contains(LESetExtendedAdvertisingParameters.self))
            }
          })
      }
    }
  }

  private func adopt(_ supported: SupportedCommands) {
    let scan = ScanController(
      commands, timers: timers, usesExtendedCommands: supported.haveExtendedScan,
      ownAddressType: ownAddressType, isShared: true)
    scan.onRefusal = { [weak self] error in self?.onScanRefusal?(error) }
    scan.onSilence = { [weak self] count in self?.onScanSilence?(count) }
    scan.onActiveEnd = { [weak self] in self?.onActiveScanEnd?() }
    self.scan = scan
    scan.setDesired(desiredScan)
  }

  /// Whether an active scan of this program is on, or about to be.
  package var isScanningActively: Bool { scan.map { $0.isActive && !$0.mayBeOthers } ?? false }

  /// Calls `action` when the kernel has handled the events until now: it hands them on before it handles them, one by one.
  package func whenEventsAreHandled(_ action: @escaping () -> Void) {
    commands.send(ReadLocalVersionInformation()) { _ in action() }
  }

  /// Reads the features of the controller's link layer.
  package func readFeatures(completion: @escaping (Result<LEFeatures, StackError>) -> Void) {
    commands.send(LEReadLocalSupportedFeatures()) { completion($0.map(\.features)) }
  }

  /// Fails all pending and future operations.
  package func fail(_ error: StackError) {
    scan = nil
    commands.fail(error)
  }

  // MARK: Scanning

  /// Sets the desired scan; nil for none.
  package func setScan(_ parameters: ScanParameters?) {
    desiredScan = parameters
    scan?.setDesired(parameters)
  }

  /// Stops scanning until ``resumeScan()``; the closure is called when it has stopped. The kernel can't connect during
  /// a scan.
  package func pauseScan(then action: @escaping () -> Void) {
    if let scan { scan.pause(then: action) } else { action() }
  }

  package func resumeScan() {
    scan?.resume()
  }

  // MARK: Links

  /// Disconnects a link immediately; the kernel would keep it for two seconds after its last user.
  package func disconnect(_ handle: ConnectionHandle) {
    commands.send(Disconnect(handle: handle)) { _ in }
  }

  /// Requests other parameters of a link. ``onLink`` reports the result.
  ///
  /// - Parameters:
  ///   - handle: of the link
  ///   - parameters: the interval, latency and timeout to request
  ///   - completion: called exactly once, when the controller has started or rejected the update
  package func update(
    _ handle: ConnectionHandle, to parameters: ConnectionParameters,
    completion: @escaping (Result<Void, StackError>) -> Void
  ) {
    commands.send(
      LEConnectionUpdate {
        $0.handle = handle
        $0.parameters = parameters
      }, completion: completion)
  }

  /// Reads the RSSI of a link in dBm; nil if unavailable.
  package func readRSSI(_ handle: ConnectionHandle, completion: @escaping (Result<Int8?, StackError>) -> Void)
  {
    commands.send(ReadRSSI(handle: handle), allowsTimeout: true) { completion($0.map(\.rssi)) }
  }

  // MARK: Receiving

  /// Processes one complete packet from the controller, with its H4 type byte. Undecodable packets are ignored.
  package func receive(_ packet: RawSpan, at time: Instant) {
    guard packet.byte(at: 0) == HCIPacketType.event.rawValue else { return receiveCommand(packet) }
    var reader = ByteReader(packet.extracting(1..<packet.byteCount))
    guard let event = try? HCIEvent(parsing: &reader) else { return }
    switch event {
    case .commandComplete(var event):
      // The kernel manages the command credits: it queues the commands sent here.
      event.commandCredits = max(1, event.commandCredits)
      commands.receive(event)
    case .commandStatus(var event):
      event.commandCredits = max(1, event.commandCredits)
      commands.receive(event)
    case .leAdvertisingReports(let event):
      scan?.heard(at: time)
      for report in event.reports { onReport?(report, time) }
    case .leConnectionComplete(let event):
      if !event.isOfPeripheral { scan?.creationEnded() }
      guard event.status == .success else {
        if !event.isOfPeripheral { onLink?(.failed(event.peerAddress, event.status)) }
        return
      }
      onLink?(.connected(event.handle, event.peerAddress, event.role, event.parameters))
    case .leConnectionUpdateComplete(let event):
      guard event.status == .success else {
        onLink?(.parametersRefused(event.handle, event.status))
        return
      }
      onLink?(.parameters(event.handle, event.parameters))
    case .encryptionChange(let event):
      onLink?(.encryption(event.handle, event.status, isOn: event.encryption != .off))
    case .encryptionKeyRefreshComplete(let event):
      onLink?(.encryption(event.handle, event.status, isOn: event.status == .success))
    case .disconnectionComplete(let event):
      guard event.status == .success else { return }
      onLink?(.disconnected(event.handle, event.reason))
    default: break
    }
  }

  /// Another program has the controller reset, by HCIDEVRESET (hciconfig's "reset"). The kernel does not set it up again: its
  /// masks leave out LE, and the kernel counts no buffer, before it sees the answers about them. No program could scan, or use
  /// a link, until the adapter is switched off and on.
  private func setUpAgain() {
    commands.send(SetEventMask { $0.mask = [.afterReset, .encryptionKeyRefreshComplete, .leMeta] }) { _ in }
    commands.send(ReadBufferSize()) { _ in }
    commands.send(LEReadBufferSize()) { _ in }
    readFeatures { [commands] features in
      guard case .success(let features) = features else { return }
      commands.send(LESetEventMask { $0.mask = .host(features).union(.afterReset) }) { _ in }
    }
  }

  /// Handles a command from another sender; own commands are not received. It is seen before the controller executes
  /// it.
  private func receiveCommand(_ packet: RawSpan) {
    guard packet.byte(at: 0) == HCIPacketType.command.rawValue else { return }
    var reader = ByteReader(packet.extracting(1..<packet.byteCount))
    guard let opcode = try? reader.readUInt16(), (try? reader.skip(1)) != nil else { return }
    switch HCIOpcode(rawValue: opcode) {
    case Disconnect.opcode:
      guard let handle = try? ConnectionHandle(parsing: &reader), let reason = try? reader.readUInt8() else {
        return
      }
      onLink?(.ending(handle, HCIErrorCode(rawValue: reason)))
    case Reset.opcode:
      scan?.switchedOff()
      setUpAgain()
    case LESetScanParameters.opcode:
      scan?.ownerUses(extendedCommands: false)
      scan?.othersSet(ScanParameters(try? LESetScanParameters(parsing: &reader)))
    case LESetExtendedScanParameters.opcode:
      scan?.ownerUses(extendedCommands: true)
      scan?.othersSet(ScanParameters(try? LESetExtendedScanParameters(parsing: &reader)))
    // Both begin with whether the scan is to be on, and whether duplicates are filtered.
    case LESetScanEnable.opcode, LESetExtendedScanEnable.opcode:
      guard let isOn = try? reader.readUInt8(), let filter = try? reader.readUInt8() else { return }
      if isOn == 0 { scan?.switchedOff() } else { scan?.othersBegan(filtersDuplicates: filter != 0) }
    case LECreateConnection.opcode, LEExtendedCreateConnection.opcode:
      scan?.creationBegan()
      onLink?(.connecting)
    case LECreateConnectionCancel.opcode: onLink?(.connectionCancelled)
    default: break
    }
  }
}

extension ScanParameters {
  /// The scan parameters of another program; nil if its scan is not for all devices.
  fileprivate init?(_ command: LESetScanParameters?) {
    guard let command, command.filterPolicy == .acceptAll else { return nil }
    self.init(command.scan)
  }

  fileprivate init?(_ command: LESetExtendedScanParameters?) {
    guard let command, command.filterPolicy == .acceptAll, let scan = command.le1M ?? command.leCoded else {
      return nil
    }
    self.init(scan)
    includesCoded = command.leCoded != nil
  }

  private init(_ scan: PHYScanParameters) {
    self.init(isActive: scan.type == .active, interval: scan.interval, window: scan.window)
  }
}
