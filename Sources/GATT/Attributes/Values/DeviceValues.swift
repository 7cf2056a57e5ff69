import HaloBluetoothCore

/// The external appearance of a device: a category and a subcategory (Core Specification Vol 3, Part C, 12.2; Assigned Numbers,
/// 2.6).
public struct AppearanceValue: RawRepresentable, Hashable, Sendable, FixedValue {
  /// The number in Assigned Numbers, such as 0x00C0 for a watch; 0 if unknown.
  public var rawValue: UInt16

  public init(rawValue: UInt16) {
    self.rawValue = rawValue
  }

  /// The name in Assigned Numbers; nil if it has none.
  public var name: String? { AssignedNumbers.appearance(rawValue) }

  init(reading reader: inout ByteReader) throws(DecodeError) {
    self.init(rawValue: try reader.readUInt16())
  }

  public var encoded: [UInt8] {
    var writer = ByteWriter(capacity: 2)
    writer.write(rawValue)
    return writer.bytes
  }
}

/// Who has made a device, and which it is (GATT Specification Supplement, PnP ID).
public struct PnPID: Hashable, Sendable, FixedValue {
  /// The list that the vendor's number is from.
  public struct Source: RawRepresentable, Hashable, Sendable {
    public var rawValue: UInt8

    public init(rawValue: UInt8) {
      self.rawValue = rawValue
    }

    /// The company identifiers of the Bluetooth SIG.
    public static let bluetooth = Source(rawValue: 1)
    /// The vendor numbers of the USB Implementers Forum.
    public static let usb = Source(rawValue: 2)
  }

  /// The list that ``vendor`` is from.
  public var source: Source
  /// The number of the vendor.
  public var vendor: UInt16
  /// The vendor's number of the product.
  public var product: UInt16
  /// The vendor's number of the version: 0x0213 for 2.1.3.
  public var version: UInt16

  /// - Parameters:
  ///   - source: the list that `vendor` is from
  ///   - vendor: its number there
  ///   - product: the vendor's number of it
  ///   - version: 0x0213 for 2.1.3
  public init(source: Source, vendor: UInt16, product: UInt16, version: UInt16) {
    self.source = source
    self.vendor = vendor
    self.product = product
    self.version = version
  }

  init(reading reader: inout ByteReader) throws(DecodeError) {
    self.init(
      source: Source(rawValue: try reader.readUInt8()), vendor: try reader.readUInt16(),
      product: try reader.readUInt16(), version: try reader.readUInt16())
  }

  public var encoded: [UInt8] {
    var writer = ByteWriter(capacity: 7)
    writer.write(source.rawValue)
    for number in [vendor, product, version] { writer.write(number) }
    return writer.bytes
  }
}

/// The connection that a device prefers (Core Specification Vol 3, Part C, 12.3). The numbers are those on the wire, of
/// which 0xFFFF stands for no preference.
public struct PreferredConnectionParameters: Hashable, Sendable, FixedValue {
  /// The shortest interval, in units of 1.25 ms: 6 to 3200; nil for any.
  public var shortestInterval: UInt16?
  /// The longest interval, in units of 1.25 ms: 6 to 3200; nil for any.
  public var longestInterval: UInt16?
  /// How many connection events in a row the device may leave out: 0 to 499.
  public var latency: UInt16
  /// The supervision timeout, in units of 10 ms: 10 to 3200; nil for any.
  public var timeout: UInt16?

  /// - Parameters:
  ///   - shortestInterval: in units of 1.25 ms
  ///   - longestInterval: in units of 1.25 ms
  ///   - latency: in connection events
  ///   - timeout: in units of 10 ms
  public init(shortestInterval: UInt16?, longestInterval: UInt16?, latency: UInt16, timeout: UInt16?) {
    self.shortestInterval = shortestInterval
    self.longestInterval = longestInterval
    self.latency = latency
    self.timeout = timeout
  }

  /// No preference: those that the central chooses.
  package static let any = PreferredConnectionParameters(
    shortestInterval: nil, longestInterval: nil, latency: 0, timeout: nil)

  private static let noPreference = UInt16.max

  /// Numbers outside of their ranges are taken as they are, as many devices have some.
  init(reading reader: inout ByteReader) throws(DecodeError) {
    func preference(_ number: UInt16) -> UInt16? { number == Self.noPreference ? nil : number }
    self.init(
      shortestInterval: preference(try reader.readUInt16()),
      longestInterval: preference(try reader.readUInt16()), latency: try reader.readUInt16(),
      timeout: preference(try reader.readUInt16()))
  }

  public var encoded: [UInt8] {
    var writer = ByteWriter(capacity: 8)
    for number in [
      shortestInterval ?? Self.noPreference, longestInterval ?? Self.noPreference, latency,
      timeout ?? Self.noPreference,
    ] {
      writer.write(number)
    }
    return writer.bytes
  }
}
