import ATT
import HaloBluetoothCore

/// The identity of a device: its address, of whatever kind, or its link, by the handle or the access address.
package enum DeviceKey: Hashable, Sendable {
  case address(UInt64)
  case link(UInt32)

  init(_ peer: BluetoothAddress?, connection: UInt32) {
    self = peer.map { .address($0.value) } ?? .link(connection)
  }
}

/// A device that a capture has links to, with the uses of them.
package struct UsedDevice: Sendable {
  package var key: DeviceKey
  /// Nil if the capture begins in the middle of its link.
  package var address: BluetoothAddress?
  package var name: String?
  package var connections: [ConnectionSummary] = []
  package var airConnections: [AirConnectionSummary] = []
  /// The writes to its attributes.
  package var writes: [WrittenForm] = []
  /// Its writes to those of the host, or of the central.
  package var writesToHost: [WrittenForm] = []
  /// The notifications and indications, in the order of their sources.
  package var values: [(source: CaptureSummary.Source, values: CaptureSummary.Values)] = []
  /// The last value of each attribute that was read.
  package var reads: [AttributeHandle: [UInt8]] = [:]

  /// The number of PDUs that count as traffic: of ATT, of the Security Manager, of protocols of BR/EDR, and encrypted ones. A
  /// link without is idle.
  package var traffic: Int {
    connections.reduce(0) { $0 + $1.traffic } + airConnections.reduce(0) { $0 + $1.traffic }
  }
}

extension CaptureSummary {
  /// The devices that advertised, that with the most reports first.
  package var advertisers: [Device] {
    devices.sorted { ($1.reports, $0.address.value) < ($0.reports, $1.address.value) }
  }

  /// The devices with links, that with the most traffic first.
  package var usedDevices: [UsedDevice] {
    var used: [UsedDevice] = []
    var indexes: [DeviceKey: Int] = [:]
    func change(_ key: DeviceKey, _ address: BluetoothAddress?, _ body: (inout UsedDevice) -> Void) {
      if indexes[key] == nil {
        indexes[key] = used.count
        used.append(UsedDevice(key: key, address: address))
      }
      if let index = indexes[key] { body(&used[index]) }
    }
    for link in connections {
      change(DeviceKey(link.peer, connection: UInt32(link.handle.rawValue)), link.peer) {
        $0.connections.append(link)
        $0.name = link.name ?? $0.name
      }
    }
    for link in airConnections {
      change(DeviceKey(link.peripheral, connection: link.accessAddress), link.peripheral) {
        $0.airConnections.append(link)
        $0.name = link.name ?? $0.name
      }
    }
    for (source, values) in values.sorted(by: { $0.key < $1.key }) {
      change(values.device, nil) { $0.values.append((source, values)) }
    }
    for index in used.indices { addAttributes(to: &used[index]) }
    return used.enumerated().sorted { ($1.element.traffic, $0.offset) < ($0.element.traffic, $1.offset) }
      .map(\.element)
  }
}
