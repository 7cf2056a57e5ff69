// Declarations are imported one by one, where Apple's programs import a header: `import CoreBluetooth.CBError`.
import struct CoreBluetooth.CBATTError
import struct CoreBluetooth.CBError
import enum CoreBluetooth.CBManagerState

func isOff(_ state: CBManagerState) -> Bool { state == .poweredOff }

/// Errors of both kinds as one text.
func text(of error: Error) -> String {
  switch error {
  case let error as CBError: "radio \(error.code)"
  case let error as CBATTError: "peripheral \(error.code)"
  default: "other"
  }
}
