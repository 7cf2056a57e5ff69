import HaloBluetoothCore
import HaloDissection
import HaloLineOutput

/// Fields as a JSON array. A field is an object with its name, its number if it is one, its text if that says more, and
/// the fields of a group.
///
///     [{"name":"connection handle","number":64,"text":"0x0040"},{"name":"report 1","fields":[...]}]
enum FieldJSON {
  /// Writes `,"key":[...]`; nothing if there are no fields.
  static func write(_ key: StaticString, _ list: FieldList, _ output: inout LineWriter) {
    let fields = list.entries
    guard let depth = fields.first?.depth else { return }
    output.write(",\"")
    output.write(key)
    output.write("\":[")
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
