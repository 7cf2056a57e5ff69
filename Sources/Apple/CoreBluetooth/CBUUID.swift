@_exported import Foundation
internal import HaloGATT
internal import HaloRaw

/// A UUID of 16, 32 or 128 bits. The short forms equal the 128-bit form with the Bluetooth Base UUID.
open class CBUUID: NSObject, NSCopying, @unchecked Sendable {
  let value: BluetoothUUID

  init(_ value: BluetoothUUID) {
    self.value = value
    super.init()
  }

  /// A new random UUID.
  public override convenience init() {
    self.init(nsuuid: UUID())
  }

  /// Takes 4, 8 or 36 characters: `180D`, `0000180D` or a UUID with hyphens. Other text is a programming error.
  public init(string theString: String) {
    guard [4, 8, 36].contains(theString.count), let value = BluetoothUUID(theString) else {
      preconditionFailure("CBUUID: \"\(theString)\" is not a UUID of 4, 8 or 36 characters")
    }
    self.value = value
    super.init()
  }

  /// Takes 2, 4 or 16 bytes, most significant first. Another count is a programming error.
  public init(data theData: Data) {
    switch theData.count {
    case 2: value = BluetoothUUID(theData.reduce(UInt16(0)) { $0 << 8 | UInt16($1) })
    case 4: value = BluetoothUUID(theData.reduce(UInt32(0)) { $0 << 8 | UInt32($1) })
    case 16: value = BluetoothUUID(theData.reduce(UInt128(0)) { $0 << 8 | UInt128($1) })
    default: preconditionFailure("CBUUID: a UUID has 2, 4 or 16 bytes, not \(theData.count)")
    }
    super.init()
  }

  public init(nsuuid theUUID: UUID) {
    value = withUnsafeBytes(of: theUUID.uuid) { bytes in
      BluetoothUUID(bytes.reduce(UInt128(0)) { $0 << 8 | UInt128($1) })
    }
    super.init()
  }

  /// The shortest form, most significant byte first: 2, 4 or 16 bytes.
  open var data: Data {
    let (digits, count) =
      if let short = value.short {
        (UInt128(short), 2)
      } else if let shorter = value.shorter {
        (UInt128(shorter), 4)
      } else {
        (value.value, 16)
      }
    return Data((0..<count).map { UInt8(truncatingIfNeeded: digits >> UInt128(8 * (count - 1 - $0))) })
  }

  /// The shortest form, in upper case: `180D`, or 36 characters.
  open var uuidString: String { "\(value)" }

  /// The assigned name, such as `Heart Rate`; without one, the digits.
  open override var description: String { GATTUUID.name(of: value) ?? uuidString }

  open override func isEqual(_ object: Any?) -> Bool { (object as? CBUUID)?.value == value }

  open override var hash: Int { value.hashValue }

  open func copy(with zone: NSZone? = nil) -> Any { self }
}
