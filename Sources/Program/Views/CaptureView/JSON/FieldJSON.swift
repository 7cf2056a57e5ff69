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
    guard let depth = fields.first?.depth else { return }
    output.key(key)
    output.write("[")
    // The depths of the open groups; a field that is less deep than its predecessor closes some.
    var open = depth
    for (index, field) in fields.enumerated() {
      while open > field.depth {
        output.write("]}")
        open -= 1
      }
      if index > 0, fields[index - 1].depth >= field.depth { output.write(",") }
      write(field, of: list, &output)
      if index + 1 < fields.count, fields[index + 1].depth > field.depth {
        output.write(",\"fields\":[")
        open += 1
      } else {
        output.write("}")
      }
    }
    while open > depth {
      output.write("]}")
      open -= 1
    }
    output.write("]")
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
