import HCI
import HaloBluetoothCore

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
    /// A device may send advertisements of several kinds.
    var type: AdvertisingReport.EventType
  }
}

/// A connection that the host has requested.
struct Initiation {
  /// Nil for any device in the accept list.
  var peer: BluetoothAddress?
  var parameters: ConnectionParameters
  /// The address that the peer sees.
  var ownAddress: BluetoothAddress
  /// Whether the controller has made it.
  var isMade = false
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
      // This controller has no LE Coded.
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
      $0.initiate($1.peer, $1.parameters, own: $1.ownAddressType)
    },
    .begin(LEExtendedCreateConnection.self, .extended) { controller, command in
      guard let le1M = command.le1M else { return .unsupportedFeatureOrParameterValue }
      return controller.checkInitiation(command.peer, le1M.parameters, own: command.ownAddressType)
    } then: { controller, command in
      guard let le1M = command.le1M else { return }
      controller.initiate(command.peer, le1M.parameters, own: command.ownAddressType)
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
    if !isEnabled, !scan.isOn, options.refusesIdleScanDisable { return .failure(.commandDisallowed) }
    stopScan()
    guard isEnabled else { return .success(.init()) }
    if options.cannotScanWhileAdvertising, advertising.isOn { return .failure(.commandDisallowed) }
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

  // MARK: Advertising events of others

  private func listen() {
    for place in reach { listen(to: place) }
  }

  func listen(to device: any SimulatedDevice) {
    if let place = place(of: device) { listen(to: place) }
  }

  /// Waits for the next advertisement of a device, as long as the host scans or connects and the device advertises.
  private func listen(to place: DeviceInReach) {
    guard place.advertisingTimer == nil, scan.isOn || initiation != nil, place.link == nil, !place.isGone,
      let event = place.device.nextAdvertisement(after: timers.now)
    else { return }
    place.advertisingTimer = timers.schedule(at: event) { [weak self, weak place] in
      guard let self, let place else { return }
      place.advertisingTimer = nil
      hear(place)
      listen(to: place)
    }
  }

  private func hear(_ place: DeviceInReach) {
    let device = place.device
    guard place.link == nil, let advertisement = device.advertisement else { return }
    guard !resolvingList.ignores(device.address) else { return }
    // The address that stays of a device that is known.
    let address = resolvingList.device(at: device.address)?.identity ?? device.address
    // Scanners before Bluetooth 5 receive legacy PDUs only.
    if scan.isOn, advertisement.target.map({ isOwn($0) }) ?? true,
      !scan.usesAcceptList || acceptList.contains(address),
      scan.isExtended || advertisement.type.contains(.legacy)
    {
      report(device, advertisement, advertisement.type, advertisement.data)
      if scan.isActive, advertisement.type.contains(.scannable), let response = advertisement.scanResponse {
        report(device, advertisement, responseType(advertisement.type), response)
      }
    }
    guard let wanted = initiation, advertisement.type.contains(.connectable),
      wanted.peer.map({ $0.plain == address }) ?? acceptList.contains(address),
      advertisement.target.map({ $0 == wanted.ownAddress || wanted.isMade && resolvingList.isOwn($0) })
        ?? true,
      device.acceptsLink(from: wanted.ownAddress)
    else { return }
    connect(place, wanted)
  }

  private func isOwn(_ address: BluetoothAddress) -> Bool {
    address == options.address || address == randomAddress || resolvingList.isOwn(address)
  }

  /// An extended report also has a bit for a connectable advertiser; a legacy one has none.
  private func responseType(_ type: AdvertisingReport.EventType) -> AdvertisingReport.EventType {
    (scan.isExtended ? type : type.subtracting(.connectable)).union(.scanResponse)
  }

  private func report(
    _ device: any SimulatedDevice, _ advertisement: RadioAdvertisement, _ type: AdvertisingReport.EventType,
    _ data: [UInt8]
  ) {
    let address = resolvingList.device(at: device.address)?.identity.resolved ?? device.address
    guard scan.isOn,
      scan.reported.insert(.init(address: address, type: type)).inserted
        || !scan.filtersDuplicates
    else { return }
    var report = AdvertisingReport(
      address: address, eventType: type, rssi: device.rssi, advertisingSID: advertisement.sid,
      directAddress: advertisement.target, data: data)
    let form: AdvertisingReports.Form = scan.isExtended ? .extended : .legacy
    // An event has room for a part.
    for start in stride(from: 0, to: max(1, data.count), by: AdvertisingReports.largestData) {
      let end = min(start + AdvertisingReports.largestData, data.count)
      report.data = Array(data[start..<end])
      report.dataStatus = end < data.count ? .incomplete : .complete
      send(.leAdvertisingReports(AdvertisingReports(form, [report])))
    }
  }

  // MARK: Initiating

  private func checkInitiation(
    _ peer: BluetoothAddress?, _ parameters: ConnectionParameters, own: OwnAddressType
  ) -> HCIErrorCode {
    guard initiation == nil else { return .commandDisallowed }
    guard !options.cannotInitiateWhileAdvertising || !advertising.isOn else {
      return .connectionRejectedLimitedResources
    }
    guard parameters.isLegal, own.rawValue & 1 == 0 || randomAddress != nil else {
      return .invalidCommandParameters
    }
    let isConnected = reach.contains { $0.link != nil && $0.device.address == peer }
    return isConnected ? .connectionAlreadyExists : .success
  }

  private func initiate(_ peer: BluetoothAddress?, _ parameters: ConnectionParameters, own: OwnAddressType) {
    let made = madeAddress(own, for: peer)
    initiation = Initiation(
      peer: peer, parameters: parameters, ownAddress: made ?? ownAddress(own), isMade: made != nil)
    listen()
  }

  /// The address that the host has chosen for its own.
  func ownAddress(_ type: OwnAddressType) -> BluetoothAddress {
    type.rawValue & 1 == 0 ? options.address : randomAddress ?? options.address
  }

  private func reportCancelled() {
    sendConnectionComplete(
      .unknownConnectionIdentifier, ConnectionHandle(), .zero, LinkParameters())
  }

  /// A device has answered: the link exists.
  private func connect(_ place: DeviceInReach, _ wanted: Initiation) {
    initiation = nil
    let parameters = wanted.parameters
    let link = SimulatedLink(
      self, at: wanted.ownAddress, place.device,
      parameters: LinkParameters(
        interval: parameters.intervalMax, latency: parameters.latency,
        supervisionTimeout: parameters.supervisionTimeout), timers: timers)
    place.link = link
    sendConnectionComplete(
      .success, place.handle, place.device.address, link.parameters,
      own: wanted.isMade ? wanted.ownAddress : nil)
    place.device.connected(link)
    if link.isDead {
      // Six connection events without a packet (Vol 6, Part B, 4.5.2).
      link.afterEvents(6) {
        $0.end(.connectionFailedToBeEstablished, .connectionFailedToBeEstablished)
      }
    }
  }

  /// Sends the one form of the event that the host has enabled.
  ///
  /// - Parameters:
  ///   - peer: its address on the air
  ///   - own: the address that the controller has made for this side; nil if it uses another one
  func sendConnectionComplete(
    _ status: HCIErrorCode, _ handle: ConnectionHandle, _ peer: BluetoothAddress,
    _ parameters: LinkParameters, own: BluetoothAddress? = nil, role: LERole = .central
  ) {
    let known = resolvingList.device(at: peer)?.identity
    send(
      .leConnectionComplete(
        LEConnectionComplete {
          $0.form = leEventMask.contains(.enhancedConnectionComplete) ? .enhanced : .plain
          $0.status = status
          $0.handle = handle
          $0.role = role
          $0.peerAddress = known?.resolved ?? peer
          $0.localResolvableAddress = own
          $0.peerResolvableAddress = known == nil ? nil : peer
          $0.parameters = parameters
        }))
  }
}
