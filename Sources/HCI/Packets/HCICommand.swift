import HaloBluetoothCore

/// A command from the host to the controller (Core Specification Vol 4, Part E, 5.4.1). Its fields are the command's
/// parameters. One declaration is sufficient to write, read, name and show the command, and for the virtual controller
/// to answer it. It also needs a line in ``HCICommandInfo/declared``.
@usableFromInline package protocol HCICommand: PacketFields {
  /// The return parameters after the status, which ``HostController`` checks.
  associatedtype Response: Sendable

  static var info: HCICommandInfo { get }
  /// The return parameters, all zero; nil if there are none after the status.
  static var returnParameters: (any PacketFields)? { get }
}

extension HCICommand {
  @usableFromInline package static var opcode: HCIOpcode { info.opcode }

  /// The complete packet with its H4 type byte: `01`, opcode, parameter length, parameters.
  package func packet(into writer: inout ByteWriter) {
    writer.removeAll()
    writer.write(HCIPacketType.command.rawValue)
    writer.write(Self.opcode.rawValue)
    writer.write(UInt8(0))
    write(into: &writer)
    writer.overwrite(at: 3, with: UInt8(truncatingIfNeeded: writer.count - 4))
  }
}

/// A command that is answered by Command Complete, with return parameters (7.7.14).
package protocol HCICompletingCommand: HCICommand where Response: PacketFields {
  associatedtype Response = NoReturnParameters
}

extension HCICompletingCommand {
  package static var returnParameters: (any PacketFields)? { Response() }
}

/// A command that is acknowledged by Command Status; its result follows as an event (7.7.15).
package protocol HCIStatusCommand: HCICommand where Response == Void {}

extension HCIStatusCommand {
  package static var returnParameters: (any PacketFields)? { nil }
}

/// A command or an answer without parameters.
package protocol HCIEmpty: PacketFields {}

extension HCIEmpty {
  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {}
}

/// Return parameters that consist of the status alone.
package struct NoReturnParameters: HCIEmpty {
  package init() {}
}

/// A command or an answer that begins with a connection handle. By default, it has no other fields.
package protocol HCILinkFields: PacketFields {
  var handle: ConnectionHandle { get set }
}

extension HCILinkFields {
  package init(handle: ConnectionHandle) {
    self.init()
    self.handle = handle
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.connectionHandle(&handle)
  }
}

/// Parameters that are, or begin with, a connection handle.
package struct LinkOnly: HCILinkFields {
  package var handle = ConnectionHandle()

  package init() {}
}

/// A command or an answer that has an on or off state.
package protocol HCISwitch: PacketFields {
  var isEnabled: Bool { get set }
}

extension HCISwitch {
  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.value("enabled", &isEnabled)
  }
}

extension FieldVisitor where Self: ~Escapable {
  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func connectionHandle(_ handle: inout ConnectionHandle) throws(Failure) {
    try value("connection handle", &handle)
  }

  @inlinable @inline(__always)
  @_lifetime(self: copy self)
  package mutating func status(_ status: inout HCIErrorCode) throws(Failure) {
    try value("status", &status)
  }
}

/// A command opcode: six bits of group, ten bits of command (Core Specification Vol 4, Part E, 5.4.1).
@usableFromInline package struct HCIOpcode: HCICode {
  @usableFromInline package var rawValue: UInt16

  @usableFromInline package init(rawValue: UInt16) { self.rawValue = rawValue }

  /// - Parameters:
  ///   - group: the opcode group field (OGF)
  ///   - command: the opcode command field (OCF)
  package init(group: UInt8, command: UInt16) {
    rawValue = UInt16(group & 0x3F) << 10 | command & 0x3FF
  }

  /// The opcode of a packet with its H4 type byte; nil if that is no command.
  package init?(ofCommand packet: RawSpan) {
    guard packet.byte(at: 0) == HCIPacketType.command.rawValue, let low = packet.byte(at: 1),
      let high = packet.byte(at: 2)
    else { return nil }
    rawValue = UInt16(high) << 8 | UInt16(low)
  }

  /// OGF, the upper 6 bits.
  package var group: UInt8 { UInt8(rawValue >> 10) }
  /// OCF, the lower 10 bits.
  package var command: UInt16 { rawValue & 0x3FF }

  /// No command: an event uses it to return command credits without answering a command (Core Specification Vol 4, Part
  /// E, 4.4).
  package static let noOperation = HCIOpcode(rawValue: 0)

  package static let leCreateCIS = HCIOpcode(rawValue: 0x2064)

  @usableFromInline package var isVendorSpecific: Bool { group == 0x3F }

  /// The command's name in the specification; nil if unknown.
  package var name: String? {
    isVendorSpecific ? "Vendor Specific" : HCICommandCatalog.standard[self]?.info.name
  }

  /// Name and number: `LE Set Scan Enable (0x200c)`.
  @usableFromInline package var description: String { TextBuffer.string { writeField(to: &$0) } }

  @usableFromInline package func writeField(to text: inout TextBuffer) {
    text.write(name: name, rawValue, unnamed: "command ")
  }
}

/// The specification of a command, except its parameters.
@usableFromInline package struct HCICommandInfo: Hashable, Sendable {
  package let opcode: HCIOpcode
  /// The name in the specification.
  package let name: String
  /// The section of the Core Specification: `Vol 4, Part E, 7.8.10`; of a withdrawn command, `no longer specified`.
  package var reference: String { section.map { "Vol 4, Part E, \($0)" } ?? "no longer specified" }
  /// The command's bit in ``SupportedCommands``; nil if none is known.
  package let bit: SupportedCommands.Bit?
  /// The events that bring its result after Command Status.
  package let results: [Result]

  /// An event that ends a command.
  @usableFromInline package enum Result: Hashable, Sendable {
    case event(HCIEventCode)
    case leEvent(LESubevent)
  }

  /// Nil if the specification no longer has the command.
  private let section: String?

  /// - Parameters:
  ///   - opcode: OGF and OCF
  ///   - name: the name in the specification
  ///   - section: in Vol 4, Part E
  ///   - octet: of ``bit``
  ///   - bit: in Supported Commands, with `octet`
  ///   - results: the events that bring its result after Command Status
  package init(
    _ opcode: UInt16, _ name: String, _ section: String, octet: Int? = nil, bit: Int = 0,
    endsWith results: [Result] = []
  ) {
    self.opcode = HCIOpcode(rawValue: opcode)
    self.name = name
    self.section = section
    self.bit = octet.map { SupportedCommands.Bit(octet: $0, bit: bit) }
    self.results = results
  }

  /// A command of older controllers.
  init(withdrawn opcode: UInt16, _ name: String, octet: Int, bit: Int) {
    self.opcode = HCIOpcode(rawValue: opcode)
    self.name = name
    section = nil
    results = []
    self.bit = SupportedCommands.Bit(octet: octet, bit: bit)
  }

  /// A command that the stack does not send, as a row of a table: it is decoded for captures of other hosts.
  struct Row {
    let info: HCICommandInfo
    /// No fields if it has no parameters, or if they are not declared.
    let parameters: DecodedFields
    /// The parameters behind the status in Command Complete.
    let returnParameters: DecodedFields

    init(
      _ opcode: UInt16, _ name: String, _ section: String, octet: Int? = nil, bit: Int = 0,
      ends events: [HCIEventCode] = [], endsWith results: [Result] = [], _ parameters: [DecodedField] = [],
      returns returnParameters: [DecodedField] = []
    ) {
      let results = events.map(Result.event) + results
      info = HCICommandInfo(opcode, name, section, octet: octet, bit: bit, endsWith: results)
      self.parameters = DecodedFields(parameters)
      self.returnParameters = DecodedFields(returnParameters)
    }

    /// A command of older controllers.
    init(withdrawn opcode: UInt16, _ name: String, octet: Int, bit: Int) {
      info = HCICommandInfo(withdrawn: opcode, name, octet: octet, bit: bit)
      (parameters, returnParameters) = (DecodedFields(), DecodedFields())
    }
  }
}

/// Looks up commands by opcode.
package struct HCICommandCatalog: Sendable {
  /// A class, as it is looked up for each packet: only its reference is copied.
  package final class Entry: Sendable {
    package let info: HCICommandInfo
    /// The parameters, all zero.
    package let parameters: any PacketFields
    /// The return parameters after the status, all zero; nil if there are none.
    package let returnParameters: (any PacketFields)?
    /// Whether the parameters begin with a connection handle.
    package let isAboutLink: Bool
    /// How many bytes behind the status of a failure are valid in Command Complete.
    package let validAfterFailure: Int

    init(_ info: HCICommandInfo, _ parameters: any PacketFields, returns: (any PacketFields)?) {
      self.info = info
      self.parameters = parameters
      returnParameters = returns
      isAboutLink = FieldOffsets(of: parameters).handle == 0
      validAfterFailure = FieldOffsets(of: returns).validBytes(behind: 0)
    }
  }

  /// All known commands.
  package static let standard = HCICommandCatalog(HCICommandInfo.declared, rows: HCICommandInfo.rows)

  private var entries: [HCIOpcode: Entry] = [:]

  package init(_ types: [any HCICommand.Type]) { self.init(types, rows: []) }

  private init(_ types: [any HCICommand.Type], rows: [HCICommandInfo.Row]) {
    for row in rows {
      entries[row.info.opcode] = Entry(row.info, row.parameters, returns: row.returnParameters)
    }
    for type in types {
      entries[type.opcode] = Entry(type.info, type.init(), returns: type.returnParameters)
    }
  }

  package subscript(_ opcode: HCIOpcode) -> Entry? { entries[opcode] }

  /// The specifications of all commands, in no order.
  package var infos: [HCICommandInfo] { entries.values.map(\.info) }

  /// The name of a command, or its number.
  package func name(of opcode: HCIOpcode) -> String {
    entries[opcode]?.info.name ?? opcode.description
  }
}

/// The commands that a controller supports: 64 bytes with a bit for each (Core Specification Vol 4, Part E, 6.27).
package struct SupportedCommands: PacketFields, Hashable, CustomStringConvertible {
  /// The bit of a command.
  package struct Bit: Hashable, Sendable {
    /// 0 to 63.
    package var octet: Int
    /// 0 to 7.
    package var bit: Int
  }

  /// In bytes.
  package static let length = 64

  package private(set) var bytes: [UInt8]

  package init() {
    bytes = Array(repeating: 0, count: Self.length)
  }

  package init(_ commands: [any HCICommand.Type]) {
    self.init()
    for command in commands { insert(command.info) }
  }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ fields: inout V) throws(V.Failure) {
    try fields.bytes("supported commands", &bytes, count: Self.length, .bits(Self.bits))
  }

  package func contains(_ command: (some HCICommand).Type) -> Bool {
    command.info.bit.map(contains) ?? false
  }

  package func contains(_ bit: Bit) -> Bool {
    bytes.indices.contains(bit.octet) && bytes[bit.octet] >> bit.bit & 1 == 1
  }

  /// Adds a command; a command without a bit is ignored.
  package mutating func insert(_ command: HCICommandInfo) {
    guard let bit = command.bit, bytes.indices.contains(bit.octet) else { return }
    bytes[bit.octet] |= 1 << bit.bit
  }

  /// Whether to scan with the extended commands of Bluetooth 5. The two families must not be mixed: once one has been
  /// used, the controller rejects the other (Core Specification Vol 4, Part E, 3.1.1). The Linux kernel applies the
  /// same rule.
  package var haveExtendedScan: Bool {
    contains(LESetExtendedScanParameters.self) && contains(LESetExtendedScanEnable.self)
  }

  /// The number of commands, and the bytes.
  package var description: String {
    "\(bytes.reduce(0) { $0 + $1.nonzeroBitCount }) commands: \(Hex.string(bytes))"
  }
}
