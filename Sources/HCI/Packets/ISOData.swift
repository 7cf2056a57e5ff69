import HaloBluetoothCore

/// The header before isochronous data, and the one of its load (Core Specification Vol 4, Part E, 5.4.5).
public struct ISODataHeader: PacketFields {
  public var flags = Flags()
  /// The length of what follows, in bytes.
  public var length = Length()
  /// In microseconds; only with ``Flags/hasTime``.
  public var timeStamp: UInt32 = 0
  /// The number of the SDU; only at its beginning.
  public var sequenceNumber: UInt16 = 0
  public var unit = Unit()

  /// With the headers, in bytes.
  public static let length = 4

  public init() {}

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("connection handle and flags", &flags)
    try fields.value("data length", &length, .unit("bytes"))
    guard flags.beginsUnit else { return }
    if flags.hasTime { try fields.value("time stamp", &timeStamp, .unit("us")) }
    try fields.value("sequence number", &sequenceNumber)
    try fields.value("SDU length and status", &unit)
  }

  /// The connection handle, where the data is in its SDU, and whether a time stamp follows.
  public struct Flags: HCICode {
    public var rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public var handle: ConnectionHandle { ConnectionHandle(rawValue: rawValue) }
    /// 0 first, 1 continuing, 2 complete, 3 last.
    public var boundary: UInt8 { UInt8(rawValue >> 12 & 3) }
    public var hasTime: Bool { rawValue >> 14 & 1 == 1 }
    /// Whether the header of an SDU follows.
    public var beginsUnit: Bool { boundary == 0 || boundary == 2 }

    public var description: String {
      let place = ["first", "continuing", "complete", "last"][Int(boundary)]
      return "\(handle), \(place) fragment, " + (hasTime ? "with time stamp" : "without time stamp")
    }
  }

  /// Fourteen bits.
  public struct Length: HCICode {
    public var rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    public var bytes: UInt16 { rawValue & 0x3FFF }
    public var description: String { "\(bytes)" }
  }

  /// The length of the SDU, and whether it is valid.
  public struct Unit: HCICode {
    public var rawValue: UInt16

    public init(rawValue: UInt16) { self.rawValue = rawValue }

    /// In bytes.
    public var length: UInt16 { rawValue & 0x0FFF }

    public var description: String {
      let status = ["valid", "possibly invalid", "lost", "reserved"][Int(rawValue >> 14)]
      return "\(length) bytes, \(status)"
    }
  }
}
