import HaloBluetoothCore

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
    servers.map { Dissector.KnownServer(name: $0.address.description, table: $0.server.table) }
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
