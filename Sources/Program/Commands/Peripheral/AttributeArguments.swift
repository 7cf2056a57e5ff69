import ATT
import HaloBluetoothCore
import HaloCommandLine

extension ArgumentType where Value == BluetoothUUID {
  static var uuid: Self {
    ArgumentType(
      placeholder: "UUID",
      expected: "a UUID of 4, 8 or 32 digits such as 180A or 6E40FFF0-B5A3-F393-E0A9-E50E24DCCA9E"
    ) { BluetoothUUID($0) }
  }
}

extension ArgumentType where Value == AttributeHandle {
  /// An attribute handle, decimal or hexadecimal (`0x0012`).
  static var handle: Self {
    ArgumentType(placeholder: "H", expected: "a handle from 1 to 65535 (0xffff)") { text in
      let number =
        text.lowercased().hasPrefix("0x") ? UInt16(text.dropFirst(2), radix: 16) : UInt16(text)
      return number.flatMap { $0 > 0 ? AttributeHandle($0) : nil }
    }
  }
}
