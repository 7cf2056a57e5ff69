import ATT
import HaloBluetoothCore
import HaloCapture
import HaloGATT

/// Dissects packets, layer by layer, in the order of the capture.
///
/// It does no I/O and has no clock. Its state - links, open requests, attributes - is bounded for any input; see
/// `AdapterState`. Only the headers are parsed for each packet; text is produced on demand.
package final class Dissector {
  /// Adapters whose links are kept apart; those that a capture has beyond share one state.
  static let adapterCapacity = 16

  /// A device that is known before its capture begins, by the handles of its characteristics.
  package struct KnownDevice: Sendable {
    package var address: BluetoothAddress
    package var characteristics: [Characteristic]
    package var descriptors: [Descriptor]

    package init(address: BluetoothAddress, characteristics: [Characteristic], descriptors: [Descriptor]) {
      self.address = address
      self.characteristics = characteristics
      self.descriptors = descriptors
    }
  }

  @exclusivity(unchecked) private var adapters: [UInt16: AdapterState] = [:]
  /// The adapter of the last packet: most packets are of one adapter.
  @exclusivity(unchecked) private var last: (index: UInt16, state: AdapterState)?
  private let knownDevices: [KnownDevice]
  /// Connections and advertisers of a capture of the air; nil until a packet of the air comes.
  private var air: AirState?
  private let security: SecurityKnowledge

  /// - Parameters:
  ///   - known: devices whose attributes were discovered before; the capture takes precedence
  ///   - secrets: what checks pairings and decrypts packets of the air
  package init(known: [KnownDevice] = [], secrets: DissectionSecrets = DissectionSecrets()) {
    knownDevices = known
    security = SecurityKnowledge(secrets)
  }

  /// The number of adapters so far.
  var adapterCount: Int { adapters.count }

  /// Dissects the next packet.
  ///
  /// - Parameters:
  ///   - bytes: as returned by `CaptureReader`: an HCI packet begins with its H4 type byte
  ///   - info: the record's time, direction and kind
  package func dissect(_ bytes: RawSpan, _ info: CaptureRecordInfo) -> DissectedPacket {
    var packet = DissectedPacket()
    dissect(bytes, info, into: &packet)
    return packet
  }

  /// The same for many packets: the memory of `packet` is used again.
  package func dissect(_ bytes: RawSpan, _ info: CaptureRecordInfo, into packet: inout DissectedPacket) {
    packet.begin(bytes, info)
    if packet.hci != nil {
      state(of: info.adapter ?? 0).dissect(&packet, bytes)
      if packet.isCut { packet.noteCut() }
    } else if case .air(let reception) = info.content {
      let air = self.air ?? AirState(knownDevices, security)
      self.air = air
      air.dissect(&packet, bytes, reception)
      if packet.isCut { packet.noteCut() }
    } else if let adapter = info.adapter {
      state(of: adapter).note(packet, bytes)
    }
  }

  /// The requests that have no answer so far: the numbers of their packets, in order.
  package var openRequests: [Int] {
    (adapters.values.flatMap { $0.links.open.flatMap(\.open) } + (air?.openRequests ?? [])).sorted()
  }

  /// A device whose attributes were discovered, in the capture.
  package struct KnownServer: Sendable {
    /// Its address; `this machine`; or the link, if the address is unknown.
    package var name: String
    /// Nil for this machine, and for the central of a connection on the air.
    package var device: DeviceKey?
    package var table: AttributeTable
  }

  /// The devices with known attributes; devices without any are omitted.
  package var servers: [KnownServer] {
    adapters.sorted { $0.key < $1.key }.flatMap { $0.value.knownServers } + (air?.knownServers ?? [])
  }

  /// The attribute with a handle at one end of a link; nil if it was not discovered.
  ///
  /// - Parameter isLocal: whether the server is that of the host
  func attribute(_ handle: AttributeHandle, of packet: DissectedPacket, isLocal: Bool) -> Attribute? {
    guard let number = packet.link?.handle,
      let link = adapters[packet.info.adapter ?? 0]?.links[number, packet.info.adapter]
    else { return nil }
    return isLocal ? link.localServer[handle] : link.peerServer[handle]
  }

  private func state(of adapter: UInt16) -> AdapterState {
    if let last, last.index == adapter { return last.state }
    let state = findState(of: adapter)
    last = (adapter, state)
    return state
  }

  private func findState(of adapter: UInt16) -> AdapterState {
    let key = adapters[adapter] != nil || adapters.count < Self.adapterCapacity ? adapter : 0xFFFF
    if let known = adapters[key] { return known }
    let state = AdapterState(knownDevices, security)
    adapters[key] = state
    return state
  }
}
