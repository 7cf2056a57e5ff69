import BluetoothCore
import Capture
import HCI

/// Takes packets apart, layer by layer, in the order of the capture.
///
/// It does no I/O and has no clock. What it keeps - links, open requests, attributes - is bounded, whatever the
/// packets say; see ``AdapterState``. Only the headers are read for each packet; words are made when they are asked
/// for.
public final class Dissector {
  /// Adapters whose links are kept apart; those that a capture has beyond share one state.
  static let adapterCapacity = 16

  private var adapters: [UInt16: AdapterState] = [:]

  public init() {}

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

  private func state(of adapter: UInt16) -> AdapterState {
    let key = adapters[adapter] != nil || adapters.count < Self.adapterCapacity ? adapter : 0xFFFF
    if let known = adapters[key] { return known }
    let state = AdapterState()
    adapters[key] = state
    return state
  }
}
