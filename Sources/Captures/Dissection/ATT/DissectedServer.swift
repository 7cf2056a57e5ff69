import ATT
import HaloBluetoothCore
import HaloCapture

/// A device's attributes, shared by all links to it: a later link needs no discovery.
final class DissectedServer {
  @exclusivity(unchecked) private(set) var table = AttributeTable()
  /// The attributes that packets have named since the table has changed; nil for unknown handles. Attributes that were
  /// recognized by the values written to them are left out, as each value may add to them. Bounded.
  @exclusivity(unchecked) private var named: [AttributeHandle: Attribute?] = [:]

  subscript(handle: AttributeHandle) -> Attribute? {
    if let attribute = named[handle] { return attribute }
    let attribute = table[handle]
    if attribute?.isInferred != true, named.count < LearnedAttributes.capacity {
      named.updateValue(attribute, forKey: handle)
    }
    return attribute
  }

  func noteWrite(_ handle: AttributeHandle?, _ value: RawSpan) {
    guard let handle, table.learned[handle] == nil else { return }
    table.inferred.noteWrite(handle, value)
    named.removeValue(forKey: handle)
  }

  /// Notes that a characteristic has sent a value: only values behind the write of a configuration count.
  func noteValue(_ handle: AttributeHandle?) {
    guard !table.inferred.isEmpty, let handle, table.learned[handle] == nil else { return }
    table.inferred.noteValue(handle)
  }

  /// Adds the attributes that the answer to a request shows.
  func learn(_ request: any ATTPDU, _ response: any ATTPDU) {
    let before = table.learned.changes
    table.learned.learn(request, response)
    if table.learned.changes != before { named = [:] }
  }

  /// Adds the attributes discovered before the capture.
  func learn(_ device: Dissector.KnownDevice) {
    table.learn(device)
    named = [:]
  }
}

/// The attributes of the devices of a capture, by their addresses. Bounded: the one that was not used for longest is
/// forgotten.
struct DeviceServers {
  static let capacity = 64

  private var servers: [(address: BluetoothAddress, server: DissectedServer)] = []
  private let knownDevices: [Dissector.KnownDevice]

  /// - Parameter known: devices whose attributes were discovered before
  init(_ known: [Dissector.KnownDevice]) { knownDevices = known }

  /// The servers with attributes.
  var known: [Dissector.KnownServer] {
    servers.map {
      Dissector.KnownServer(
        name: $0.address.description, device: .address($0.address.value), table: $0.server.table)
    }
  }

  /// The attributes of a device, which may be none so far.
  mutating func server(of address: BluetoothAddress) -> DissectedServer {
    if let index = servers.firstIndex(where: { $0.address == address }) {
      let known = servers.remove(at: index)
      servers.append(known)
      return known.server
    }
    if servers.count >= Self.capacity { servers.removeFirst() }
    let server = DissectedServer()
    if let device = knownDevices.first(where: { $0.address == address }) { server.learn(device) }
    servers.append((address, server))
    return server
  }
}
