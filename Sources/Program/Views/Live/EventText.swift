import HaloStorage

/// A message of a stream of server-sent events: its name, and one line of JSON. Numbers are written without text in between.
package struct EventText {
  package private(set) var bytes: [UInt8] = []
  /// Whether the next member needs no comma.
  private var isFirst = true

  /// In units of the last digit: a number beyond this is none.
  private static let largest = 1e15

  /// - Parameter name: that of the message
  package init(_ name: StaticString) {
    write("event: ")
    write(name)
    write("\ndata: {")
  }

  /// An object without a message around it.
  package init() { write("{") }

  /// The message; nothing is written after it.
  package mutating func finished() -> [UInt8] {
    write("}\n\n")
    return bytes
  }

  // MARK: Members

  package mutating func add(_ name: StaticString, _ text: String?) {
    begin(name)
    write(text.map { JSONValue.quoted($0) } ?? "null")
  }

  package mutating func add(_ name: StaticString, _ number: Int?) {
    begin(name)
    write(number.map { String($0) } ?? "null")
  }

  package mutating func add(_ name: StaticString, _ flag: Bool?) {
    begin(name)
    write(flag.map { $0 ? "true" : "false" } ?? "null")
  }

  /// - Parameter places: digits behind the point
  package mutating func add(_ name: StaticString, _ number: Double?, places: Int) {
    begin(name)
    write(number, places: places)
  }

  package mutating func add<Value>(
    _ name: StaticString, _ values: some Sequence<Value>, _ write: (inout EventText, Value) -> Void
  ) {
    begin(name)
    self.write("[")
    var isFirst = true
    for value in values {
      if !isFirst { self.write(",") }
      isFirst = false
      write(&self, value)
    }
    self.write("]")
  }

  package mutating func add(_ name: StaticString, object: (inout EventText) -> Void) {
    begin(name)
    add(object: object)
  }

  /// An element of an array, or the value of a member that was begun.
  package mutating func add(object: (inout EventText) -> Void) {
    write("{")
    let wasFirst = isFirst
    isFirst = true
    object(&self)
    isFirst = wasFirst
    write("}")
  }

  private mutating func begin(_ name: StaticString) {
    write(isFirst ? "\"" : ",\"")
    isFirst = false
    write(name)
    write("\":")
  }

  // MARK: Values

  package mutating func write(_ text: StaticString) {
    text.withUTF8Buffer { bytes += $0 }
  }

  private mutating func write(_ text: String) { bytes += text.utf8 }

  /// Writes a number without zeros at its end: `12.5`; `null` for none.
  package mutating func write(_ number: Double?, places: Int) {
    let scale = (0..<places).reduce(1.0) { scale, _ in scale * 10 }
    guard let number, number.isFinite, (number * scale).magnitude < Self.largest else { return write("null") }
    var value = Int((number * scale).rounded())
    if value < 0 {
      write("-")
      value = -value
    }
    var places = places
    while places > 0, value % 10 == 0 {
      value /= 10
      places -= 1
    }
    // The last digit first.
    let start = bytes.count
    var written = 0
    while value > 0 || written <= places {
      if written == places, places > 0 { bytes.append(UInt8(ascii: ".")) }
      bytes.append(UInt8(ascii: "0") + UInt8(value % 10))
      value /= 10
      written += 1
    }
    bytes[start...].reverse()
  }
}
