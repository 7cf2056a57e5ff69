import HCI
import HaloBluetoothCore
import L2CAP
import RingLink

/// A controller with rings in reach, in memory: HCI packets in, HCI packets out.
package final class RingRadio {
  /// The handle of the link to the first ring; the next ring has the next handle.
  package static let firstHandle = VirtualController.firstHandle

  /// The properties of the controller, and of the first ring.
  package let options: VirtualRingOptions
  package let controller: VirtualController
  /// The rings in reach.
  package var peripherals: [VirtualPeripheral] { rings.map(\.peripheral) }
  /// The first ring.
  package var peripheral: VirtualPeripheral { rings[0].peripheral }
  /// Whether a link to the first ring exists.
  package var isConnected: Bool { rings[0].link != nil }

  private let rings: [RingInAir]

  /// - Parameters:
  ///   - options: of the controller, and of the rings
  ///   - timers: the virtual or real time
  ///   - emit: receives a packet for the host; the span is valid only during the call
  package init(options: VirtualRingOptions, timers: Timers, emit: @escaping (RawSpan) -> Void) {
    self.options = options
    let medium = RadioMedium(timers: timers)
    rings = ([options] + options.others).map { RingInAir($0, in: medium) }
    for ring in rings { medium.add(ring) }
    controller = VirtualController(options.controller, in: medium, emit: emit)
    medium.add(controller)
  }

  /// Handles a packet from the host. Returns for any contents.
  package func receive(_ packet: RawSpan) { controller.receive(packet) }

  /// Ends the link to the first ring from its side, or as if it were out of reach.
  package func disconnect(reason: HCIErrorCode = .remoteUserTerminatedConnection) {
    rings[0].link?.end(reason, .connectionTerminatedByLocalHost)
  }
}

/// A ring in the air: it advertises while it has no link.
final class RingInAir: SimulatedDevice {
  let options: VirtualRingOptions
  let peripheral: VirtualPeripheral
  private(set) var link: SimulatedLink?

  private let medium: RadioMedium
  private let data: RadioAdvertisement
  private let times: AdvertisingTimes
  private var recombiner = Recombiner()
  private var failuresLeft: Int
  /// A ring that was switched off does not advertise; only its charger would wake it.
  private var isSwitchedOff = false

  init(_ options: VirtualRingOptions, in medium: RadioMedium) {
    self.options = options
    self.medium = medium
    peripheral = VirtualPeripheral(options: options, timers: medium.timers)
    data = RadioAdvertisement(
      data: AdvertisingData(options.advertisement).bytes,
      scanResponse: AdvertisingData(options.scanResponse).bytes)
    times = AdvertisingTimes(
      seed: options.seed, interval: options.advertisingInterval, start: medium.timers.now)
    failuresLeft = options.faults.establishFailures
    peripheral.send = { [weak self] channel, payload in self?.send(payload, on: channel) }
    peripheral.ring.vanish = { [weak self] in
      // Data sent before still crosses.
      self?.link?.afterEvents(1) { $0.end(.connectionTimeout, .connectionTimeout) }
    }
    peripheral.ring.leave = { [weak self] in self?.leave() }
    peripheral.ring.switchOff = { [weak self] in
      self?.isSwitchedOff = true
      self?.leave()
    }
  }

  private func leave() {
    link?.afterEvents(1) { $0.end(.remoteUserTerminatedConnection, .connectionTerminatedByLocalHost) }
  }

  // MARK: Advertising

  var address: BluetoothAddress { options.address }
  var rssi: Int8 { options.rssi }
  var features: LEFeatures { [.encryption, .dataPacketLengthExtension] }
  var version: RemoteVersion { RemoteVersion(CoreVersion(rawValue: 9), CompanyIdentifier(rawValue: 0x005D)) }
  var advertisement: RadioAdvertisement? { link == nil && !isSwitchedOff ? data : nil }

  func nextAdvertisement(after now: Instant) -> Instant? {
    advertisement == nil ? nil : times.nextEvent(after: now)
  }

  func acceptsLink(from central: BluetoothAddress) -> Bool { !options.faults.ignoresConnections }

  // MARK: The link

  func connected(_ link: SimulatedLink) {
    self.link = link
    recombiner = Recombiner()
    if failuresLeft > 0 {
      failuresLeft -= 1
      link.isDead = true
      return
    }
    peripheral.connected(interval: link.parameters.interval, link.central?.faultOfNextLink())
    link.after(.milliseconds(600)) { $0.changeDataLength(251) }
  }

  func changed(_ change: SimulatedLink.Change, on link: SimulatedLink) {
    if case .parameters(let parameters) = change { peripheral.updated(interval: parameters.interval) }
  }

  func ended(_ link: SimulatedLink, _ reason: HCIErrorCode) {
    self.link = nil
    peripheral.disconnected()
  }

  func received(_ fragment: SimulatedFragment, on link: SimulatedLink) {
    let recombiner = self.recombiner
    recombiner.receive(fragment.data.span.bytes, isStart: fragment.isStart) { channel, payload in
      peripheral.receive(channel, payload)
    }
  }

  private func send(_ payload: RawSpan, on channel: ChannelID) {
    guard let link else { return }
    var frame = ByteWriter(capacity: payload.byteCount + BasicHeader.length)
    BasicHeader.writeFrame(payload, on: channel, into: &frame)
    link.sendFromPeripheral(frame.span)
  }
}

extension VirtualRingOptions {
  /// The options of the controller.
  var controller: ControllerOptions {
    var controller = ControllerOptions()
    controller.seed = seed
    controller.bluetooth5 = bluetooth5
    controller.aclLength = aclLength
    controller.aclPackets = aclPackets
    controller.staysSilent = faults.staysSilent
    controller.refusesIdleScanDisable = faults.refusesIdleScanDisable
    controller.faultSeed = faults.randomSeed
    return controller
  }

  private var namePart: ADStructure { .localName(Array(name.utf8.prefix(29)), isComplete: true) }

  private var isNameShort: Bool { name.utf8.count <= 22 }

  private var hasCompany: Bool { model?.advertisesNameOnly != true }

  private var hasService: Bool { hasCompany && advertisesService && !faults.omitsRingService }

  /// The flags, service 3802, and the name where there is room for it; else the service of commands.
  var advertisement: [ADStructure] {
    var structures: [ADStructure] = [.flags([.generalDiscoverable, .brEDRNotSupported])]
    if hasService {
      structures.append(.serviceUUIDs([BluetoothUUID(0x3802 as UInt16)], width: .two, isComplete: true))
    }
    guard !isNameShort else { return structures + [namePart] }
    if hasService {
      structures.append(.serviceUUIDs([RingGATT.commandService], width: .sixteen, isComplete: true))
    }
    return structures
  }

  /// The service of commands, and company 0x1234 with the address; or a long name.
  var scanResponse: [ADStructure] {
    guard isNameShort else { return [namePart] }
    var response: [ADStructure] = []
    if hasService {
      response.append(.serviceUUIDs([RingGATT.commandService], width: .sixteen, isComplete: true))
    }
    if hasCompany {
      var writer = ByteWriter(capacity: 6)
      address.write(into: &writer)
      response.append(.manufacturerData(CompanyIdentifier(rawValue: 0x1234), writer.bytes))
    }
    return response
  }
}
