import CoreBluetooth

/// Apps switch over all cases with a default for what Apple adds later.
func text(of authorization: CBManagerAuthorization, _ type: CBCharacteristicWriteType) -> String {
  let first: String
  switch authorization {
  case .notDetermined: first = "not yet"
  case .restricted, .denied: first = "no"
  case .allowedAlways: first = "yes"
  @unknown default: first = "new"
  }
  switch type {
  case .withResponse: return first + "!"
  case .withoutResponse: return first
  @unknown default: return "?"
  }
}
