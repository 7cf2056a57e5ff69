import HaloBluetoothCore
import HaloDissection
import HaloCommandLine

/// Fields as a JSON array. A field is an object with its name, its number if it is one, its text if that says more, and
/// the fields of a group.
///
///     [{"name":"connection handle","number":64,"text":"0x0040"},{"name":"report 1","fields":[...]}]
enum FieldJSON {
  /// Writes a member; nothing if there are no fields.
  static func write(_ key: StaticString, _ list: FieldList, _ output: inout LineWriter) {
    let fields = list.entries
    guard let first = fields.first else { return }
    output.key(key)
    output.write("[")
    // The depths of the open groups; a field that is less deep than its predecessor closes some.
    var (open, last) = (first.depth, first.depth)
    for (index, field) in fields.enumerated() {
      if index > 0 {
        if field.depth > last { open += 1 }
        output.write(field.depth > last ? ",\"fields\":[" : "}")
        close(&open, to: field.depth, &output)
        if field.depth <= last { output.write(",") }
      }
      write(field, of: list, &output)
      last = field.depth
    }
    output.write("}")
    close(&open, to: first.depth, &output)
    output.write("]")
  }

  private static func close(_ open: inout Int, to depth: Int, _ output: inout LineWriter) {
    while open > depth {
      output.write("]}")
      open -= 1
    }
  }

  /// Without the closing brace.
  private static func write(_ field: FieldList.Entry, of list: FieldList, _ output: inout LineWriter) {
    output.write("{\"name\":")
    output.writeQuoted(list.bytes(field.name))
    if let number = field.number {
      output.write(",\"number\":")
      let start = output.text.count
      output.write(number)
      // Text that only repeats the number is left out.
      if output.text.span.extracting(start..<output.text.count).elementsEqual(list.bytes(field.value)) {
        return
      }
    }
    if field.value.isEmpty { return }
    output.write(",\"text\":")
    output.writeQuoted(list.bytes(field.value))
  }
}

/// Members of objects. One that is nil is left out.
extension LineWriter {
  /// Writes `,"key":`, without the comma at the beginning of an object.
  mutating func key(_ key: StaticString) {
    beginKey()
    write(key)
    write("\":")
  }

  @_disfavoredOverload
  mutating func key(_ key: String) {
    beginKey()
    write(key)
    write("\":")
  }

  private mutating func beginKey() {
    let isFirst = text.span.byte(at: text.count - 1) == UInt8(ascii: "{")
    write(isFirst ? "\"" : ",\"")
  }

  /// Writes a value, or `null`.
  mutating func orNull<Value>(_ value: Value?, _ body: (inout LineWriter, Value) -> Void) {
    if let value { body(&self, value) } else { write("null") }
  }

  mutating func object(_ key: StaticString, _ body: (inout LineWriter) -> Void) {
    self.key(key)
    write("{")
    body(&self)
    write("}")
  }

  mutating func array<Item>(_ items: some Sequence<Item>, _ body: (inout LineWriter, Item) -> Void) {
    write("[")
    for (index, item) in items.enumerated() {
      if index > 0 { write(",") }
      body(&self, item)
    }
    write("]")
  }

  mutating func member(_ key: StaticString, _ value: (some BinaryInteger)?) {
    guard let value else { return }
    self.key(key)
    write(Int(truncatingIfNeeded: value))
  }

  mutating func member(_ key: StaticString, _ value: Bool) {
    self.key(key)
    write(value ? "true" : "false")
  }

  mutating func member(_ key: StaticString, _ value: String?) {
    guard let value else { return }
    self.key(key)
    writeQuoted(value)
  }

  /// Text that needs no escapes.
  mutating func member(_ key: StaticString, _ value: (some TextWritable)?) {
    guard let value else { return }
    self.key(key)
    write("\"")
    write(value)
    write("\"")
  }

  /// Bytes in hexadecimal digits, as far as they are there.
  mutating func member(_ key: StaticString, _ source: [UInt8], _ range: Range<Int>) {
    self.key(key)
    writeQuotedHex(source.span.bytes.extracting(range.clamped(to: 0..<source.count)))
  }

  mutating func writeQuotedHex(_ bytes: RawSpan) {
    write("\"")
    writeHex(bytes)
    write("\"")
  }

  /// An earlier packet.
  mutating func member(_ key: StaticString, _ value: PacketReference?) {
    guard let value else { return }
    object(key) {
      $0.member("frame", value.number)
      guard let microseconds = value.microseconds else { return }
      $0.key("seconds")
      PacketText.write(seconds: microseconds, into: &$0)
    }
  }
}
