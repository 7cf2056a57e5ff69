import BluetoothCore
import HCI

/// The scan that the host has enabled.
struct Scan {
  var isOn = false
  var isActive = false
  var isExtended = false
  var filtersDuplicates = false
  var usesAcceptList = false
  /// The kinds of report that were sent already: 0 advertisement, 1 scan response.
  var reported: Set<Int> = []
  var timeout: Timers.Token?
}

/// A connection that the host has requested.
struct Initiation {
  /// Nil for any device in the accept list.
  var peer: BluetoothAddress?
  var parameters: ConnectionParameters
}

extension VirtualController {
  /// Scanning, initiating and the accept list.
  func carryOutDiscovery(_ opcode: HCIOpcode, _ reader: inout ByteReader) -> Bool {
    switch opcode {
    case LESetScanParameters.opcode:
      complete(LESetScanParameters.self, &reader) { command in
        let scan = command.scan
        let isLegal = scan.interval.isLegal && scan.window.isLegal && scan.window <= scan.interval
        return configureScan(isLegal: isLegal && scan.type.rawValue <= 1, scan.type, command.filterPolicy)
      }
    case LESetExtendedScanParameters.opcode:
      complete(LESetExtendedScanParameters.self, &reader) { command in
        // The ring advertises on LE 1M, and this controller has no LE Coded.
        guard let scan = command.le1M, command.leCoded == nil else {
          return .failure(.unsupportedFeatureOrParameterValue)
        }
        return configureScan(
          isLegal: scan.window <= scan.interval && scan.type.rawValue <= 1, scan.type, command.filterPolicy)
      }
    case LESetScanEnable.opcode:
      complete(LESetScanEnable.self, &reader) {
        enableScan($0.isEnabled, filtersDuplicates: $0.filtersDuplicates, isExtended: false)
      }
    case LESetExtendedScanEnable.opcode:
      complete(LESetExtendedScanEnable.self, &reader) { command in
        let result = enableScan(
          command.isEnabled, filtersDuplicates: command.duplicates != .off, isExtended: true)
        if case .success = result, command.isEnabled, command.duration.rawValue > 0 {
          scan.timeout = later(command.duration.duration) {
            $0.stopScan()
            $0.send(.leScanTimeout)
          }
        }
        return result
      }
    case LECreateConnection.opcode:
      begin(LECreateConnection.self, &reader) { command in
        let peer = command.filterPolicy == .peerAddress ? command.peerAddress : nil
        return checkInitiation(peer, command.parameters, own: command.ownAddressType)
      } then: {
        $0.initiate($1.filterPolicy == .peerAddress ? $1.peerAddress : nil, $1.parameters)
      }
    case LEExtendedCreateConnection.opcode:
      begin(LEExtendedCreateConnection.self, &reader) { command in
        guard let le1M = command.le1M else { return .unsupportedFeatureOrParameterValue }
        let peer = command.filterPolicy == .peerAddress ? command.peerAddress : nil
        return checkInitiation(peer, le1M.parameters, own: command.ownAddressType)
      } then: { controller, command in
        guard let le1M = command.le1M else { return }
        controller.initiate(
          command.filterPolicy == .peerAddress ? command.peerAddress : nil, le1M.parameters)
      }
    case LECreateConnectionCancel.opcode:
      complete(
        LECreateConnectionCancel.self, &reader, then: { $0.reportCancelled() }
      ) { _ in
        guard initiation != nil else { return .failure(.commandDisallowed) }
        initiation = nil
        return .success(.init())
      }
    case LEClearFilterAcceptList.opcode:
      complete(LEClearFilterAcceptList.self, &reader) { _ in
        guard !acceptListIsInUse else { return .failure(.commandDisallowed) }
        acceptList = []
        return .success(.init())
      }
    case LEAddDeviceToFilterAcceptList.opcode:
      complete(LEAddDeviceToFilterAcceptList.self, &reader) {
        guard !acceptListIsInUse else { return .failure(.commandDisallowed) }
        guard acceptList.contains($0.address) || acceptList.count < Int(Self.acceptListSize) else {
          return .failure(.memoryCapacityExceeded)
        }
        acceptList.insert($0.address)
        return .success(.init())
      }
    case LERemoveDeviceFromFilterAcceptList.opcode:
      complete(LERemoveDeviceFromFilterAcceptList.self, &reader) {
        guard !acceptListIsInUse else { return .failure(.commandDisallowed) }
        acceptList.remove($0.address)
        return .success(.init())
      }
    default: return false
    }
    return true
  }

  /// While the list is in use, it must not change (7.8.15 to 7.8.17).
  private var acceptListIsInUse: Bool {
    scan.isOn && scan.usesAcceptList || initiation.map { $0.peer == nil } ?? false
  }

  // MARK: Scanning

  private func configureScan(
    isLegal: Bool, _ type: ScanType, _ policy: ScanFilterPolicy
  ) -> Result<NoReturnParameters, HCIErrorCode> {
    guard !scan.isOn else { return .failure(.commandDisallowed) }
    guard isLegal else { return .failure(.invalidCommandParameters) }
    scan.isActive = type == .active
    scan.usesAcceptList = policy.rawValue & 1 == 1
    return .success(.init())
  }

  private func enableScan(
    _ isEnabled: Bool, filtersDuplicates: Bool, isExtended: Bool
  ) -> Result<NoReturnParameters, HCIErrorCode> {
    if !isEnabled, !scan.isOn, options.faults.refusesIdleScanDisable { return .failure(.commandDisallowed) }
    stopScan()
    guard isEnabled else { return .success(.init()) }
    scan.isOn = true
    scan.isExtended = isExtended
    scan.filtersDuplicates = filtersDuplicates
    listen()
    return .success(.init())
  }

  func stopScan() {
    timers.cancel(scan.timeout)
    scan.timeout = nil
    scan.isOn = false
    scan.reported = []
  }

  // MARK: The ring's advertising events

  /// Waits for the next advertisement, as long as the host scans or connects and a ring advertises.
  func listen() {
    guard advertisingTimer == nil, scan.isOn || initiation != nil, link == nil else { return }
    guard !isSwitchedOff else { return }
    advertisingTimer = timers.schedule(at: radio.nextEvent(after: timers.now)) { [weak self] in
      guard let self else { return }
      advertisingTimer = nil
      hear()
      listen()
    }
  }

  private func hear() {
    guard link == nil else { return }
    if scan.isOn, !scan.usesAcceptList || acceptList.contains(options.address) {
      report(0, [.legacy, .connectable, .scannable], radio.advertisement)
      if scan.isActive { report(1, scanResponseType, radio.scanResponse) }
    }
    guard let wanted = initiation else { return }
    if wanted.peer.map({ $0 == options.address }) ?? acceptList.contains(options.address) {
      connect(wanted.parameters)
    }
  }

  /// An extended report also has a bit for a connectable advertiser; a legacy one has none.
  private var scanResponseType: AdvertisingReport.EventType {
    scan.isExtended
      ? [.legacy, .connectable, .scannable, .scanResponse] : [.legacy, .scannable, .scanResponse]
  }

  private func report(_ kind: Int, _ type: AdvertisingReport.EventType, _ data: [UInt8]) {
    guard scan.isOn, scan.reported.insert(kind).inserted || !scan.filtersDuplicates else { return }
    let report = AdvertisingReport(
      address: options.address, eventType: type, rssi: options.rssi, data: data)
    send(.leAdvertisingReports(AdvertisingReports(scan.isExtended ? .extended : .legacy, [report])))
  }

  // MARK: Initiating

  private func checkInitiation(
    _ peer: BluetoothAddress?, _ parameters: ConnectionParameters, own: OwnAddressType
  ) -> HCIErrorCode {
    guard initiation == nil else { return .commandDisallowed }
    guard parameters.isLegal, own.rawValue & 1 == 0 || randomAddress != nil else {
      return .invalidCommandParameters
    }
    return link != nil && peer == options.address ? .connectionAlreadyExists : .success
  }

  private func initiate(_ peer: BluetoothAddress?, _ parameters: ConnectionParameters) {
    initiation = Initiation(peer: peer, parameters: parameters)
    listen()
  }

  private func reportCancelled() {
    sendConnectionComplete(
      .unknownConnectionIdentifier, ConnectionHandle(), .zero, LinkParameters())
  }

  /// Sends the one form of the event that the host has enabled.
  func sendConnectionComplete(
    _ status: HCIErrorCode, _ handle: ConnectionHandle, _ peer: BluetoothAddress,
    _ parameters: LinkParameters
  ) {
    send(
      .leConnectionComplete(
        LEConnectionComplete {
          $0.form = leEventMask.contains(.enhancedConnectionComplete) ? .enhanced : .plain
          $0.status = status
          $0.handle = handle
          $0.peerAddress = peer
          $0.parameters = parameters
        }))
  }
}
