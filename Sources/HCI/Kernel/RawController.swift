import BluetoothCore

/// A controller that the kernel's host drives, and that we look at and give commands to beside it. Links and data are
/// the kernel's business; scanning is ours, and what happens to links is seen from the controller's events.
///
/// It does no I/O: packets come in through ``receive(_:at:)`` and go out through the closure given at the start.
/// Commands are matched with their own answers; two programs that give the same command at the same time can't tell
/// theirs apart, which is in the nature of the raw channel.
public final class RawController {
  /// What is asked of the controller at the start.
  public struct Information: Hashable, Sendable {
    public var version: ReadLocalVersionInformation.Response
    public var usesExtendedScan: Bool
  }

  /// What the controller reports of a link, whoever has made it.
  public enum LinkNews: Hashable, Sendable {
    case connected(ConnectionHandle, BluetoothAddress, LinkParameters)
    /// A link that did not come about. Which one, not every controller says.
    case failed(BluetoothAddress, HCIErrorCode)
    case parameters(ConnectionHandle, LinkParameters)
    /// A change of parameters that did not come about, whoever has asked for it.
    case parametersRefused(ConnectionHandle, HCIErrorCode)
    case disconnected(ConnectionHandle, HCIErrorCode)
    /// The kernel, or another program, has told the controller to end a link, and with which reason.
    case ending(ConnectionHandle, HCIErrorCode)
    /// The kernel, or another program, has told the controller to make a link.
    case connecting
    /// The kernel, or another program, has told the controller to make no link any more.
    case connectionCancelled
  }

  /// What a socket has to deliver for this.
  public static let filter = HCIFilter(
    types: [.event, .command], events: [.commandComplete, .commandStatus, .disconnectionComplete, .leMeta])

  /// What is asked and ordered here. Other commands on such a controller are the kernel's, or another program's.
  static let opcodes: Set<HCIOpcode> = [
    ReadLocalVersionInformation.opcode, ReadLocalSupportedCommands.opcode,
    LEReadLocalSupportedFeatures.opcode,
    LESetScanParameters.opcode, LESetScanEnable.opcode, LESetExtendedScanParameters.opcode,
    LESetExtendedScanEnable.opcode, LEConnectionUpdate.opcode, ReadRSSI.opcode, Disconnect.opcode,
  ]

  /// Called for each advertising report, whoever scans.
  public var onReport: ((AdvertisingReport, Instant) -> Void)?
  /// Called when the controller refuses to scan.
  public var onScanFailure: ((HCIError) -> Void)?
  /// Called when something happens to a link.
  public var onLink: ((LinkNews) -> Void)?
  /// Called once, when the controller does not answer any more.
  public var onFailure: ((HCIError) -> Void)?

  private let commands: CommandQueue
  private let ownAddressType: OwnAddressType
  private var scan: ScanController?
  private var desiredScan: ScanParameters?

  /// - Parameters:
  ///   - ownAddressType: `.random` where the controller has no public address; the kernel has set one then
  ///   - send: takes a packet for the controller; the span is valid only during the call
  public init(timers: Timers, ownAddressType: OwnAddressType = .public, send: @escaping (RawSpan) -> Void) {
    self.ownAddressType = ownAddressType
    commands = CommandQueue(timers: timers, send: send)
    commands.onTimeout = { [weak self] error in self?.onFailure?(error) }
  }

  /// Finds out what the controller can do. Nothing is reset: it is not ours.
  ///
  /// - Parameter completion: called exactly once, after ``HostController/commandDeadline`` for each of two commands
  ///   at the latest
  public func initialize(completion: @escaping (Result<Information, HCIError>) -> Void) {
    commands.send(ReadLocalVersionInformation()) { [commands] version in
      commands.send(ReadLocalSupportedCommands()) { [weak self] supported in
        completion(
          version.flatMap { version in
            supported.map { supported in
              self?.adopt(supported)
              return Information(version: version, usesExtendedScan: supported.haveExtendedScan)
            }
          })
      }
    }
  }

  private func adopt(_ supported: SupportedCommands) {
    let scan = ScanController(
      commands, usesExtendedCommands: supported.haveExtendedScan, ownAddressType: ownAddressType,
      isShared: true)
    scan.onFailure = { [weak self] error in
      self?.desiredScan = nil
      self?.onScanFailure?(error)
    }
    self.scan = scan
    scan.setDesired(desiredScan)
  }

  /// Reads what the controller's link layer can do.
  public func readFeatures(completion: @escaping (Result<LEFeatures, HCIError>) -> Void) {
    commands.send(LEReadLocalSupportedFeatures()) { completion($0.map(\.features)) }
  }

  /// Fails what is open, and everything to come.
  public func fail(_ error: HCIError) {
    scan = nil
    commands.fail(error)
  }

  // MARK: Scanning

  /// Wishes for a scan, or for none (nil).
  public func setScan(_ parameters: ScanParameters?) {
    desiredScan = parameters
    scan?.setDesired(parameters)
  }

  /// Stops scanning until ``resumeScan()``, and says when it has stopped: the kernel can't connect meanwhile.
  public func pauseScan(then action: @escaping () -> Void) {
    if let scan { scan.pause(then: action) } else { action() }
  }

  public func resumeScan() {
    scan?.resume()
  }

  // MARK: Links

  /// Ends a link at once; the kernel would keep it for two seconds after its last user.
  public func disconnect(_ handle: ConnectionHandle) {
    commands.send(Disconnect(handle: handle)) { _ in }
  }

  /// Reads other parameters of a link. What comes of it is told by ``onLink``.
  ///
  /// - Parameter completion: called exactly once, when the controller has begun or refused
  public func update(
    _ handle: ConnectionHandle, to parameters: ConnectionParameters,
    completion: @escaping (Result<Void, HCIError>) -> Void
  ) {
    commands.send(
      LEConnectionUpdate {
        $0.handle = handle
        $0.parameters = parameters
      }, completion: completion)
  }

  /// Reads the signal strength of a link in dBm; nil if unavailable.
  public func readRSSI(_ handle: ConnectionHandle, completion: @escaping (Result<Int8?, HCIError>) -> Void) {
    commands.send(ReadRSSI(handle: handle)) { completion($0.map(\.rssi)) }
  }

  // MARK: Receiving

  /// Takes one whole packet from the controller, with its H4 type byte. What can't be read is left to the kernel.
  public func receive(_ packet: RawSpan, at time: Instant) {
    guard packet.byte(at: 0) == HCIPacketType.event.rawValue else { return receiveCommand(packet) }
    var reader = ByteReader(packet.extracting(1..<packet.byteCount))
    guard let event = try? HCIEvent(parsing: &reader) else { return }
    switch event {
    case .commandComplete(var event):
      // The budget is the kernel's: it queues what is sent here.
      event.commandCredits = max(1, event.commandCredits)
      commands.receive(event)
    case .commandStatus(var event):
      event.commandCredits = max(1, event.commandCredits)
      commands.receive(event)
    case .leAdvertisingReports(let event): for report in event.reports { onReport?(report, time) }
    case .leConnectionComplete(let event):
      guard event.status == .success else {
        onLink?(.failed(event.peerAddress, event.status))
        return
      }
      guard event.role == .central else { return }
      onLink?(.connected(event.handle, event.peerAddress, event.parameters))
    case .leConnectionUpdateComplete(let event):
      guard event.status == .success else {
        onLink?(.parametersRefused(event.handle, event.status))
        return
      }
      onLink?(.parameters(event.handle, event.parameters))
    case .disconnectionComplete(let event):
      guard event.status == .success else { return }
      onLink?(.disconnected(event.handle, event.reason))
    default: break
    }
  }

  /// Takes a command that is not ours; our own are not shown to us. It is seen before the controller acts upon it.
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
    case LECreateConnection.opcode, LEExtendedCreateConnection.opcode: onLink?(.connecting)
    case LECreateConnectionCancel.opcode: onLink?(.connectionCancelled)
    default: break
    }
  }
}
