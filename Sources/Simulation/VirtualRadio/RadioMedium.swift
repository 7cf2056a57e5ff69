import HCI
import HaloBluetoothCore
import HaloSecurityManager

/// A simulated radio medium: controllers and devices without a host, which are all in reach of each other.
///
/// It does not keep them; their owners do. Nothing in it has a clock: `Timers` supply the time.
package final class RadioMedium {
  /// The virtual or real time.
  package let timers: Timers

  /// With it, controllers resolve private addresses; nil if they do not.
  private(set) lazy var cryptography = loadCryptography()
  private let loadCryptography: () -> (any Cryptography)?

  private struct Place {
    weak var device: (any SimulatedDevice)?
  }

  private var places: [Place] = []
  private var controllers: [VirtualController] { places.compactMap { $0.device as? VirtualController } }

  /// - Parameters:
  ///   - timers: its time
  ///   - cryptography: for controllers that resolve private addresses
  package init(timers: Timers, cryptography: @autoclosure @escaping () -> (any Cryptography)? = nil) {
    self.timers = timers
    loadCryptography = cryptography
  }

  /// Brings a device into the air. The controllers that were there before, and those that come later, can hear it.
  package func add(_ device: any SimulatedDevice) {
    places.removeAll { $0.device == nil || $0.device === device }
    for controller in controllers { controller.reaches(device) }
    places.append(Place(device: device))
  }

  /// Takes a device out of the air: its links are lost.
  package func remove(_ device: any SimulatedDevice) {
    places.removeAll { $0.device == nil || $0.device === device }
    for controller in controllers { controller.misses(device) }
    (device as? VirtualController)?.reset()
  }

  var devices: [any SimulatedDevice] { places.compactMap(\.device) }

  /// A device advertises now, or other data, or no longer: the controllers that scan or connect listen for it.
  package func advertisingChanged(_ device: any SimulatedDevice) {
    for controller in controllers { controller.listen(to: device) }
  }
}

/// A device in the ``RadioMedium``: it may advertise, and have links in the peripheral role.
package protocol SimulatedDevice: AnyObject {
  /// The address that it advertises with.
  var address: BluetoothAddress { get }
  /// The strength with which the others hear it, in dBm.
  var rssi: Int8 { get }
  /// The features of its link layer.
  var features: LEFeatures { get }
  /// The version of its link layer.
  var version: RemoteVersion { get }
  /// Its advertisement; nil if there is none.
  var advertisement: RadioAdvertisement? { get }

  /// The first advertising event after `now`; nil if it does not advertise.
  func nextAdvertisement(after now: Instant) -> Instant?
  func acceptsLink(from central: BluetoothAddress) -> Bool
  /// A link to it exists, or seems to: see ``SimulatedLink/isDead``.
  func connected(_ link: SimulatedLink)
  /// Data of the other end have arrived.
  func received(_ fragment: SimulatedFragment, on link: SimulatedLink)
  /// The link has other properties.
  func changed(_ change: SimulatedLink.Change, on link: SimulatedLink)
  /// The central encrypts the link, and the key is needed. `reply` is called once, now or later, with nil for none.
  func keyRequested(
    _ random: UInt64, _ diversifier: UInt16, on link: SimulatedLink, reply: @escaping ([UInt8]?) -> Void)
  /// The link has ended.
  func ended(_ link: SimulatedLink, _ reason: HCIErrorCode)
}

extension SimulatedDevice {
  package func changed(_ change: SimulatedLink.Change, on link: SimulatedLink) {}
  package func keyRequested(
    _ random: UInt64, _ diversifier: UInt16, on link: SimulatedLink, reply: @escaping ([UInt8]?) -> Void
  ) { reply(nil) }
}

/// The advertisement of a device.
package struct RadioAdvertisement: Sendable {
  /// The event type of the advertisement in an extended report.
  package var type: AdvertisingReport.EventType
  package var data: [UInt8]
  /// The data that an active scanner gets in addition, if ``type`` is scannable; nil if it hears no response.
  package var scanResponse: [UInt8]?
  /// The only device that it is for; nil for all.
  package var target: BluetoothAddress?
  /// The identifier of its set; nil for legacy PDUs, which have none.
  package var sid: UInt8?

  package init(
    _ type: AdvertisingReport.EventType = [.legacy, .connectable, .scannable], data: [UInt8],
    scanResponse: [UInt8]? = [], target: BluetoothAddress? = nil, sid: UInt8? = nil
  ) {
    self.type = type
    self.data = data
    self.scanResponse = scanResponse
    self.target = target
    self.sid = sid
  }
}

/// The version and manufacturer of a link layer.
package struct RemoteVersion: Sendable {
  package var version: CoreVersion
  package var manufacturer: CompanyIdentifier
  package var subversion: UInt16

  package init(_ version: CoreVersion, _ manufacturer: CompanyIdentifier, subversion: UInt16 = 1) {
    self.version = version
    self.manufacturer = manufacturer
    self.subversion = subversion
  }
}

/// A part of an L2CAP frame, as one packet carries it.
package struct SimulatedFragment: Sendable {
  package var data: [UInt8]
  package var isStart: Bool

  package init(_ data: [UInt8], isStart: Bool) {
    self.data = data
    self.isStart = isStart
  }
}

/// The transport to a controller in the ``RadioMedium``: for hosts that meet in one process.
@BluetoothActor
package final class SimulatedTransport: HCITransport {
  package var onPacket: ((RawSpan, Arrival) -> Void)?
  /// Called by tests alone: memory does not go away.
  package var onClose: ((String) -> Void)?
  package var timers: Timers { medium.timers }

  /// The controller, from ``start()`` to ``close()``.
  package private(set) var controller: VirtualController?
  private let medium: RadioMedium
  private let options: ControllerOptions

  package init(_ medium: RadioMedium, _ options: ControllerOptions = ControllerOptions()) {
    self.medium = medium
    self.options = options
  }

  package func start() {
    let timers = medium.timers
    let controller = VirtualController(options, in: medium) { [weak self] packet in
      self?.onPacket?(packet, Arrival(timers.now.wholeMicroseconds))
    }
    self.controller = controller
    medium.add(controller)
  }

  package func send(_ packet: RawSpan) {
    controller?.receive(packet)
  }

  package var canReopen: Bool { true }

  /// The next ``start()`` makes another controller.
  package func reopen(within time: Duration) { close() }

  package func close() {
    if let controller { medium.remove(controller) }
    controller = nil
    onPacket = nil
  }
}

/// When a device sends its advertising events: after each interval and a delay of up to 10 ms, so that two advertisers do not
/// collide permanently (Core Specification Vol 6, Part B, 4.4.2.2.1).
package struct AdvertisingTimes: Sendable {
  private let seed: UInt64
  private let interval: Int64
  private let start: Instant

  /// - Parameters:
  ///   - seed: decides the delays
  ///   - interval: at least 20 ms; a shorter one counts as that
  ///   - start: the time from which the intervals count
  package init(seed: UInt64, interval: Duration, start: Instant) {
    self.seed = seed
    self.interval = max(20_000_000, interval.wholeNanoseconds)
    self.start = start
  }

  /// The first advertising event after `now`.
  package func nextEvent(after now: Instant) -> Instant {
    var number = max(0, now.nanoseconds(since: start) / interval - 1)
    while true {
      let delay = Int64(SplitMix.mix(seed &+ UInt64(number)) % 10_000_000)
      let event = start + .nanoseconds(number * interval + delay)
      if event > now { return event }
      number += 1
    }
  }
}
