import HaloBluetoothCore

/// The bytes that a test spells: `hex("04 0e 04")`. Anything but hexadecimal digits ends the test run.
package func hex(_ text: String) -> [UInt8] {
  guard let bytes = Hex.bytes(text) else { preconditionFailure("not hexadecimal: \(text)") }
  return bytes
}
