import BluetoothCore

/// The commands that a controller supports: 64 bytes with a bit for each (Core Specification Vol 4, Part E, 6.27).
public struct SupportedCommands: PacketFields, Hashable {
  /// The bit of a command.
  public struct Bit: Hashable, Sendable {
    /// 0 to 63.
    public var octet: Int
    /// 0 to 7.
    public var bit: Int

    public init(octet: Int, bit: Int) {
      self.octet = octet
      self.bit = bit
    }
  }

  /// In bytes.
  public static let length = 64

  public private(set) var bytes: [UInt8]

  public init() {
    bytes = Array(repeating: 0, count: Self.length)
  }

  public init(_ commands: [any HCICommand.Type]) {
    self.init()
    for command in commands { insert(command.info) }
  }

  public mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.bytes("supported commands", &bytes, count: Self.length)
  }

  public func contains(_ command: (some HCICommand).Type) -> Bool {
    command.info.bit.map(contains) ?? false
  }

  public func contains(_ bit: Bit) -> Bool {
    bytes.indices.contains(bit.octet) && bytes[bit.octet] >> bit.bit & 1 == 1
  }

  /// Adds a command; a command without a bit is ignored.
  public mutating func insert(_ command: HCICommandInfo) {
    guard let bit = command.bit, bytes.indices.contains(bit.octet) else { return }
    bytes[bit.octet] |= 1 << bit.bit
  }
}

extension SupportedCommands {
  /// Whether to scan with the extended commands of Bluetooth 5. The two families must not be mixed: once one has been
  /// used, the controller rejects the other (Core Specification Vol 4, Part E, 3.1.1). The Linux kernel applies the
  /// same rule.
  var haveExtendedScan: Bool {
    contains(LESetExtendedScanParameters.self) && contains(LESetExtendedScanEnable.self)
  }
}

extension SupportedCommands: CustomStringConvertible {
  /// The number of commands, and the bytes.
  public var description: String {
    "\(bytes.reduce(0) { $0 + $1.nonzeroBitCount }) commands: \(Hex.string(bytes))"
  }
}
