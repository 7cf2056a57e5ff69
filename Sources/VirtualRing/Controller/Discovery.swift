import BluetoothCore
import HCI

/// The scan that the host has enabled.
struct Scan {
  var isOn = false
  var isActive = false
  var isExtended = false
  var filtersDuplicates = false
  var usesAcceptList = false
  /// The reports that were sent already.
  var reported: Set<Report> = []
  var timeout: Timers.Token?

  struct Report: Hashable {
    var address: BluetoothAddress
    var isResponse: Bool
  }
}

/// A connection that the host has requested.
struct Initiation {
  /// Nil for any device in the accept list.
  var peer: BluetoothAddress?
  var parameters: ConnectionParameters
}

extension LECreateConnection {
  /// Nil for any device in the accept list.
  fileprivate var peer: BluetoothAddress? { filterPolicy == .peerAddress ? peerAddress : nil }
}

extension LEExtendedCreateConnection {
  /// Nil for any device in the accept list.
  fileprivate var peer: BluetoothAddress? { filterPolicy == .peerAddress ? peerAddress : nil }
}

extension VirtualController {
  /// Scanning, initiating and the accept list.
  static let discoveryCommands: [VirtualCommand] = [
    .complete(LESetScanParameters.self, .legacy) { controller, command in
      let scan = command.scan
      let isLegal = scan.interval.isLegal && scan.window.isLegal && scan.window <= scan.interval
      return controller.configureScan(
        isLegal: isLegal && scan.type.rawValue <= 1, scan.type, command.filterPolicy)
    },
    .complete(LESetExtendedScanParameters.self, .extended) { controller, command in
      // Rings advertise on LE 1M, and this controller has no LE Coded.
      guard let scan = command.le1M, command.leCoded == nil else {
        return .failure(.unsupportedFeatureOrParameterValue)
      }
      return controller.configureScan(
        isLegal: scan.window <= scan.interval && scan.type.rawValue <= 1, scan.type, command.filterPolicy)
    },
    .complete(LESetScanEnable.self, .legacy) {
      $0.enableScan($1.isEnabled, filtersDuplicates: $1.filtersDuplicates, isExtended: false)
    },
    .complete(LESetExtendedScanEnable.self, .extended) { controller, command in
      let result = controller.enableScan(
        command.isEnabled, filtersDuplicates: command.duplicates != .off, isExtended: true)
      if case .success = result, command.isEnabled, command.duration.rawValue > 0 {
        controller.scan.timeout = controller.later(command.duration.duration) {
          $0.stopScan()
          $0.send(.leScanTimeout)
        }
      }
      return result
    },
    .begin(LECreateConnection.self, .legacy) {
      $0.checkInitiation($1.peer, $1.parameters, own: $1.ownAddressType)
    } then: {
      $0.initiate($1.peer, $1.parameters)
    },
    .begin(LEExtendedCreateConnection.self, .extended) { controller, command in
      guard let le1M = command.le1M else { return .unsupportedFeatureOrParameterValue }
      return controller.checkInitiation(command.peer, le1M.parameters, own: command.ownAddressType)
    } then: { controller, command in
      if let le1M = command.le1M { controller.initiate(command.peer, le1M.parameters) }
    },
    .complete(LECreateConnectionCancel.self, then: { $0.reportCancelled() }) { controller, _ in
      guard controller.initiation != nil else { return .failure(.commandDisallowed) }
      controller.initiation = nil
      return .success(.init())
    },
    .complete(LEClearFilterAcceptList.self) { controller, _ in
      guard !controller.acceptListIsInUse else { return .failure(.commandDisallowed) }
      controller.acceptList = []
      return .success(.init())
    },
    .complete(LEAddDeviceToFilterAcceptList.self) { controller, command in
      guard !controller.acceptListIsInUse else { return .failure(.commandDisallowed) }
      let list = controller.acceptList
      guard list.contains(command.address) || list.count < Int(acceptListSize) else {
        return .failure(.memoryCapacityExceeded)
      }
      controller.acceptList.insert(command.address)
      return .success(.init())
    },
    .complete(LERemoveDeviceFromFilterAcceptList.self) { controller, command in
      guard !controller.acceptListIsInUse else { return .failure(.commandDisallowed) }
      controller.acceptList.remove(command.address)
      return .success(.init())
    },
  ]

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

  // MARK: The rings' advertising events

  private func listen() {
    for ring in rings { listen(to: ring) }
  }

  /// Waits for the next advertisement of a ring, as long as the host scans or connects and the ring advertises.
  func listen(to ring: RingInReach) {
    guard ring.advertisingTimer == nil, scan.isOn || initiation != nil, ring.link == nil else { return }
    guard !ring.isSwitchedOff else { return }
    ring.advertisingTimer = timers.schedule(at: ring.radio.nextEvent(after: timers.now)) {
      [weak self, weak ring] in
      guard let self, let ring else { return }
      ring.advertisingTimer = nil
      hear(ring)
      listen(to: ring)
    }
  }

  private func hear(_ ring: RingInReach) {
    guard ring.link == nil else { return }
    let address = ring.options.address
    if scan.isOn, !scan.usesAcceptList || acceptList.contains(address) {
      report(ring, [.legacy, .connectable, .scannable], ring.radio.advertisement)
      if scan.isActive { report(ring, scanResponseType, ring.radio.scanResponse) }
    }
    guard let wanted = initiation, !ring.options.faults.ignoresConnections else { return }
    if wanted.peer.map({ $0 == address }) ?? acceptList.contains(address) {
      connect(ring, wanted.parameters)
    }
  }

  /// An extended report also has a bit for a connectable advertiser; a legacy one has none.
  private var scanResponseType: AdvertisingReport.EventType {
    scan.isExtended
      ? [.legacy, .connectable, .scannable, .scanResponse] : [.legacy, .scannable, .scanResponse]
  }

  private func report(_ ring: RingInReach, _ type: AdvertisingReport.EventType, _ data: [UInt8]) {
    let address = ring.options.address
    let isResponse = type.contains(.scanResponse)
    guard scan.isOn,
      scan.reported.insert(.init(address: address, isResponse: isResponse)).inserted
        || !scan.filtersDuplicates
    else { return }
    let report = AdvertisingReport(address: address, eventType: type, rssi: ring.options.rssi, data: data)
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
    let isConnected = rings.contains { $0.link != nil && $0.options.address == peer }
    return isConnected ? .connectionAlreadyExists : .success
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
