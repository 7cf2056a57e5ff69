import HCI
import HaloBluetoothCore

extension CaptureSummary {
  /// A device whose advertisements were received.
  package struct Device: Hashable, Sendable {
    package var address: BluetoothAddress
    /// The name, if it is known.
    package var name: String?
    /// The number of advertising reports.
    package var reports = 0
    /// In dBm, the strongest.
    package var rssi: Int8?
  }
}

/// The devices whose advertisements were received.
struct DeviceTally: Sendable {
  private(set) var devices: [BluetoothAddress: CaptureSummary.Device] = [:]
  /// The number of reports of devices that there was no room for.
  private(set) var overflow = 0

  mutating func add(_ report: AdvertisingReport) {
    guard devices[report.address] != nil || devices.count < CaptureSummary.capacity else {
      overflow += 1
      return
    }
    var device = devices[report.address] ?? CaptureSummary.Device(address: report.address)
    device.reports += 1
    if let rssi = report.rssi { device.rssi = max(device.rssi ?? rssi, rssi) }
    if device.name == nil { device.name = AdvertisingData(report.data).localName }
    devices[report.address] = device
  }
}
