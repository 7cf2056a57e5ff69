import HaloBluetoothCore

extension PacketFields {
  /// - Throws: also if bytes are left over
  init(whole payload: [UInt8]) throws(DecodeError) {
    var reader = ByteReader(payload.span.bytes)
    try self.init(parsing: &reader)
    try reader.expectEnd()
  }

  /// The fields in order, each with its name and its form (an unsigned 16-bit number is `u16 LE`), for the reference page.
  package static var form: String {
    var (form, fields) = (PayloadForm(), Self())
    fields.visit(&form)
    return form.parts.joined(separator: ", ")
  }

  /// The values of all fields.
  package var explained: [BulkValue] {
    var (explanation, fields) = (BulkExplanation(), self)
    fields.visit(&explanation)
    return explanation.values
  }
}

extension FieldVisitor where Self: ~Escapable {
  /// The number of bytes that follow, and in them other fields. The bytes are kept as they are, also if they do not have these
  /// fields.
  ///
  /// - Parameter countsItself: whether the byte of the number is counted, too
  @_lifetime(self: copy self)
  mutating func block<Fields: PacketFields>(
    _ bytes: inout [UInt8], as fields: Fields.Type, countsItself: Bool = false
  ) throws(Failure) {
    let own: UInt8 = countsItself ? 1 : 0
    var length = UInt8(clamping: bytes.count + Int(own))
    try value(
      "length", &length, .described("the number of bytes \(countsItself ? "from here on" : "that follow")"))
    try check(length >= own, "length can't be 0")
    try self.bytes("block", &bytes, count: Int(length) - Int(own), as: fields)
  }
}

/// A value that has its key with it.
protocol KeyedValue: FieldValue {
  /// The name of the key.
  var name: String { get }
}

/// A visitor of the fields of a payload that only describes them.
private protocol PayloadVisitor: FieldVisitor where Failure == Never {}

/// No payload has these.
extension PayloadVisitor {
  mutating func bytes(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, _ style: @autoclosure () -> FieldStyle
  ) {}
  mutating func address(
    _ name: StaticString, _ address: inout BluetoothAddress, kind: BluetoothAddress.Kind,
    _ style: @autoclosure () -> FieldStyle
  ) {}
  mutating func check(_ isValid: Bool, _ problem: @autoclosure () -> String) {}
}

/// Describes the fields of a payload for the reference page.
private struct PayloadForm: PayloadVisitor {
  private(set) var parts: [String] = []

  private mutating func add(
    _ name: StaticString, _ value: some FieldValue, _ style: FieldStyle, _ extent: String = ""
  ) {
    if case .described(let words) = style { return parts.append(words) }
    let details = (value.width > 1 ? ["u\(value.width * 8) LE"] : []) + style.details
    parts.append("`\(name)`\(extent)" + (details.isEmpty ? "" : " (\(details.joined(separator: ", ")))"))
  }

  mutating func value<Value: FieldValue>(
    _ name: StaticString, _ value: inout Value, _ style: @autoclosure () -> FieldStyle
  ) {
    add(name, value, style())
  }

  mutating func values<Value: FieldValue>(
    _ name: StaticString, _ values: inout [Value], like prototype: Value, count: Int?,
    _ style: @autoclosure () -> FieldStyle
  ) {
    add(name, prototype, style(), " up to the end")
  }

  mutating func rest(_ name: StaticString, _ bytes: inout [UInt8], _ style: @autoclosure () -> FieldStyle) {
    parts.append("`\(name)` up to the end")
  }

  mutating func bytes<Fields: PacketFields>(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, as: Fields.Type
  ) {
    parts.append(Fields.form)
  }

  /// A fixed number of groups is described once.
  mutating func group<Fields: PacketFields>(_ name: StaticString, number: Int?, _ fields: inout Fields) {
    let number = number ?? 1
    if number > 1 { parts.removeLast() }
    parts.append((number > 1 ? "\(number) " : "") + "`\(name)`, each: \(Fields.form)")
  }

  mutating func items<Item: PacketFields>(
    _ name: StaticString, _ items: inout [Item], counted count: StaticString?, unread: inout [UInt8]
  ) {
    parts.append(
      (count == nil ? "`\(name)` up to the end" : "their number, `\(name)`") + ", each: \(Item.form)")
  }

  mutating func items<Item: PacketFields>(
    _ name: StaticString?, _ items: inout [Item], like prototype: Item
  ) {
    var none: [UInt8] = []
    self.items(name ?? "", &items, counted: nil, unread: &none)
  }
}

extension FieldValue {
  /// In bytes.
  fileprivate var width: Int {
    var writer = ByteWriter()
    write(into: &writer)
    return writer.count
  }
}

extension FieldStyle {
  /// The unit, the remark and the names.
  fileprivate var details: [String] {
    switch self {
    case .unit(let unit): ["\(unit)"]
    case .names(let names): names.sorted { $0.key < $1.key }.map { "\($0.key) \($0.value)" }
    case .noted(let style, let remark): style.details + [remark]
    default: []
    }
  }

  /// A value, as tools show it.
  fileprivate func text(of value: some FieldValue) -> String {
    switch self {
    case .unit(let unit): return "\(value.fieldText) \(unit)"
    case .names(let names):
      guard let number = value.fieldNumber, let name = names[number] else { return value.fieldText }
      return "\(name) (\(number))"
    case .noted(let style, _): return style.text(of: value)
    default: return value.fieldText
    }
  }
}

/// Collects the values of a record while its fields are visited in the order of the payload.
private struct BulkExplanation: PayloadVisitor {
  private(set) var values: [BulkValue] = []
  private var offset = 0

  private mutating func add(_ name: String, _ text: String, bytes count: Int) {
    values.append(BulkValue(name: name, text: text, range: offset..<offset + count, depth: 0))
    offset += count
  }

  mutating func value<Value: FieldValue>(
    _ name: StaticString, _ value: inout Value, _ style: @autoclosure () -> FieldStyle
  ) {
    add("\(name)", style().text(of: value), bytes: value.width)
  }

  /// Numbers in a row are one value; those with a key have a line each.
  mutating func values<Value: FieldValue>(
    _ name: StaticString, _ values: inout [Value], like prototype: Value, count: Int?,
    _ style: @autoclosure () -> FieldStyle
  ) {
    if let numbers = values as? [any KeyedValue] {
      for number in numbers { add(number.name, number.fieldText, bytes: number.width) }
    } else {
      add(
        "\(name)", values.map(\.fieldText).joined(separator: " "),
        bytes: values.reduce(0) { $0 + $1.width })
    }
  }

  mutating func rest(_ name: StaticString, _ bytes: inout [UInt8], _ style: @autoclosure () -> FieldStyle) {
    add("\(name)", Hex.string(bytes, separator: " "), bytes: bytes.count)
  }

  mutating func bytes<Fields: PacketFields>(
    _ name: StaticString, _ bytes: inout [UInt8], count: Int, as: Fields.Type
  ) {
    guard var fields = try? Fields(whole: bytes) else {
      return bytes.isEmpty ? () : rest("unread", &bytes, .plain)
    }
    fields.visit(&self)
  }

  /// A group of few numbers is one value, another one has its fields below it.
  mutating func group<Fields: PacketFields>(_ name: StaticString, number: Int?, _ fields: inout Fields) {
    var part = BulkExplanation()
    fields.visit(&part)
    let name = number.map { "\(name) \($0)" } ?? "\(name)"
    guard part.values.count > 3 || part.values.contains(where: { $0.depth > 0 }) else {
      let text = part.values.map { "\($0.name) \($0.text)" }.joined(separator: ", ")
      return add(name, text, bytes: part.offset)
    }
    let start = offset
    add(name, "", bytes: part.offset)
    values += part.values.map {
      BulkValue(
        name: $0.name, text: $0.text, range: start + $0.range.lowerBound..<start + $0.range.upperBound,
        depth: 1 + $0.depth)
    }
  }

  mutating func items<Item: PacketFields>(
    _ name: StaticString?, _ items: inout [Item], like prototype: Item
  ) {
    for index in items.indices { group(name ?? "", number: index + 1, &items[index]) }
  }
}
