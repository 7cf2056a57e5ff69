import BluetoothCore

/// The commands that a controller knows: 64 bytes with a bit for each (Core Specification Vol 4, Part E, 6.27).
public struct SupportedCommands: HCICodable, Hashable {
  /// The place of a command.
  public struct Bit: Hashable, Sendable {
    public var octet: Int
    public var bit: Int

    public init(octet: Int, bit: Int) {
      self.octet = octet
      self.bit = bit
    }
  }

  public static let length = 64

  public private(set) var bytes: [UInt8]

  public init(_ bits: some Sequence<Bit> = []) {
    bytes = Array(repeating: 0, count: Self.length)
    for bit in bits { insert(bit) }
  }

  public init(parsing reader: inout ByteReader) throws(DecodeError) {
    bytes = try reader.readBytes(Self.length)
  }

  public func write(into writer: inout ByteWriter) {
    writer.write(bytes)
  }

  public func contains(_ bit: Bit) -> Bool {
    bytes.indices.contains(bit.octet) && bytes[bit.octet] >> bit.bit & 1 == 1
  }

  /// Adds a command; a place outside the 64 bytes is ignored.
  public mutating func insert(_ bit: Bit) {
    guard bytes.indices.contains(bit.octet) else { return }
    bytes[bit.octet] |= 1 << bit.bit
  }
}

extension SupportedCommands {
  /// Whether to scan with the extended commands of Bluetooth 5. The two families must not be mixed: once
  /// one has been used, the controller refuses the other (Core Specification Vol 4, Part E, 3.1.1). The Linux kernel
  /// chooses in the same way.
  var haveExtendedScan: Bool {
    contains(.leSetExtendedScanParameters) && contains(.leSetExtendedScanEnable)
  }
}

extension SupportedCommands: ExpressibleByArrayLiteral {
  public init(arrayLiteral bits: Bit...) {
    self.init(bits)
  }
}

extension SupportedCommands.Bit {
  public static let disconnect = Self(octet: 0, bit: 5)
  public static let readRemoteVersionInformation = Self(octet: 2, bit: 7)
  public static let setEventMask = Self(octet: 5, bit: 6)
  public static let reset = Self(octet: 5, bit: 7)
  public static let readLocalVersionInformation = Self(octet: 14, bit: 3)
  public static let readLocalSupportedFeatures = Self(octet: 14, bit: 5)
  public static let readBufferSize = Self(octet: 14, bit: 7)
  public static let readBDADDR = Self(octet: 15, bit: 1)
  public static let readRSSI = Self(octet: 15, bit: 5)
  public static let writeLEHostSupport = Self(octet: 24, bit: 6)
  public static let leSetEventMask = Self(octet: 25, bit: 0)
  public static let leReadBufferSize = Self(octet: 25, bit: 1)
  public static let leReadLocalSupportedFeatures = Self(octet: 25, bit: 2)
  public static let leSetRandomAddress = Self(octet: 25, bit: 4)
  public static let leSetAdvertisingParameters = Self(octet: 25, bit: 5)
  public static let leSetAdvertisingData = Self(octet: 25, bit: 7)
  public static let leSetScanResponseData = Self(octet: 26, bit: 0)
  public static let leSetAdvertisingEnable = Self(octet: 26, bit: 1)
  public static let leSetScanParameters = Self(octet: 26, bit: 2)
  public static let leSetScanEnable = Self(octet: 26, bit: 3)
  public static let leCreateConnection = Self(octet: 26, bit: 4)
  public static let leCreateConnectionCancel = Self(octet: 26, bit: 5)
  public static let leClearFilterAcceptList = Self(octet: 26, bit: 7)
  public static let leAddDeviceToFilterAcceptList = Self(octet: 27, bit: 0)
  public static let leRemoveDeviceFromFilterAcceptList = Self(octet: 27, bit: 1)
  public static let leConnectionUpdate = Self(octet: 27, bit: 2)
  public static let leReadRemoteFeatures = Self(octet: 27, bit: 5)
  public static let leRemoteConnectionParameterRequestReply = Self(octet: 33, bit: 4)
  public static let leRemoteConnectionParameterRequestNegativeReply = Self(octet: 33, bit: 5)
  public static let leSetDataLength = Self(octet: 33, bit: 6)
  public static let leWriteSuggestedDefaultDataLength = Self(octet: 34, bit: 0)
  public static let leReadMaximumDataLength = Self(octet: 35, bit: 3)
  public static let leReadPHY = Self(octet: 35, bit: 4)
  public static let leSetPHY = Self(octet: 35, bit: 6)
  public static let leSetExtendedScanParameters = Self(octet: 37, bit: 5)
  public static let leSetExtendedScanEnable = Self(octet: 37, bit: 6)
  public static let leExtendedCreateConnection = Self(octet: 37, bit: 7)
  public static let leReadBufferSizeV2 = Self(octet: 41, bit: 5)
}

extension SupportedCommands: CustomStringConvertible {
  /// How many commands there are, and the bytes.
  public var description: String {
    "\(bytes.reduce(0) { $0 + $1.nonzeroBitCount }) commands: \(Hex.string(bytes))"
  }
}
