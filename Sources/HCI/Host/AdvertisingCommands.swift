import HaloBluetoothCore

/// The commands that start and stop an advertisement: those of Bluetooth 4, or those of Bluetooth 5 for a set. Between two
/// resets a controller accepts one of the two (Vol 4, Part E, 3.1.1).
final class AdvertisingCommands {
  /// Whether there are sets. Some controllers claim these commands, and do not have them.
  var usesSets: Bool
  /// Whether the controller refuses parameters while it advertises, as it has to, so that it can be asked whether it does.
  var areParametersRefusedWhileOn = true

  private let own: OwnAddress
  /// Controllers before Bluetooth 5 refuse shorter intervals of non-connectable advertising (huysentruitw/win-beacon 23,
  /// micropython/micropython 5722).
  private static let shortestOfBeacons = AdvertisingInterval(.milliseconds(100))
  /// How long a directed advertisement has a high duty. A controller refuses it without a limit (zephyrproject-rtos/zephyr
  /// 23916).
  private static let highDutyTime = ScanDuration(.milliseconds(1280))

  init(_ controller: ControllerInformation, _ own: OwnAddress) {
    self.own = own
    usesSets = controller.usesExtendedAdvertising
  }

  func starting(_ advertising: Advertising, in set: UInt8) -> [any HCICompletingCommand] {
    usesSets ? startingSet(advertising, set) : startingLegacy(advertising)
  }

  func stopping(_ set: UInt8) -> any HCICompletingCommand {
    guard usesSets else { return LESetAdvertisingEnable { $0.isEnabled = false } }
    return LESetExtendedAdvertisingEnable { $0.sets = [.init { $0.handle = set }] }
  }

  /// Forgets the use of a set. With data, or with a scan response, it could not be used for any other kind.
  func removing(_ set: UInt8) -> any HCICompletingCommand {
    LERemoveAdvertisingSet { $0.advertisingHandle = set }
  }

  private func type(for advertising: Advertising) -> OwnAddressType {
    if case .directed(let central, _) = advertising.kind { own.type(calling: central) } else { own.type }
  }

  // MARK: Bluetooth 4

  private func startingLegacy(_ advertising: Advertising) -> [any HCICompletingCommand] {
    let shortest = advertising.isConnectable ? AdvertisingInterval(rawValue: 0) : Self.shortestOfBeacons
    let parameters = LESetAdvertisingParameters {
      $0.intervalMin = max(advertising.intervalMin, shortest)
      $0.intervalMax = max(advertising.intervalMax, shortest)
      $0.type = AdvertisingType(advertising.kind)
      $0.ownAddressType = type(for: advertising)
      if case .directed(let central, _) = advertising.kind { $0.peerAddress = central }
    }
    var list: [any HCICompletingCommand] = [parameters]
    if case .directed = advertising.kind {
    } else {
      list.append(LESetAdvertisingData { $0.data = LegacyAdvertisingData(advertising.data) })
    }
    if advertising.kind == .connectable || advertising.kind == .scannable {
      list.append(LESetScanResponseData { $0.data = LegacyAdvertisingData(advertising.scanResponse) })
    }
    list.append(LESetAdvertisingEnable { $0.isEnabled = true })
    return list
  }

  // MARK: Bluetooth 5

  private func startingSet(_ advertising: Advertising, _ set: UInt8) -> [any HCICompletingCommand] {
    let properties = AdvertisingEventProperties(advertising.kind, isLegacy: advertising.phys == nil)
    var list: [any HCICompletingCommand] = [
      LESetExtendedAdvertisingParameters {
        $0.advertisingHandle = set
        $0.properties = properties
        $0.intervalMin = ExtendedAdvertisingInterval(advertising.intervalMin)
        $0.intervalMax = ExtendedAdvertisingInterval(advertising.intervalMax)
        $0.ownAddressType = type(for: advertising)
        if case .directed(let central, _) = advertising.kind { $0.peerAddress = central }
        if let phys = advertising.phys {
          ($0.primaryPHY, $0.secondaryPHY) = phys.onAir
          $0.sid = set & 0xF
        }
      }
    ]
    // A set has a random address of its own (7.8.52).
    if own.type == .random {
      list.append(
        LESetAdvertisingSetRandomAddress {
          $0.advertisingHandle = set
          $0.address = own.onAir
        })
    }
    if advertising.hasData {
      list += fragments(advertising.data).map { part in
        LESetExtendedAdvertisingData {
          $0.advertisingHandle = set
          ($0.operation, $0.data) = part
        }
      }
    }
    // A controller refuses even an empty scan response of a set that is not scannable (zephyrproject-rtos/zephyr 43204).
    if properties.contains(.scannable) {
      list += fragments(advertising.scanResponse).map { part in
        LESetExtendedScanResponseData {
          $0.advertisingHandle = set
          ($0.operation, $0.data) = part
        }
      }
    }
    list.append(
      LESetExtendedAdvertisingEnable {
        $0.isEnabled = true
        $0.sets = [
          .init {
            $0.handle = set
            if properties.contains(.directedHighDuty) { $0.duration = Self.highDutyTime }
          }
        ]
      })
    return list
  }

  /// The operation and the data of each command.
  private func fragments(_ data: [UInt8]) -> [(UInt8, [UInt8])] {
    guard data.count > LESetExtendedAdvertisingData.largestData else { return [(3, data)] }
    return stride(from: 0, to: data.count, by: LESetExtendedAdvertisingData.largestData).map { start in
      let end = min(start + LESetExtendedAdvertisingData.largestData, data.count)
      return (start == 0 ? 1 : end == data.count ? 2 : 0, Array(data[start..<end]))
    }
  }
}

extension Advertising {
  fileprivate var hasData: Bool {
    switch kind {
    case .connectable, .nonConnectable: true
    case .scannable: phys == nil
    case .directed: false
    }
  }
}

extension Advertising.ExtendedPHYs {
  /// The PHYs of the primary and of the secondary channels.
  fileprivate var onAir: (LEPHY, LEPHY) {
    switch self {
    case .le1M: (.le1M, .le1M)
    case .le2M: (.le1M, .le2M)
    case .leCoded: (.leCoded, .leCoded)
    }
  }
}

extension AdvertisingType {
  fileprivate init(_ kind: Advertising.Kind) {
    self =
      switch kind {
      case .connectable: .connectableUndirected
      case .scannable: .scannableUndirected
      case .nonConnectable: .nonConnectableUndirected
      case .directed(_, let isHighDuty):
        isHighDuty ? .connectableDirectedHighDuty : .connectableDirectedLowDuty
      }
  }
}

extension AdvertisingEventProperties {
  fileprivate init(_ kind: Advertising.Kind, isLegacy: Bool) {
    let properties: AdvertisingEventProperties =
      switch kind {
      case .connectable: isLegacy ? [.connectable, .scannable] : .connectable
      case .scannable: .scannable
      case .nonConnectable: []
      // Only legacy PDUs can have a high duty.
      case .directed(_, let isHighDuty):
        isHighDuty && isLegacy ? [.connectable, .directed, .directedHighDuty] : [.connectable, .directed]
      }
    self = isLegacy ? properties.union(.legacy) : properties
  }
}
