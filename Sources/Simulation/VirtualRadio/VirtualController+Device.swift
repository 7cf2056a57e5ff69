import HCI
import HaloBluetoothCore

/// The controller as the other devices of the air meet it, and the ends of its links in both roles.
extension VirtualController: SimulatedDevice {
  package var address: BluetoothAddress { advertising.address(at: timers.now) ?? options.address }
  package var rssi: Int8 { options.rssi }
  package var version: RemoteVersion {
    RemoteVersion(
      CoreVersion(rawValue: options.bluetooth5 ? 9 : 8), CompanyIdentifier(rawValue: 0xFFFF))
  }

  package var features: LEFeatures {
    var features: LEFeatures = [
      .encryption, .connectionParametersRequestProcedure, .extendedRejectIndication,
      .peripheralInitiatedFeaturesExchange, .ping, .dataPacketLengthExtension,
    ]
    if options.bluetooth5 { features.formUnion([.phy2M, .extendedAdvertising]) }
    if options.bluetooth5, medium.cryptography != nil { features.insert(.llPrivacy) }
    return features
  }

  package var advertisement: RadioAdvertisement? { advertising.advertisement(at: timers.now) }

  package func nextAdvertisement(after now: Instant) -> Instant? { advertising.nextEvent(after: now) }

  package func acceptsLink(from central: BluetoothAddress) -> Bool {
    advertising.acceptsLink(from: central, at: timers.now, acceptList)
  }

  package func connected(_ link: SimulatedLink) {
    guard let place = place(of: link.central) else { return link.isDead = true }
    place.link = link
    let own = advertising.madeAddress(at: timers.now)
    let set = advertising.ended(at: timers.now)
    sendConnectionComplete(
      .success, place.handle, link.centralAddress, link.parameters, own: own, role: .peripheral)
    guard let set else { return }
    // Sets are of the extended commands only.
    send(
      .leAdvertisingSetTerminated(
        LEAdvertisingSetTerminated {
          $0.advertisingHandle = set
          $0.handle = place.handle
        }))
  }

  // MARK: Data

  /// Queues an ACL packet from the host: it crosses at the next connection event.
  func receiveACL(_ bytes: RawSpan) {
    guard let packet = try? ACLPacket(bytes) else {
      counters.malformedPackets += 1
      return
    }
    guard let link = link(packet.header.handle), packet.data.byteCount <= Int(options.aclLength) else {
      counters.rejectedACL += 1
      return
    }
    let end: SimulatedLink.End = link.central === self ? .central : .peripheral
    let waiting = link.waiting(from: end)
    if waiting >= Int(options.aclPackets) { counters.excessACL += 1 }
    // A host that does not count its credits must not fill the memory.
    guard waiting < 4 * Int(options.aclPackets) else { return }
    link.send(
      SimulatedFragment(Array(packet.data), isStart: packet.header.boundary != .continuing), from: end)
  }

  package func received(_ fragment: SimulatedFragment, on link: SimulatedLink) {
    guard let handle = handle(of: link) else { return }
    var writer = ByteWriter(capacity: 5 + fragment.data.count)
    writer.write(HCIPacketType.acl.rawValue)
    ACLHeader(
      handle: handle, boundary: fragment.isStart ? .firstFlushable : .continuing,
      dataLength: UInt16(truncatingIfNeeded: fragment.data.count)
    ).write(into: &writer)
    writer.write(fragment.data)
    send(writer.bytes)
  }

  /// Packets of the host have crossed.
  func sent(_ count: Int, on link: SimulatedLink) {
    guard let handle = handle(of: link) else { return }
    send(.numberOfCompletedPackets(.init([.init(handle: handle, count: UInt16(clamping: count))])))
  }

  // MARK: Properties

  package func changed(_ change: SimulatedLink.Change, on link: SimulatedLink) {
    guard let handle = handle(of: link) else { return }
    switch change {
    case .parameters(let parameters):
      send(
        .leConnectionUpdateComplete(
          LEConnectionUpdateComplete {
            $0.handle = handle
            $0.parameters = parameters
          }))
    case .phys(let phys):
      send(
        .lePHYUpdateComplete(
          .init {
            $0.handle = handle
            $0.phys = phys
          }))
    case .dataLength(let octets):
      let length = DataLength(octets: octets, time: (octets + 14) * 8)
      send(
        .leDataLengthChange(
          LEDataLengthChange {
            $0.handle = handle
            $0.lengths.transmit = length
            $0.lengths.receive = length
          }))
    case .encrypted(isRenewal: true):
      send(.encryptionKeyRefreshComplete(EncryptionKeyRefreshComplete { $0.handle = handle }))
    case .encrypted(isRenewal: false):
      send(
        .encryptionChange(
          EncryptionChange {
            $0.handle = handle
            $0.encryption = .on
          }))
    }
  }

  // MARK: The end

  func forget(_ link: SimulatedLink) {
    for place in reach where place.link === link { end(place) }
  }

  package func ended(_ link: SimulatedLink, _ reason: HCIErrorCode) {
    let peer = link.central === self ? link.peripheral : link.central
    forget(link)
    guard let handle = place(of: peer)?.handle else { return }
    post(.disconnectionComplete(.init(status: .success, handle: handle, reason: reason)))
  }

  /// The other end has left without telling this one.
  func abandoned(_ link: SimulatedLink) {
    later(link.parameters.supervisionTimeout.duration) { controller in
      guard let place = controller.reach.first(where: { $0.link === link }) else { return }
      controller.end(place)
      controller.send(
        .disconnectionComplete(.init(status: .success, handle: place.handle, reason: .connectionTimeout)))
    }
  }

  func handle(of link: SimulatedLink) -> ConnectionHandle? { reach.first { $0.link === link }?.handle }
}
