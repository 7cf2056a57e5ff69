import ATT
import HaloBluetoothCore

/// The UUID that a test writes as text.
package func uuid(_ text: String) -> BluetoothUUID {
  guard let uuid = BluetoothUUID(text) else { preconditionFailure("no UUID: \(text)") }
  return uuid
}

package func range(_ start: UInt16, _ end: UInt16) -> HandleRange {
  HandleRange(AttributeHandle(start), AttributeHandle(end))
}
