import HaloBluetoothCore

/// The fields of a packet that the stack neither sends nor acts on: they are listed in a row of a table, and their values
/// are not kept. Packets of the stack are types of their own, with a property for each field.
package struct DecodedFields: PacketFields {
  private var fields: [DecodedField] = []

  package init() {}
  package init(_ fields: [DecodedField]) { self.fields = fields }

  package mutating func visit<V: FieldVisitor & ~Escapable>(_ visitor: inout V) throws(V.Failure) {
    var numbers: [UInt64] = []
    for field in fields { numbers.append(try field.visit(&visitor, after: numbers)) }
  }
}

/// A field of ``DecodedFields``: its name, its form and how it is shown.
package struct DecodedField: Sendable {
  /// A style that depends on the fields before, which are given as numbers; 0 stands for a field that is none.
  package typealias Style = @Sendable (_ numbers: [UInt64]) -> FieldStyle

  private enum Form: Sendable {
    /// A value of this type.
    case value(any FieldValue)
    case address(BluetoothAddress.Kind)
    /// An address behind its type, which has this name.
    case typedAddress(type: StaticString)
    case bytes(count: Int)
    /// All remaining bytes.
    case rest
    /// All remaining bytes, as AD structures.
    case structures
    /// Fields that are in several packets; they have no name together.
    case fields(any PacketFields)
    /// The same, below a field with their name.
    case group(any PacketFields)
    /// Items like this one, up to the end; they have no name.
    case items(any PacketFields)
  }

  private let name: StaticString
  private let form: Form
  private var style: Style

  private init(_ name: StaticString, _ form: Form, _ style: FieldStyle) {
    self.name = name
    self.form = form
    self.style = { _ in style }
  }

  static let status = value("status", HCIErrorCode())
  static let reason = value("reason", HCIErrorCode())
  static let handle = value("connection handle", ConnectionHandle())
  static let role = value("role", LERole())
  static let enabled = flag("enabled")
  /// The address of a BR/EDR device.
  static let peer = address("peer address", .public)

  package static func value(
    _ name: StaticString, _ prototype: any FieldValue, _ style: FieldStyle = .plain
  ) -> DecodedField {
    DecodedField(name, .value(prototype), style)
  }

  static func flag(_ name: StaticString) -> DecodedField { value(name, false) }

  /// A signal strength or a power in dBm.
  static func power(_ name: StaticString) -> DecodedField { value(name, Int8(), .power) }

  package static func uint8(_ name: StaticString, _ style: FieldStyle = .plain) -> DecodedField {
    value(name, UInt8(), style)
  }

  package static func uint16(_ name: StaticString, _ style: FieldStyle = .plain) -> DecodedField {
    value(name, UInt16(), style)
  }

  static func uint32(_ name: StaticString, _ style: FieldStyle = .plain) -> DecodedField {
    value(name, UInt32(), style)
  }

  package static func bytes(
    _ name: StaticString, _ count: Int, _ style: FieldStyle = .plain
  ) -> DecodedField {
    DecodedField(name, .bytes(count: count), style)
  }

  package static func rest(_ name: StaticString, _ style: FieldStyle = .plain) -> DecodedField {
    DecodedField(name, .rest, style)
  }

  package static func structures(_ name: StaticString) -> DecodedField {
    DecodedField(name, .structures, .plain)
  }

  package static func address(_ name: StaticString, _ kind: BluetoothAddress.Kind) -> DecodedField {
    DecodedField(name, .address(kind), .plain)
  }

  package static func typedAddress(_ name: StaticString, type: StaticString) -> DecodedField {
    DecodedField(name, .typedAddress(type: type), .plain)
  }

  package static func items(_ prototype: any PacketFields) -> DecodedField {
    DecodedField("", .items(prototype), .plain)
  }

  package static func fields(_ fields: any PacketFields) -> DecodedField {
    DecodedField("", .fields(fields), .plain)
  }

  package static func group(_ name: StaticString, _ fields: any PacketFields) -> DecodedField {
    DecodedField(name, .group(fields), .plain)
  }

  /// The same field, shown as the fields before it say.
  package func styled(_ style: @escaping Style) -> DecodedField {
    var field = self
    field.style = style
    return field
  }

  /// The same field of an event whose first field is the status: it is valid only if that is success.
  var ifSuccessful: DecodedField {
    styled { [style] in $0.first == 0 ? style($0) : .words("not valid") }
  }

  /// - Parameter numbers: the fields before
  /// - Returns: the value as a number; 0 if it is none
  func visit<V: FieldVisitor & ~Escapable>(
    _ visitor: inout V, after numbers: [UInt64]
  ) throws(V.Failure) -> UInt64 {
    var (bytes, address) = ([UInt8](), BluetoothAddress.zero)
    switch form {
    case .value(let prototype): return try visit(prototype, &visitor, numbers)
    case .address(let kind):
      try visitor.address(name, &address, kind: kind, style(numbers))
    case .typedAddress(let type): try visitor.typedAddress(name, type: type, &address)
    case .bytes(let count): try visitor.bytes(name, &bytes, count: count, style(numbers))
    case .rest: try visitor.rest(name, &bytes, style(numbers))
    case .structures: try visitor.bytes(name, &bytes, count: visitor.bytesLeft ?? 0, as: ADFields.self)
    case .fields(var fields): try fields.visit(&visitor)
    case .group(let prototype): try visitGroup(prototype, &visitor)
    case .items(let prototype): try visitItems(like: prototype, &visitor)
    }
    return 0
  }

  private func visit<Value: FieldValue, V: FieldVisitor & ~Escapable>(
    _ prototype: Value, _ visitor: inout V, _ numbers: [UInt64]
  ) throws(V.Failure) -> UInt64 {
    var value = prototype
    try visitor.value(name, &value, style(numbers))
    return value.fieldNumber ?? 0
  }

  private func visitGroup<Fields: PacketFields, V: FieldVisitor & ~Escapable>(
    _ prototype: Fields, _ visitor: inout V
  ) throws(V.Failure) {
    var fields = prototype
    try visitor.group(name, number: nil, &fields)
  }

  private func visitItems<Item: PacketFields, V: FieldVisitor & ~Escapable>(
    like prototype: Item, _ visitor: inout V
  ) throws(V.Failure) {
    var items: [Item] = []
    try visitor.items(nil, &items, like: prototype)
  }
}
