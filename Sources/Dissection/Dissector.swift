import BluetoothCore
import Capture
import GATTClient
import HCI

/// Takes packets apart, layer by layer, in the order of the capture.
///
/// It does no I/O and has no clock. What it keeps - links, open requests, attributes - is bounded, whatever the
/// packets say; see ``AdapterState``. Only the headers are read for each packet; words are made when they are asked
/// for.
public final class Dissector {
  /// Adapters whose links are kept apart; those that a capture has beyond share one state.
  static let adapterCapacity = 16

  /// What is known of a device before its capture begins: where its characteristics are.
  public struct KnownDevice: Sendable {
    public var address: BluetoothAddress
    public var characteristics: [Characteristic]
    public var descriptors: [Descriptor]

    public init(address: BluetoothAddress, characteristics: [Characteristic], descriptors: [Descriptor]) {
      self.address = address
      self.characteristics = characteristics
      self.descriptors = descriptors
    }
  }

  private var adapters: [UInt16: AdapterState] = [:]
  private let knownDevices: [KnownDevice]

  /// - Parameter known: devices whose attributes were discovered before; what the capture tells goes first
  public init(known: [KnownDevice] = []) {
    knownDevices = known
  }

  /// How many adapters there are so far.
  var adapterCount: Int { adapters.count }

  /// Takes the next packet.
  ///
  /// - Parameters:
  ///   - bytes: as ``CaptureReader`` gives them: an HCI packet begins with its H4 type byte
  public func dissect(_ bytes: RawSpan, _ info: CaptureRecordInfo) -> DissectedPacket {
    var packet = DissectedPacket(Array(bytes), info)
    if packet.hci != nil { state(of: info.adapter ?? 0).dissect(&packet, bytes) }
    return packet
  }

  /// The requests that have no answer so far: the numbers of their packets, in order.
  public var openRequests: [Int] {
    adapters.values.flatMap { $0.links.values.flatMap(\.open) }.sorted()
  }

  /// A device whose attributes were discovered, in the capture.
  public struct KnownServer: Sendable {
    /// Its address; `this machine`; or the link, if nobody knows the address.
    public var name: String
    public var table: AttributeTable
  }

  /// The devices whose attributes are known, those of which nothing is known left out.
  public var servers: [KnownServer] {
    adapters.sorted { $0.key < $1.key }.flatMap { $0.value.knownServers }
  }

  private func state(of adapter: UInt16) -> AdapterState {
    let key = adapters[adapter] != nil || adapters.count < Self.adapterCapacity ? adapter : 0xFFFF
    if let known = adapters[key] { return known }
    let state = AdapterState(knownDevices)
    adapters[key] = state
    return state
  }
}
