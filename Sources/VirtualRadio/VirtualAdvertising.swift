import HCI
import HaloBluetoothCore

/// What the host of a controller advertises. One advertising set is in the air at a time.
struct VirtualAdvertising {
  /// An advertising set; the legacy commands have one, too.
  struct AdvertisingSet {
    var type: AdvertisingReport.EventType = []
    var interval = Duration.milliseconds(1280)
    var ownAddressType = OwnAddressType.public
    var randomAddress: BluetoothAddress?
    /// Whether only devices of the accept list may connect.
    var usesAcceptList = false
    var data: [UInt8] = []
    var scanResponse: [UInt8] = []
  }

  /// The key of the set that the legacy commands configure. The handles of other sets end at 0xEF.
  static let legacy = UInt8.max

  var sets: [UInt8: AdvertisingSet] = [:]
  /// The set in the air.
  private(set) var running: UInt8?
  /// The address of that set.
  private(set) var address: BluetoothAddress?
  private(set) var times: AdvertisingTimes?

  private var active: AdvertisingSet? { running.flatMap { sets[$0] } }

  var current: RadioAdvertisement? {
    active.map { RadioAdvertisement($0.type, data: $0.data, scanResponse: $0.scanResponse) }
  }

  /// Whether it uses the random address of the controller, which must not change then (7.8.4).
  var usesRandomAddress: Bool { running == Self.legacy && address?.kind == .random }

  func acceptsLink(from central: BluetoothAddress, _ acceptList: Set<BluetoothAddress>) -> Bool {
    guard let set = active, set.type.contains(.connectable) else { return false }
    return !set.usesAcceptList || acceptList.contains(central)
  }

  mutating func start(_ handle: UInt8, at address: BluetoothAddress, _ times: AdvertisingTimes) {
    running = handle
    self.address = address
    self.times = times
  }

  mutating func stop() {
    running = nil
    times = nil
  }

  /// A central has connected.
  ///
  /// - Returns: the set that has ended; nil for that of the legacy commands
  mutating func ended() -> UInt8? {
    defer { stop() }
    return running == Self.legacy ? nil : running
  }
}

extension VirtualController {
  typealias Done = Result<NoReturnParameters, HCIErrorCode>

  /// The commands for advertising.
  static let advertisingCommands: [VirtualCommand] = [
    .complete(LESetAdvertisingParameters.self, .legacy) { controller, command in
      guard controller.advertising.running == nil else { return .failure(.commandDisallowed) }
      let types: [AdvertisingType: AdvertisingReport.EventType] = [
        .connectableUndirected: [.connectable, .scannable], .scannableUndirected: .scannable,
        .nonConnectableUndirected: [],
      ]
      // Directed advertising is not simulated.
      guard let type = types[command.type] else { return .failure(.unsupportedFeatureOrParameterValue) }
      guard command.intervalMin.isLegal, command.intervalMax.isLegal,
        command.intervalMin <= command.intervalMax
      else { return .failure(.invalidCommandParameters) }
      return controller.configure(VirtualAdvertising.legacy) {
        $0.type = type.union(.legacy)
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
      command.isEnabled ? controller.startSet(VirtualAdvertising.legacy) : controller.stopAdvertising()
    },
    .complete(LESetExtendedAdvertisingParameters.self, .extended) { controller, command in
      guard controller.advertising.running != command.advertisingHandle else {
        return .failure(.commandDisallowed)
      }
      let properties = command.properties
      guard !properties.contains(.directed) else { return .failure(.unsupportedFeatureOrParameterValue) }
      let done = controller.configure(command.advertisingHandle) {
        $0.type = AdvertisingReport.EventType(rawValue: properties.rawValue & 0x13)
        $0.interval = .microseconds(Int64(command.intervalMax.steps.value) * AdvertisingInterval.step)
        $0.ownAddressType = command.ownAddressType
        $0.usesAcceptList = command.filterPolicy & 2 != 0
      }
      return done.map { _ in .init() }
    },
    .complete(LESetAdvertisingSetRandomAddress.self, .version5) { controller, command in
      controller.change(command.advertisingHandle) { $0.randomAddress = command.address }
    },
    .complete(LESetExtendedAdvertisingData.self, .extended) { controller, command in
      controller.change(command.advertisingHandle) { $0.data = joined($0.data, command) }
    },
    .complete(LESetExtendedScanResponseData.self, .extended) { controller, command in
      controller.change(command.advertisingHandle) { $0.scanResponse = joined($0.scanResponse, command) }
    },
    .complete(LESetExtendedAdvertisingEnable.self, .extended) { controller, command in
      guard command.isEnabled else {
        let isMeant =
          command.sets.isEmpty || command.sets.contains { $0.handle == controller.advertising.running }
        return isMeant ? controller.stopAdvertising() : .success(.init())
      }
      guard let set = command.sets.first, command.sets.count == 1 else {
        return .failure(command.sets.isEmpty ? .invalidCommandParameters : .memoryCapacityExceeded)
      }
      return controller.startSet(set.handle)
    },
    .constant(LEReadMaximumAdvertisingDataLength.self, .version5) { $0.length = maximumDataLength },
    .constant(LEReadNumberOfSupportedAdvertisingSets.self, .version5) { $0.count = 1 },
    .complete(LERemoveAdvertisingSet.self, .extended) { controller, command in
      guard controller.advertising.running != command.advertisingHandle else {
        return .failure(.commandDisallowed)
      }
      let set = controller.advertising.sets.removeValue(forKey: command.advertisingHandle)
      return set == nil ? .failure(.unknownAdvertisingIdentifier) : .success(.init())
    },
    .complete(LEClearAdvertisingSets.self, .extended) { controller, _ in
      guard controller.advertising.running == nil else { return .failure(.commandDisallowed) }
      controller.advertising.sets = [:]
      return .success(.init())
    },
  ]

  private static let maximumDataLength: UInt16 = 1650
  /// How many sets the host may prepare.
  private static let maximumSets = 16

  /// The data with a fragment: the first one and whole data replace what was there.
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
  private func change(
    _ handle: UInt8, _ change: (inout VirtualAdvertising.AdvertisingSet) -> Void
  ) -> Done {
    guard advertising.sets[handle] != nil else { return .failure(.unknownAdvertisingIdentifier) }
    return configure(handle, change)
  }

  private func startSet(_ handle: UInt8) -> Done {
    guard let set = advertising.sets[handle] else { return .failure(.unknownAdvertisingIdentifier) }
    guard advertising.running == nil || advertising.running == handle else {
      return .failure(.memoryCapacityExceeded)
    }
    var address = options.address
    if set.ownAddressType.rawValue & 1 == 1 {
      let random = handle == VirtualAdvertising.legacy ? randomAddress : set.randomAddress
      guard let random else { return .failure(.invalidCommandParameters) }
      address = random
    }
    advertising.start(
      handle, at: address, AdvertisingTimes(seed: options.seed, interval: set.interval, start: timers.now))
    air.advertisingChanged(self)
    return .success(.init())
  }

  private func stopAdvertising() -> Done {
    advertising.stop()
    return .success(.init())
  }
}
