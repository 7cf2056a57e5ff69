import HCI
import HaloBluetoothCore

/// The advertisements of a controller's host.
struct VirtualAdvertising {
  /// An advertising set; the legacy commands have one, too.
  struct AdvertisingSet {
    var type: AdvertisingReport.EventType = []
    var interval = Duration.milliseconds(1280)
    var ownAddressType = OwnAddressType.public
    var randomAddress: BluetoothAddress?
    /// Who is called; nil for everybody.
    var target: BluetoothAddress?
    var sid: UInt8?
    /// Whether it is sent as often as possible, for a limited time.
    var hasHighDuty = false
    /// Whether only devices of the accept list may connect.
    var usesAcceptList = false
    var data: [UInt8] = []
    var scanResponse: [UInt8] = []
  }

  /// A set in the air.
  private struct Running {
    let address: BluetoothAddress
    /// Whether the controller has made the address.
    let isMade: Bool
    /// Who is called, at the address of this moment; nil for everybody.
    let target: BluetoothAddress?
    let times: AdvertisingTimes
    /// Counts the starts of all sets.
    let number: Int
  }

  /// The key of the set that the legacy commands configure. The handles of other sets end at 0xEF.
  static let legacy = UInt8.max

  var sets: [UInt8: AdvertisingSet] = [:]
  private var running: [UInt8: Running] = [:]
  private var starts = 0
  /// The address of the set that was started last.
  private(set) var lastAddress: BluetoothAddress?

  var isOn: Bool { !running.isEmpty }

  func isRunning(_ handle: UInt8) -> Bool { running[handle] != nil }

  /// Whether a start of a set is still in effect.
  func isRunning(_ handle: UInt8, since number: Int) -> Bool { running[handle]?.number == number }

  /// Whether it uses the random address of the controller, which must not change then (7.8.4).
  var usesRandomAddress: Bool { running[Self.legacy]?.address.kind == .random }

  // MARK: Packets on the air

  func nextEvent(after now: Instant) -> Instant? {
    running.values.map { $0.times.nextEvent(after: now) }.min()
  }

  /// The set with an event now; if there is none, the first one.
  private func handle(at now: Instant) -> UInt8? {
    let handles = running.keys.sorted()
    return handles.first { running[$0]?.times.nextEvent(after: now + .nanoseconds(-1)) == now }
      ?? handles.first
  }

  func address(at now: Instant) -> BluetoothAddress? {
    handle(at: now).flatMap { running[$0]?.address } ?? lastAddress
  }

  /// The address of the set that a central has answered now, if the controller has made it.
  func madeAddress(at now: Instant) -> BluetoothAddress? {
    handle(at: now).flatMap { running[$0] }.flatMap { $0.isMade ? $0.address : nil }
  }

  func advertisement(at now: Instant) -> RadioAdvertisement? {
    guard let handle = handle(at: now), let set = sets[handle] else { return nil }
    return RadioAdvertisement(
      set.type, data: set.data, scanResponse: set.scanResponse, target: running[handle]?.target,
      sid: set.sid)
  }

  func acceptsLink(
    from central: BluetoothAddress, at now: Instant, _ acceptList: Set<BluetoothAddress>
  ) -> Bool {
    guard let set = handle(at: now).flatMap({ sets[$0] }), set.type.contains(.connectable) else {
      return false
    }
    return !set.usesAcceptList || acceptList.contains(central)
  }

  // MARK: Start and end

  /// - Returns: the number of the start
  mutating func start(
    _ handle: UInt8, at address: BluetoothAddress, isMade: Bool, target: BluetoothAddress?,
    _ times: AdvertisingTimes
  ) -> Int {
    starts += 1
    running[handle] = Running(
      address: address, isMade: isMade, target: target, times: times, number: starts)
    lastAddress = address
    return starts
  }

  mutating func stop(_ handle: UInt8) { running[handle] = nil }

  mutating func stopAll() { running = [:] }

  /// A central has connected.
  ///
  /// - Returns: the set that has ended; nil for that of the legacy commands
  mutating func ended(at now: Instant) -> UInt8? {
    guard let handle = handle(at: now) else { return nil }
    running[handle] = nil
    return handle == Self.legacy ? nil : handle
  }
}

extension VirtualController {
  typealias Done = Result<NoReturnParameters, HCIErrorCode>

  /// The commands for advertising.
  static let advertisingCommands: [VirtualCommand] = [
    .complete(LESetAdvertisingParameters.self, .legacy) { controller, command in
      guard !controller.advertising.isOn else { return .failure(.commandDisallowed) }
      let types: [AdvertisingType: AdvertisingReport.EventType] = [
        .connectableUndirected: [.connectable, .scannable], .scannableUndirected: .scannable,
        .nonConnectableUndirected: [], .connectableDirectedHighDuty: [.connectable, .directed],
        .connectableDirectedLowDuty: [.connectable, .directed],
      ]
      guard let type = types[command.type] else { return .failure(.unsupportedFeatureOrParameterValue) }
      guard command.intervalMin.isLegal, command.intervalMax.isLegal,
        command.intervalMin <= command.intervalMax
      else { return .failure(.invalidCommandParameters) }
      return controller.configure(VirtualAdvertising.legacy) {
        $0.type = type.union(.legacy)
        $0.target = type.contains(.directed) ? command.peerAddress : nil
        $0.hasHighDuty = command.type == .connectableDirectedHighDuty
        $0.interval = command.intervalMax.duration
        $0.ownAddressType = command.ownAddressType
        $0.usesAcceptList = command.filterPolicy & 2 != 0
      }
    },
    .complete(LESetAdvertisingData.self, .legacy) { controller, command in
      controller.configure(VirtualAdvertising.legacy) { $0.data = command.data.bytes }
    },
    .complete(LESetScanResponseData.self, .legacy) { controller, command in
      controller.configure(VirtualAdvertising.legacy) { $0.scanResponse = command.data.bytes }
    },
    .complete(LESetAdvertisingEnable.self, .legacy) { controller, command in
      guard command.isEnabled else { return controller.stopAdvertising([VirtualAdvertising.legacy]) }
      return controller.startSet(VirtualAdvertising.legacy, for: .zero)
    },
    .complete(LESetExtendedAdvertisingParameters.self, .extended) { controller, command in
      guard !controller.advertising.isRunning(command.advertisingHandle) else {
        return .failure(.commandDisallowed)
      }
      let properties = command.properties
      let done = controller.configure(command.advertisingHandle) {
        $0.type = AdvertisingReport.EventType(rawValue: properties.rawValue & 0x17)
        $0.interval = .microseconds(Int64(command.intervalMax.steps.value) * AdvertisingInterval.step)
        $0.ownAddressType = command.ownAddressType
        $0.target = properties.contains(.directed) ? command.peerAddress : nil
        $0.hasHighDuty = properties.contains(.directedHighDuty)
        $0.sid = properties.contains(.legacy) ? nil : command.sid
        $0.usesAcceptList = command.filterPolicy & 2 != 0
      }
      return done.map { _ in .init() }
    },
    .complete(LESetAdvertisingSetRandomAddress.self, .version5) { controller, command in
      // It must not change while a central may answer it (7.8.52).
      let isConnectable = controller.advertising.sets[command.advertisingHandle]?.type.contains(.connectable)
      guard isConnectable != true || !controller.advertising.isRunning(command.advertisingHandle) else {
        return .failure(.commandDisallowed)
      }
      return controller.change(command.advertisingHandle) { $0.randomAddress = command.address }
    },
    .complete(LESetExtendedAdvertisingData.self, .extended) { controller, command in
      controller.change(command.advertisingHandle) { $0.data = joined($0.data, command) }
    },
    .complete(LESetExtendedScanResponseData.self, .extended) { controller, command in
      controller.change(command.advertisingHandle) { $0.scanResponse = joined($0.scanResponse, command) }
    },
    .complete(LESetExtendedAdvertisingEnable.self, .extended) { controller, command in
      guard command.isEnabled else { return controller.stopAdvertising(command.sets.map(\.handle)) }
      guard !command.sets.isEmpty else { return .failure(.invalidCommandParameters) }
      for set in command.sets {
        // A high duty has a limit (7.8.56).
        let isLimited = set.duration.rawValue > 0
        if controller.advertising.sets[set.handle]?.hasHighDuty == true, !isLimited {
          return .failure(.invalidCommandParameters)
        }
        let done = controller.startSet(set.handle, for: set.duration.duration)
        if case .failure = done { return done }
      }
      return .success(.init())
    },
    .constant(LEReadMaximumAdvertisingDataLength.self, .version5) { $0.length = maximumDataLength },
    .constant(LEReadNumberOfSupportedAdvertisingSets.self, .version5) { $0.count = UInt8(maximumSets) },
    .complete(LERemoveAdvertisingSet.self, .extended) { controller, command in
      guard !controller.advertising.isRunning(command.advertisingHandle) else {
        return .failure(.commandDisallowed)
      }
      let set = controller.advertising.sets.removeValue(forKey: command.advertisingHandle)
      return set == nil ? .failure(.unknownAdvertisingIdentifier) : .success(.init())
    },
    .complete(LEClearAdvertisingSets.self, .extended) { controller, _ in
      guard !controller.advertising.isOn else { return .failure(.commandDisallowed) }
      controller.advertising.sets = [:]
      return .success(.init())
    },
  ]

  private static let maximumDataLength: UInt16 = 1650
  /// How many sets the host may have.
  private static let maximumSets = 4

  /// The data with a fragment: the first one and whole data replace the earlier data.
  private static func joined(_ data: [UInt8], _ command: some HCIAdvertisingDataFields) -> [UInt8] {
    switch command.operation {
    case 0, 2: Array((data + command.data).prefix(Int(maximumDataLength)))
    case 4: data
    default: command.data
    }
  }

  /// Changes a set, and makes it if there is none.
  private func configure(
    _ handle: UInt8, _ change: (inout VirtualAdvertising.AdvertisingSet) -> Void
  ) -> Done {
    let isNew = advertising.sets[handle] == nil
    guard !isNew || advertising.sets.count < Self.maximumSets else {
      return .failure(.memoryCapacityExceeded)
    }
    change(&advertising.sets[handle, default: .init()])
    return .success(.init())
  }

  /// Changes a set.
  private func change(_ handle: UInt8, _ change: (inout VirtualAdvertising.AdvertisingSet) -> Void) -> Done {
    guard advertising.sets[handle] != nil else { return .failure(.unknownAdvertisingIdentifier) }
    return configure(handle, change)
  }

  /// - Parameter duration: zero for no limit
  private func startSet(_ handle: UInt8, for duration: Duration) -> Done {
    guard let set = advertising.sets[handle] else { return .failure(.unknownAdvertisingIdentifier) }
    guard !options.cannotInitiateWhileAdvertising || initiation == nil else {
      return .failure(.commandDisallowed)
    }
    if options.cannotScanWhileAdvertising, scan.isOn { return .failure(.commandDisallowed) }
    let made = madeAddress(set.ownAddressType, for: set.target)
    var address = made ?? options.address
    if made == nil, set.ownAddressType.rawValue & 1 == 1 {
      let random = handle == VirtualAdvertising.legacy ? randomAddress : set.randomAddress
      guard let random else { return .failure(.invalidCommandParameters) }
      address = random
    }
    // A device that changes its address is called at one that is made for it.
    let isMadeForTarget = set.ownAddressType.rawValue & 2 == 2
    let cipher = isMadeForTarget ? set.target.flatMap { resolvingList[$0]?.peer } : nil
    let target = cipher.flatMap { makeAddress($0) } ?? set.target
    let interval = set.hasHighDuty ? .milliseconds(20) : set.interval
    let number = advertising.start(
      handle, at: address, isMade: made != nil, target: target,
      AdvertisingTimes(seed: options.seed &+ UInt64(handle), interval: interval, start: timers.now))
    let limit = handle == VirtualAdvertising.legacy && set.hasHighDuty ? Self.highDutyTime : duration
    if limit > .zero {
      later(limit) { $0.expire(handle, number, set.hasHighDuty) }
    }
    medium.advertisingChanged(self)
    return .success(.init())
  }

  private static let highDutyTime = Duration.milliseconds(1280)

  /// The time of a set is over (7.8.9, 7.8.56).
  private func expire(_ handle: UInt8, _ number: Int, _ hadHighDuty: Bool) {
    guard advertising.isRunning(handle, since: number) else { return }
    advertising.stop(handle)
    if hadHighDuty {
      sendConnectionComplete(
        .advertisingTimeout, ConnectionHandle(), .zero, LinkParameters(), role: .peripheral)
    }
    guard handle != VirtualAdvertising.legacy else { return }
    send(
      .leAdvertisingSetTerminated(
        LEAdvertisingSetTerminated {
          $0.status = .advertisingTimeout
          $0.advertisingHandle = handle
        }))
  }

  /// - Parameter handles: none for all
  private func stopAdvertising(_ handles: [UInt8]) -> Done {
    if handles.isEmpty { advertising.stopAll() }
    for handle in handles { advertising.stop(handle) }
    return .success(.init())
  }
}
