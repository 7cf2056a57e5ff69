import GAP
import HCI
import HaloBluetoothCore
import HaloGATT
import RingLink

/// The choice of a device among those that advertise.
public struct DeviceSelector: Sendable, CustomStringConvertible {
  private enum Kind {
    case any
    case service(BluetoothUUID)
    case name(String)
    case address(BluetoothAddress)
    case matching(@Sendable (Advertisement) -> Bool)
  }

  private let kind: Kind

  /// Every device.
  public static let any = DeviceSelector(kind: .any)

  /// A device that advertises a service.
  public static func service(_ uuid: BluetoothUUID) -> Self { Self(kind: .service(uuid)) }

  /// A device with a name. The whole name is compared; upper and lower case are the same.
  public static func name(_ name: String) -> Self { Self(kind: .name(name)) }

  /// The device with an address. It is not searched for before it is connected to.
  public static func address(_ address: BluetoothAddress) -> Self { Self(kind: .address(address)) }

  /// A device of the program's choice. The closure is called for each advertisement, with all that is known of its device.
  public static func matching(_ isWanted: @escaping @Sendable (Advertisement) -> Bool) -> Self {
    Self(kind: .matching(isWanted))
  }

  public var description: String {
    switch kind {
    case .any: "any device"
    case .service(let uuid): "a device with the service \(uuid)"
    case .name(let name): "a device named \(name.printable)"
    case .address(let address): "\(address)"
    case .matching: "a device of the program's choice"
    }
  }

  /// The address, if that is all.
  var address: BluetoothAddress? {
    if case .address(let address) = kind { address } else { nil }
  }

  /// The filter of a scan.
  var filter: Central.ScanFilter {
    if case .service(let uuid) = kind { Central.ScanFilter(services: [uuid]) } else { Central.ScanFilter() }
  }

  /// Whether the selector selects a device that has a link, and of which no advertisement was heard: reads it from the device.
  @BluetoothActor func matches(_ link: GATTLink) async -> Bool {
    switch kind {
    case .any: true
    case .service(let uuid): (try? await link.gatt.firstService(uuid)) ?? nil != nil
    case .name(let name):
      if let bytes = (try? await link.gatt.readFirst(uuid: GATTUUID.deviceName)) ?? nil {
        String(text: bytes)?.lowercased() == name.lowercased()
      } else {
        false
      }
    case .address(let address): link.peer == address
    case .matching: false
    }
  }

  func matches(_ device: Advertisement) -> Bool {
    switch kind {
    case .any: true
    case .service(let uuid): device.serviceUUIDs.contains(uuid)
    case .name(let name): device.isNamed(name)
    case .address(let address): device.address == address
    case .matching(let isWanted): isWanted(device)
    }
  }

  /// A ring of the COLMI R02 family, by its advertisement: of several, the one that is heard first.
  public static let anyRing = DeviceSelector.matching { device in
    (RingIdentity.matches(device) ?? .possible) > .ambiguousName
  }
}

/// The parameters of a scan for advertisements. If several scans run at once, the radio's scan has the parameters that each of
/// them needs.
public struct ScanOptions: Hashable, Sendable {
  /// Whether devices are asked for their scan response, which often has the name. A passive scan sends nothing.
  public var isActive: Bool
  /// The time from the beginning of one window to the next: 2.5 ms to 10.24 s.
  public var interval: Duration
  /// How long to listen in each interval; as long as that for a continuous scan.
  public var window: Duration
  /// Whether to scan on LE Coded, too, where the controller can: half of the time.
  public var includesCoded: Bool

  /// By default, the radio scans 1/8 of the time: on a Raspberry Pi, Wi-Fi shares the antenna.
  public init(
    isActive: Bool = true, interval: Duration = .milliseconds(80), window: Duration = .milliseconds(10),
    includesCoded: Bool = false
  ) {
    self.isActive = isActive
    self.interval = interval
    self.window = window
    self.includesCoded = includesCoded
  }
}

extension ScanParameters {
  init(_ options: ScanOptions) {
    self.init(
      isActive: options.isActive, interval: ScanInterval(options.interval),
      window: ScanInterval(options.window), includesCoded: options.includesCoded)
  }
}
