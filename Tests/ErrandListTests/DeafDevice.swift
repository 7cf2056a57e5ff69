import HCI
import HaloBluetoothCore
import TestLoop
import HaloSimulation

/// A device that advertises, and takes no link.
final class DeafDevice: SimulatedDevice {
  let address: BluetoothAddress
  let rssi: Int8 = -60
  let features: LEFeatures = []
  let version = RemoteVersion(CoreVersion(rawValue: 9), CompanyIdentifier(rawValue: 0xFFFF))
  private let data: [UInt8]

  init(_ address: BluetoothAddress, _ data: AdvertisingData) {
    (self.address, self.data) = (address, data.bytes)
  }

  var advertisement: RadioAdvertisement? { RadioAdvertisement(data: data) }
  func nextAdvertisement(after now: Instant) -> Instant? { now + .milliseconds(50) }
  func acceptsLink(from central: BluetoothAddress) -> Bool { false }
  func connected(_ link: SimulatedLink) {}
  func received(_ fragment: SimulatedFragment, on link: SimulatedLink) {}
  func ended(_ link: SimulatedLink, _ reason: HCIErrorCode) {}
}
