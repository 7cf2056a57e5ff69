import HaloBluetoothCore

/// The header before isochronous data, and the one of its load (Core Specification Vol 4, Part E, 5.4.5).
package struct ISODataHeader: PacketFields {
  package var flags = Flags()
  /// The length of the rest, in bytes.
  package var length = Length()
  /// In microseconds; only with ``Flags/hasTime``.
  package var timeStamp: UInt32 = 0
  /// The number of the SDU; only at its beginning.
  package var sequenceNumber: UInt16 = 0
  package var unit = Unit()

  package init() {}

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("connection handle and flags", &flags)
    try fields.value("data length", &length, .unit("bytes"))
    guard flags.beginsUnit else { return }
    if flags.hasTime { try fields.value("time stamp", &timeStamp, .unit("us")) }
    try fields.value("sequence number", &sequenceNumber)
    try fields.value("SDU length and status", &unit)
  }

  /// The connection handle, where the data is in its SDU, and whether a time stamp follows.
  package struct Flags: HCICode {
    package var rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package var handle: ConnectionHandle { ConnectionHandle(rawValue: rawValue) }
    /// 0 first, 1 continuing, 2 complete, 3 last.
    package var boundary: UInt8 { UInt8(rawValue >> 12 & 3) }
    package var hasTime: Bool { rawValue >> 14 & 1 == 1 }
    /// Whether the header of an SDU follows.
    package var beginsUnit: Bool { boundary == 0 || boundary == 2 }

    package var description: String {
      let place = ["first", "continuing", "complete", "last"][Int(boundary)]
      return "\(handle), \(place) fragment, " + (hasTime ? "with time stamp" : "without time stamp")
    }
  }

  /// Fourteen bits.
  package struct Length: HCICode {
    package var rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package var description: String { "\(rawValue & 0x3FFF)" }
  }

  /// The length of the SDU, and whether it is valid.
  package struct Unit: HCICode {
    package var rawValue: UInt16

    package init(rawValue: UInt16) { self.rawValue = rawValue }

    package var description: String {
      let status = ["valid", "possibly invalid", "lost", "reserved"][Int(rawValue >> 14)]
      return "\(rawValue & 0x0FFF) bytes, \(status)"
    }
  }
}
